#!/usr/bin/env bash
# Checks the packages that mvn -Pdist made.
# Usage: check.sh content           what is in them, in a second; the build does it
#        check.sh install [SUITE]   installs them in a fresh Debian root folder (default trixie), runs the main job there as
#                                   a user who is not root, and removes them again: about 2 min, as root, needs mmdebstrap
#                                   and a Debian mirror
# Environment: MIRROR, a Debian mirror instead of mmdebstrap's own
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
say() { printf '%s\n' "$*"; }
die() { printf 'check.sh: %s\n' "$*" >&2; exit 1; }

one() {
  local found
  mapfile -t found < <(find "$here/target" -maxdepth 1 -name "$1" 2>/dev/null)
  ((${#found[@]} == 1)) || die "expected one $1 in $here/target, found ${#found[@]}: run mvn -Pdist clean package"
  printf '%s' "${found[0]}"
}
deb=$(one 'pqcbench_*_all.deb')
tar=$(one 'pqcbench-*-linux.tar.gz')

scratch=$(mktemp -d)
root=$scratch/root
cleanup() {
  local status=$?
  ! mountpoint -q "$root/proc" || umount "$root/proc"
  rm -rf --one-file-system "$scratch"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

unpack() {
  mkdir "$scratch/tar" "$scratch/deb"
  tar -xzf "$tar" -C "$scratch/tar" --strip-components=1
  dpkg-deb -x "$deb" "$scratch/deb"
}

content() {
  unpack
  local file page link missing='' name
  # What both have, and where each has it.
  cmp "$scratch/tar/lib/loadgen.jar" "$scratch/deb/usr/share/pqcbench/lib/loadgen.jar"
  cmp "$scratch/tar/lib/loadgen-report.jar" "$scratch/deb/usr/share/pqcbench/lib/loadgen-report.jar"
  for name in loadgen loadgen-report; do
    cmp "$scratch/tar/bin/$name" "$scratch/deb/usr/share/pqcbench/bin/$name"
    [[ -x $scratch/tar/bin/$name && -x $scratch/deb/usr/bin/$name ]] || die "not executable: $name"
    for file in "$scratch/tar" "$scratch/deb/usr"; do
      bash -n "$file/share/bash-completion/completions/$name"
      gzip -t "$file/share/man/man1/$name.1.gz"
    done
  done
  for file in README.md THIRD-PARTY.txt sbom.cdx.json samples/quick.yaml terraform/main.tf terraform/machine/user-data.yaml.tftpl licenses/bouncycastle/LICENSE.txt; do
    [[ -s $scratch/tar/$file && -s $scratch/deb/usr/share/doc/pqcbench/$file ]] || die "missing: $file"
  done
  [[ -x $scratch/tar/terraform/render.sh ]] || die "not executable: terraform/render.sh"
  file=$(find "$scratch/tar/terraform" -name '.terraform*' -o -name '*.tfstate*' -o -name '*.tfvars*')
  [[ -z $file ]] || die "the package has what is of somebody's account: $file"
  [[ -s $scratch/deb/usr/share/doc/pqcbench/copyright ]] || die "missing: copyright"
  # The native code of both processors, and of no other system.
  file=$(unzip -Z1 "$scratch/tar/lib/loadgen.jar" 'META-INF/native/*' | grep -v '/$' | sort | tr '\n' ' ')
  for name in netty_tcnative netty_transport_native_epoll netty_quiche42; do
    for page in x86_64 aarch_64; do
      [[ $file == *"lib${name}"*"_$page.so"* ]] || die "loadgen.jar has no $name for $page: $file"
    done
  done
  name=$(unzip -Z1 "$scratch/tar/lib/loadgen.jar" 'com/sun/jna/*' | grep -E '\.(so|a|dll|jnilib)$' | sort | tr '\n' ' ')
  [[ $name == 'com/sun/jna/linux-aarch64/libjnidispatch.so com/sun/jna/linux-x86-64/libjnidispatch.so ' ]] ||
    die "loadgen.jar has other files of JNA than those of both processors: $name"
  [[ ! $file =~ (jnilib|dll|osx|windows) ]] || die "loadgen.jar has native code of other systems: $file"
  ! grep -qE 'osx|windows' "$scratch/tar/sbom.cdx.json" || die "the SBOM names what is not in the package"
  # Every library of the SBOM has a licence and stands in the list.
  for name in netty-handler netty-tcnative netty-codec-native-quic picocli HdrHistogram jackson-databind bcprov-jdk18on jna uplot slf4j-simple; do
    grep -q "\"$name\"" "$scratch/tar/sbom.cdx.json" || die "not in the SBOM: $name"
    grep -q ":$name:" "$scratch/tar/THIRD-PARTY.txt" || die "not in THIRD-PARTY.txt: $name"
  done
  # Man pages say what --help says.
  for name in --rate --groups --target; do
    gzip -dc "$scratch/tar/share/man/man1/loadgen.1.gz" | grep -qF -- "${name//-/\\-}" || die "loadgen(1) has no $name"
  done
  # Links of the pages that a reader starts with.
  for page in README.md analysis/README.md deploy/package/README.md; do
    while read -r link; do
      [[ -e $scratch/tar/$(dirname "$page")/${link%%#*} ]] || missing+=" $page:$link"
    done < <(grep -oE '\]\([^)#: ]+' "$scratch/tar/$page" | cut -c3-)
  done
  [[ ! $missing ]] || die "links to what is not in the package:$missing"
  say "content: $(basename "$tar") and $(basename "$deb") hold what they should"
}

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { in_root runuser -u bench -- env HOME=/home/bench bash -c "cd && $1"; }

install() {
  local suite=${1:-trixie}
  ((UID == 0)) || die "needs root, for chroot: UID=$UID"
  command -v mmdebstrap >/dev/null || die "needs mmdebstrap: apt-get install mmdebstrap"
  say "install: a root folder of Debian $suite"
  mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$root" ${MIRROR:+"$MIRROR"}
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  mount -t proc proc "$root/proc"
  in_root useradd -m bench
  cp "$deb" "$root/tmp/"
  in_root apt-get -qq update
  # What a minimal Debian lacks, and a usual one has.
  in_root apt-get -qq install -y --no-install-recommends man-db bash-completion >/dev/null 2>&1
  say "install: apt-get install ./$(basename "$deb")"
  in_root apt-get -qq install -y --no-install-recommends "/tmp/$(basename "$deb")" >/dev/null 2>"$scratch/apt" ||
    { cat "$scratch/apt" >&2; die "the package did not install"; }
  in_root dpkg -s pqcbench | grep -E '^(Status|Version|Depends)'

  say "install: the main job, as a user who is not root"
  # On loopback beside its server it is no measurement: whatever the verdict, the job has to be done.
  as_user 'loadgen --rate 50 --duration 5s --fail-on never --out bundle' 2>&1 | tee "$scratch/run"
  # 50/s for the 4 s after a warm-up of a fifth.
  grep -qE '^arrivals +200 planned .* 200 SUCCESS' "$scratch/run" || die "not every handshake succeeded"
  as_user 'loadgen-report bundle' >"$scratch/report"
  grep -qE '^\| run \| 1 \|' "$scratch/report" || { cat "$scratch/report" >&2; die "the report has no row of the run"; }
  say "install: loadgen-report: $(grep -c . "$scratch/report") lines"
  as_user 'ls .cache/pqcbench' | grep -q '^loadgen-jdk' || die "no class cache in ~/.cache/pqcbench"
  as_user 'loadgen --version' 2>&1 | tee "$scratch/version"
  ! grep -q 'making the class cache' "$scratch/version" || die "the class cache is made anew at every start"

  say "install: man pages and completion"
  local page
  for page in loadgen loadgen-run loadgen-report; do
    as_user "man --warnings $page" >"$scratch/man" 2>"$scratch/warnings"
    [[ ! -s $scratch/warnings ]] || die "man $page warns: $(cat "$scratch/warnings")"
    grep -q SYNOPSIS "$scratch/man" || die "man $page shows no synopsis"
  done
  # shellcheck disable=SC2016  # The inner shell expands it.
  as_user 'source /usr/share/bash-completion/bash_completion
    for command in loadgen loadgen-report; do
      _completion_loader $command || true
      complete -p $command || exit 1
    done
    COMP_WORDS=(loadgen --gro) COMP_CWORD=1 COMP_LINE="loadgen --gro" COMP_POINT=13
    $(complete -p loadgen | sed "s/.*-F \([^ ]*\) .*/\1/") loadgen --gro loadgen
    [[ " ${COMPREPLY[*]} " == *" --groups "* ]]' >/dev/null 2>"$scratch/completion" || die "completion does not offer --groups for --gro"

  say "install: the archive, in a folder with a space, by a link"
  in_root install -d -o bench "/srv/a place"
  tar -xzf "$tar" -C "$root/srv/a place"
  as_user 'ln -s "/srv/a place"/pqcbench-*/bin/loadgen lg; ln -s "/srv/a place"/pqcbench-*/bin/loadgen-report lgr
    ./lg --rate 50 --duration 5s --fail-on never --quiet --out bundle-of-archive' 2>&1 | tee "$scratch/run"
  grep -qE '^arrivals +200 planned .* 200 SUCCESS' "$scratch/run" || die "the archive's loadgen: not every handshake succeeded"
  as_user './lgr bundle-of-archive' >"$scratch/report"
  grep -qE '^\| run \| 1 \|' "$scratch/report" || die "the archive's loadgen-report has no row of the run"

  say "install: dpkg -r pqcbench"
  in_root dpkg -r pqcbench >/dev/null
  local left
  left=$(cd "$root" && find . -xdev \( -name '*pqcbench*' -o -name 'loadgen*' \) \
    -not -path './home/*' -not -path './srv/*' -not -path './tmp/*.deb' -not -path './proc/*')
  [[ ! $left ]] || die "left behind: $left"
  say "install: $suite passed with $(grep JDK "$scratch/version"), nothing left behind"
}

case ${1:-} in
  content) content ;;
  install) install "${2:-trixie}" ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
