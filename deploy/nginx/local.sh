#!/usr/bin/env bash
# Real nginx with OpenSSL 3.5 (X25519MLKEM768, ML-DSA) for local tests, with nothing installed.
#
#   local.sh start    fetch (first time only) and start; prints target=, access_log=, pid=, tls12=, tickets=, p256=,
#                     keepalive=, http2=, mldsa=, rsa=, chain=, openssl=, nginx= on stdout, one per line; all else goes to stderr
#   local.sh stop     end that nginx, and only that one
#   local.sh status   the same lines as start, or exit 1 when it does not run
#
# Exit: 0 fine, 1 error (status: not running), 2 usage,
#       3 nginx cannot be had here (one line "nginx-unavailable: ..." on stderr).
#
# Environment:
#   NGINX_LOCAL_DIR      configuration, certificates (certs/), logs; <repo>/loadgen/target/nginx
#   NGINX_LOCAL_CACHE    unpacked packages; ${XDG_CACHE_HOME:-~/.cache}/pqcbench/nginx-<arch>
#   NGINX_LOCAL_PORT     port of the main listener; a free one. The others are always free ones
#   NGINX_LOCAL_GROUPS   groups of the listeners but tls12 and p256, in OpenSSL's syntax
#   NGINX_LOCAL_WORKERS  worker processes; 1
#
# The configuration is that of a real server, nginx.conf.template, with local.conf.template's listeners for tests beside it.
#
# The packages come from Debian 13 (trixie) through the mirror, keyring and proxy that this host's
# apt already uses, but with private apt folders: the host's sources, lists and cache stay as they
# are. They run through their own dynamic loader, so Debian 12's older libc does not matter.
set -euo pipefail

suite=trixie
packages=(nginx openssl libssl3t64 libcrypt1 libpcre2-8-0 zlib1g libzstd1 libc6)

say() { printf 'local.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
unavailable() { printf 'nginx-unavailable: %s\n' "$*" >&2; exit 3; }

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"
dir=$(realpath -m -- "${NGINX_LOCAL_DIR:-$here/../../loadgen/target/nginx}")
conf=$dir/nginx.conf

# --- The process ---------------------------------------------------------------------------------

# Is this process our nginx? It runs through a loader and in the build folder (which somebody may
# have deleted since). Its command line is no help: nginx writes its title over it, and behind a
# loader that goes astray. A zombie has neither link and thus counts as gone.
ours() { # pid
  local exe cwd
  exe=$(readlink "/proc/$1/exe") && cwd=$(readlink "/proc/$1/cwd") || return 1
  [[ $exe == */ld-linux-*.so.* && ${cwd% (deleted)} == "$dir" ]]
}

# Prints the pid of our nginx if it runs. A pid file may be stale and its number in use by another.
running_pid() {
  local pid
  [[ -r $dir/nginx.pid ]] && read -r pid <"$dir/nginx.pid" && [[ $pid =~ ^[0-9]+$ ]] || return 1
  ours "$pid" && echo "$pid"
}

# Prints the pid of our nginx when its pid file is gone, as after "mvn clean". The master is the one
# whose parent is not ours.
lost_pid() {
  local cwd pid
  # shellcheck disable=SC2044  # find prints /proc/PID/cwd, nothing that could be split
  for cwd in $(find /proc -mindepth 2 -maxdepth 2 -name cwd -lname "$dir*" 2>/dev/null || true); do
    pid=${cwd//[!0-9]/}
    if ours "$pid" && ! ours "$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")"; then echo "$pid"; return; fi
  done
  return 1
}

print_endpoints() { # pid
  local key value
  while IFS='=' read -r key value; do
    printf '%s=%s\n' "$key" "$value"
    if [[ $key == access_log ]]; then printf 'pid=%s\n' "$1"; fi
  done <"$dir/endpoints"
}

# --- The packages --------------------------------------------------------------------------------

# Prints the first Debian archive entry of the host's apt sources, as deb822, with the suite put to
# trixie. Every other option is kept as the host has it (Signed-By, Trusted, Check-Valid-Until ...):
# this script never makes up its own idea of what is trusted.
private_source() {
  local codename=$1 arch=$2 part file etc='' list='' parts='' found
  eval "$(apt-config shell etc Dir::Etc/d list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
  : "${etc:=/etc/apt/}" "${list:=${etc}sources.list}" "${parts:=${etc}sources.list.d/}"
  for file in "$list" "$parts"*.list "$parts"*.sources; do
    [[ -r $file ]] || continue
    # One-line entries become stanzas first; both kinds then go through the same filter.
    if [[ $file == *.sources ]]; then part=$(sed 's/[[:space:]]*$//; /^#/d' "$file"); else
      part=$(awk '{ sub(/#.*/, "") } $1 == "deb" {
        options = ""
        if (match($0, /\[[^]]*\]/)) {
          options = substr($0, RSTART + 1, RLENGTH - 2)
          $0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
        }
        printf "Types: deb\nURIs: %s\nSuites: %s\nComponents:", $2, $3
        for (i = 4; i <= NF; i++) printf " %s", $i
        n = split(options, option, " ")
        for (i = 1; i <= n; i++) { sub(/[+-]?=/, ": ", option[i]); printf "\n%s", option[i] }
        printf "\n\n"
      }' "$file")
    fi
    found=$(printf '%s\n' "$part" | awk -v codename="$codename" -v suite="$suite" -v arch="$arch" '
      BEGIN { RS = ""; FS = "\n" }
      {
        keep = name = ""; split("", field)
        for (i = 1; i <= NF; i++) {
          value = " " $i  # a continuation line, e.g. of an inline key
          if ($i ~ /^[^ \t]/) { name = tolower($i); sub(/:.*/, "", name); sub(/^ [^:]*:[ \t]*/, " ", value) }
          field[name] = field[name] value " "
          if (name !~ /^(types|suites|components|enabled|arch|architectures|lang|languages|target|targets|pdiffs)$/)
            keep = keep "\n" $i
        }
        if (tolower(field["enabled"]) ~ / (no|false|0|off|without|disable) / || field["uris"] ~ / cdrom:/) next
        if (field["types"] !~ / deb / || field["components"] !~ / main /) next
        if (field["suites"] !~ (" (" codename "|" suite "|stable|oldstable) ")) next
        # "Targets" keeps apt from fetching translations, icons and file lists as well.
        print "Types: deb\nSuites: " suite "\nComponents: main\nArchitectures: " arch "\nTargets: Packages" keep
        exit
      }')
    if [[ -n $found ]]; then printf '%s\n' "$found"; return; fi
  done
  say "no Debian archive in this host's apt sources, taking deb.debian.org"
  printf '%s\n' 'Types: deb' 'URIs: http://deb.debian.org/debian' "Suites: $suite" 'Components: main' \
    "Architectures: $arch" 'Targets: Packages' 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg'
}

# Runs apt-get with the private configuration; on failure the reason becomes the one line of exit 3.
private_apt() { # work-folder arguments...
  local work=$1 reason; shift
  if ! (cd "$work/debs" && timeout 300 apt-get -q -c "$work/apt.conf" "$@") >"$work/log" 2>&1 </dev/null; then
    reason=$(grep -m1 '^[EW]:' "$work/log" || tail -n 1 "$work/log")
    unavailable "apt-get $1 for $suite failed (${reason:-no message}); check network, apt mirror and proxy, or copy the folder $cache from a machine that has it"
  fi
}

fill_cache() {
  local work tool id codename deb tls_groups
  for tool in apt-get apt-config dpkg dpkg-deb awk sed timeout; do
    command -v "$tool" >/dev/null || unavailable "$tool is missing; run on Debian 12 or 13"
  done
  id=$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null) || true
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null) || true
  [[ $id == debian ]] || unavailable "this is ${id:-an unknown system}, not Debian; run on Debian 12 or 13, or use your own nginx with OpenSSL 3.5"
  if ! { mkdir -p "$(dirname "$cache")" && work=$(mktemp -d "$cache.XXXXXX"); } 2>/dev/null; then
    unavailable "cannot write $cache; set NGINX_LOCAL_CACHE to a folder you may create"
  fi
  # shellcheck disable=SC2064  # the value of now is meant
  trap "rm -rf -- $(printf %q "$work")" EXIT
  mkdir -p "$work"/{debs,lists/partial,archives/partial,new/root}
  : >"$work/status"
  private_source "${codename:-none}" "$arch" >"$work/debian.sources"
  # Read by apt after the host's own configuration, whose proxy, certificate and login settings thus
  # stay. Hooks are cleared since some of them clean or index the HOST's folders after an update;
  # pins and the default release speak of the host's suites. No sandbox user: root's private folders
  # are closed to it.
  cat >"$work/apt.conf" <<CONF
Dir::Etc::sourcelist "$work/debian.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Log "$work";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Update::Error-Mode "any";
APT::Default-Release "$suite";
APT::Sandbox::User "root";
Acquire::Retries "1";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
CONF
  say "fetching nginx and OpenSSL from Debian $suite (once; then kept in $cache)"
  private_apt "$work" update
  private_apt "$work" download "${packages[@]}"
  for deb in "$work"/debs/*.deb; do
    dpkg-deb -x "$deb" "$work/new/root" || die "cannot unpack ${deb##*/}"
    dpkg-deb -W "$deb" >>"$work/new/packages"
  done
  # An archive snapshot from before the release of trixie may still hold an older OpenSSL.
  tls_groups=$(run "$work/new/root" openssl list -tls-groups 2>&1) ||
    unavailable "the downloaded OpenSSL does not run here (${tls_groups%%$'\n'*}); if it is too old, use a current Debian mirror"
  [[ $tls_groups == *X25519MLKEM768* ]] || unavailable "the OpenSSL of the mirror's $suite has no X25519MLKEM768; use a current Debian mirror"
  chmod 755 "$work/new"
  # The rename makes the folder appear whole or not at all; another start may have been faster.
  mv -T "$work/new" "$cache" 2>/dev/null || [[ -f $cache/packages ]] || die "cannot put the packages into $cache (in the way? remove it)"
}

# Runs a downloaded program with its own loader and libraries, and without the host's OpenSSL
# configuration and library cache.
run() { # root program arguments...
  local root=$1 program=$2 file; shift 2
  file=$root/usr/bin/$program
  [[ -x $file ]] || file=$root/usr/sbin/$program
  OPENSSL_CONF=/dev/null "$root/usr/lib/$triplet/$loader" --inhibit-cache \
    --library-path "$root/usr/lib/$triplet:$root/lib/$triplet" "$file" "$@"
}

# --- The configuration ---------------------------------------------------------------------------

make_files() {
  mkdir -p "$dir/servers"
  make_payloads "$dir/www"
  cp "$here/locations.conf" "$dir/"
  # For others, who do not know of loaders and libraries.
  local program
  for program in bin/openssl sbin/nginx; do
    printf '%s\n' '#!/usr/bin/env bash' "OPENSSL_CONF=/dev/null exec $(printf '%q ' "$cache/root/usr/lib/$triplet/$loader" \
      --inhibit-cache --library-path "$cache/root/usr/lib/$triplet:$cache/root/lib/$triplet" "$cache/root/usr/$program")\"\$@\"" \
      >"$dir/${program#*/}"
    chmod 755 "$dir/${program#*/}"
  done
  "$here/certs.sh" --out "$dir/certs" --openssl "$dir/openssl" 2>"$dir/start.log" ||
    die "cannot make the certificates: $(tail -n 1 "$dir/start.log")"
}

make_config() { # main-port tls12-port tickets-port p256-port keepalive-port mldsa-port rsa-port http2-port chain-port
  local nofile user=''
  nofile=$(descriptors)
  # Root's nginx would drop to www-data, which cannot read a private folder (and may not exist).
  if ((EUID == 0)); then user='user root;'; fi
  # No buffer= in the logs: a test counts the lines as soon as its requests are done. Each listener whose connections a
  # test counts has a log of its own, so that the counts stay exact.
  render "$here/nginx.conf.template" "USER_DIRECTIVE=$user" "WORKERS=$workers" "NOFILE=$nofile" \
    "CONNECTIONS=$((nofile > 32768 ? 32768 : nofile))" "GROUPS=$groups" "RUN=$dir" "ERROR_LOG=\"$dir/error.log\"" \
    "WWW=$dir/www" "CERTS=$dir/certs" CERT_P256=p256 CERT_MLDSA65=mldsa65 CERT_RSA2048=rsa2048 \
    "LISTEN_MAIN=127.0.0.1:$1" "LISTEN_TICKETS=127.0.0.1:$3" "LISTEN_MLDSA=127.0.0.1:$6" "LISTEN_RSA=127.0.0.1:$7" \
    "LISTEN_CHAIN=127.0.0.1:$9" "LOG_MAIN=\"$dir/access.log\" bench" "LOG_TICKETS=\"$dir/tickets.log\" bench" \
    LOG_MLDSA=off LOG_RSA=off LOG_CHAIN=off >"$conf"
  render "$here/local.conf.template" "DIR=$dir" "CERTS=$dir/certs" "PORT_TLS12=$2" "PORT_P256=$4" "PORT_KEEPALIVE=$5" \
    "PORT_HTTP2=$8" >"$dir/servers/local.conf"
  printf '%s\n' "target=127.0.0.1:$1" "access_log=$dir/access.log" "tls12=127.0.0.1:$2" \
    "tickets=127.0.0.1:$3" "p256=127.0.0.1:$4" "keepalive=127.0.0.1:$5" "http2=127.0.0.1:$8" "mldsa=127.0.0.1:$6" \
    "rsa=127.0.0.1:$7" "chain=127.0.0.1:$9" "openssl=$dir/openssl" "nginx=$dir/nginx" >"$dir/endpoints"
}

# --- Commands ------------------------------------------------------------------------------------

launch() (
  # The daemon must not keep anything of the caller open (a pipe would never end, a lock never be
  # free), so close every inherited descriptor; 255 is bash's own and closes itself.
  for fd in "/proc/$BASHPID/fd"/*; do
    fd=${fd##*/}
    if ((fd > 2 && fd != 255)); then eval "exec $fd>&-"; fi
  done
  cd "$dir" # ours() looks for this
  run "$cache/root" nginx -p "$dir" -e "$dir/error.log" -c "$conf" </dev/null >"$dir/start.log" 2>&1
)

start() {
  local pid attempt i ports
  [[ ${NGINX_LOCAL_PORT:-1} =~ ^[1-9][0-9]{0,4}$ ]] || die "NGINX_LOCAL_PORT is not a port: $NGINX_LOCAL_PORT"
  workers=${NGINX_LOCAL_WORKERS:-1}
  [[ $workers =~ ^([1-9][0-9]*|auto)$ ]] || die "NGINX_LOCAL_WORKERS is not a number: $workers"
  groups=${NGINX_LOCAL_GROUPS:-X25519MLKEM768:X25519:prime256v1:secp384r1}
  [[ $groups =~ ^[A-Za-z0-9_:*?/.-]+$ ]] || die "NGINX_LOCAL_GROUPS is not a list of groups: $groups"
  # These paths end up in an nginx configuration and a library path.
  [[ $dir$cache =~ ^[A-Za-z0-9_./+,@%~\ -]+$ ]] || die "unusual characters in $dir or $cache; set NGINX_LOCAL_DIR and NGINX_LOCAL_CACHE"
  if ! mkdir -p "$dir" 2>/dev/null || [[ ! -w $dir ]]; then die "cannot write $dir; set NGINX_LOCAL_DIR"; fi
  # Two starts at once (parallel test modules) become one start and one "runs already".
  exec {lock}>"$dir/lock"
  flock "$lock"
  if pid=$(running_pid); then say "runs already"; print_endpoints "$pid"; return; fi
  if lost_pid >/dev/null; then stop; fi

  [[ -f $cache/packages ]] || fill_cache
  make_files
  for attempt in 1 2 3; do
    ports=("${NGINX_LOCAL_PORT:-$(free_port)}")
    if listens "${ports[0]}"; then
      die "port ${ports[0]} is in use; choose another NGINX_LOCAL_PORT or leave it unset"
    fi
    while ((${#ports[@]} < 9)); do ports+=("$(free_port "${ports[@]}")"); done
    make_config "${ports[@]}"
    rm -f "$dir/access.log" "$dir/error.log" "$dir/nginx.pid" # each start counts from zero
    if launch; then
      # The sockets are open by now; the daemon writes its pid file a moment later.
      for ((i = 0; i < 100; i++)); do
        if pid=$(running_pid); then print_endpoints "$pid"; return; fi
        sleep 0.05
      done
      die "nginx did not stay up; see $dir/error.log"
    fi
    # Only a port that was taken since we looked deserves another try.
    grep -q 'Address already in use' "$dir/start.log" || break
  done
  die "nginx did not start (try $attempt): $(head -n 1 "$dir/start.log")"
}

stop() {
  local pid i
  pid=$(running_pid || lost_pid) || { say "not running"; return; }
  kill -TERM "$pid" || die "may not end process $pid"
  for ((i = 0; i < 200; i++)); do
    if ! ours "$pid"; then say "stopped $pid"; return; fi
    sleep 0.05
  done
  die "process $pid did not end within 10 s"
}

case $#:${1:-} in 1:start | 1:stop | 1:status) ;; *) echo 'usage: local.sh start|stop|status' >&2; exit 2 ;; esac
[[ -d /proc/self/fd ]] || unavailable "no /proc here; run on Debian 12 or 13"

case $1 in
  stop) stop ;;
  status) pid=$(running_pid) || { say "not running"; exit 1; }; print_endpoints "$pid" ;;
  start)
    command -v dpkg >/dev/null || unavailable "dpkg is missing; run on Debian 12 or 13"
    arch=$(dpkg --print-architecture)
    case $arch in
      amd64) triplet=x86_64-linux-gnu loader=ld-linux-x86-64.so.2 ;;
      arm64) triplet=aarch64-linux-gnu loader=ld-linux-aarch64.so.1 ;;
      *) unavailable "architecture $arch is not known to this script; run on amd64 or arm64" ;;
    esac
    cache=$(realpath -m -- "${NGINX_LOCAL_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/pqcbench/nginx-$arch}")
    start
    ;;
esac
