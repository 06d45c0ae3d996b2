#!/usr/bin/env bash
# Compares loadgen with other clients on this machine. See --help, and README.md beside this file.
set -euo pipefail

usage() {
  cat <<'HELP'
usage: bench.sh [option]...

Runs loadgen and other clients in turn against one local nginx (one worker, OpenSSL 3.5), round by round in an order
shuffled by a seed, and prints what a fresh TLS 1.3 handshake with one request costs each of them: CPU time from the
kernel, handshakes and group from nginx's access log. Run it on a machine that does nothing else.

  --groups LIST           X25519, X25519MLKEM768 (default: both)
  --rates LIST            handshakes per second, or flat: as fast as the client can (default: 300,1000,2000,2500,flat)
  --clients LIST          of loadgen, loadgen-busy, gatling, h2load, h2load-even, wrk, wrk2, s_time, hey, tls-perf (default: all).
                          wrk, s_time and tls-perf cannot keep a rate, and run flat only; wrk2 cannot run flat.
                          What cannot be had here is named with the reason
  --rounds N              (default: 3)
  --seconds N             length of a run, of which the second half is measured (default: 20)
  --connections N         connections at a time: of the closed-loop tools, and of all in flat (default: 32)
  --flat-rate R           what loadgen offers in flat, per second; has to be more than it can do (default: 4000)
  --seed N                of the order (default: 1)
  --max-connections N     refuse to plan more than these (default: 6000000)
  --out DIR               result.json, raw output of every run (default: loadgen/target/compare/TIME)
  --quick                 smoke test: 5 s, 1 round, 300/s, unless given otherwise
  --help

The table goes to standard output, progress to standard error. Ctrl-C ends it; what was measured until then is written
and printed. Exit codes: 0 done, 2 usage, 4 something is missing, 130 interrupted.

Environment:
  JAVA_HOME               JDK of all Java clients; else the newest of /usr/lib/jvm, else that of PATH
  NGINX_LOCAL_DIR         nginx's folder; its access log is emptied before every run (default: loadgen/target/nginx-compare)
  XDG_CACHE_HOME          where unpacked packages are kept (default: ~/.cache)

h2load, wrk, openssl and hey come from the host if its OpenSSL is 3.5 or newer. On an older Debian they come from Debian
13's packages, unpacked once by mmdebstrap (about 40 MB) and run from there; nothing is installed.
HELP
}

say() { printf 'bench.sh: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$@"; exit "$code"; }

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
module=$(readlink -f "$here/../..")
root=$(dirname "$module")
jar=$module/target/loadgen.jar
gatling=$root/samples/gatling
suite=trixie

# --- Options -------------------------------------------------------------------------------------

declare -A option=(
  [groups]="X25519,X25519MLKEM768" [rates]='' [rounds]='' [seconds]='' [connections]=32 [flat-rate]=4000 [seed]=1
  [clients]="loadgen,loadgen-busy,gatling,h2load,h2load-even,wrk,wrk2,s_time,hey,tls-perf" [max-connections]=6000000
  [out]="$module/target/compare/$(date -u +%Y%m%d-%H%M%S)"
)
quick=
while (($# > 0)); do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --quick) quick=1; shift; continue ;;
    --*=*) name=${1%%=*} value=${1#*=}; shift ;;
    --*) (($# > 1)) || die 2 "value is missing: option=$1; see --help"; name=$1 value=$2; shift 2 ;;
    *) die 2 "unknown argument: argument=$1; see --help" ;;
  esac
  [[ -v option[${name#--}] ]] || die 2 "unknown option: option=$name; see --help"
  option[${name#--}]=$value
done
option[rates]=${option[rates]:-${quick:+300}}
option[rounds]=${option[rounds]:-${quick:+1}}
option[seconds]=${option[seconds]:-${quick:+5}}
option[rates]=${option[rates]:-300,1000,2000,2500,flat}
option[rounds]=${option[rounds]:-3}
option[seconds]=${option[seconds]:-20}
for name in rounds seconds connections flat-rate seed max-connections; do
  [[ ${option[$name]} =~ ^[0-9]{1,12}$ ]] || die 2 "must be a whole number: $name=${option[$name]}"
done

wanted() { [[ ,${option[clients]}, == *,$1,* ]]; }

# --- What is needed ------------------------------------------------------------------------------

# All Java clients run on one JDK, or the comparison would be one of JDKs.
pick_jdk() {
  local candidate version best=0
  if [[ -z ${JAVA_HOME:-} ]]; then
    for candidate in /usr/lib/jvm/*; do
      [[ -x $candidate/bin/java && -r $candidate/release ]] || continue
      version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$candidate/release")
      if [[ -n $version ]] && ((version > best)); then best=$version JAVA_HOME=$candidate; fi
    done
  fi
  if [[ -z ${JAVA_HOME:-} ]] && command -v java >/dev/null; then
    JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
  fi
  [[ -x ${JAVA_HOME:-}/bin/java ]] || die 4 "no JDK: JAVA_HOME=${JAVA_HOME:-}: install one, e.g. openjdk-17-jdk-headless"
  export JAVA_HOME
}

# Builds Gatling's class path when it is not there; sets gatling_absent to the reason why it cannot.
prepare_gatling() {
  gatling_absent=''
  if [[ -d $gatling/target/lib && -z $(find "$gatling/pom.xml" "$gatling/src" -newer "$gatling/target/lib/.built" -print -quit 2>&1) ]]; then
    return
  fi
  if ! command -v mvn >/dev/null; then gatling_absent='mvn is missing: install maven'; return; fi
  say "building samples/gatling (needs the network the first time)"
  if mvn -B -q -f "$gatling/pom.xml" compile >"${option[out]}/gatling-build.txt" 2>&1; then
    touch "$gatling/target/lib/.built"
  else
    gatling_absent="the build of samples/gatling failed, see ${option[out]}/gatling-build.txt"
  fi
}

host_openssl_is_new() {
  local version
  version=$(openssl version 2>/dev/null) || return 1
  [[ $version =~ ^OpenSSL\ ([0-9]+)\.([0-9]+) ]] || return 1
  ((BASH_REMATCH[1] * 100 + BASH_REMATCH[2] >= 305))
}

# Sets peers_root to a folder with Debian 13's clients, or leaves it empty: the host's are used, or, with peers_absent,
# there are none.
prepare_peers() {
  local arch work mirror
  peers_root='' peers_absent=''
  if host_openssl_is_new; then return; fi
  if ! command -v dpkg >/dev/null; then
    peers_absent="the host's OpenSSL is older than 3.5, and this is not Debian"
    return
  fi
  arch=$(dpkg --print-architecture)
  peers_root=${XDG_CACHE_HOME:-$HOME/.cache}/pqcbench/peers-$arch
  if [[ -d $peers_root ]]; then return; fi
  if ! command -v mmdebstrap >/dev/null; then
    peers_root='' peers_absent="the host's OpenSSL is older than 3.5, and mmdebstrap is missing: apt-get install mmdebstrap"
    return
  fi
  # The host's own mirror; without one, mmdebstrap's default.
  mirror=$(apt-get indextargets --format "\$(SITE)" 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | head -n 1) || true
  say "unpacking Debian $suite's clients (once; then kept in $peers_root)"
  mkdir -p "$(dirname "$peers_root")"
  work=$(mktemp -d "$peers_root.XXXXXX")
  if mmdebstrap --variant=extract --include=nghttp2-client,wrk,openssl,hey "$suite" "$work" ${mirror:+"$mirror"} \
    >"${option[out]}/mmdebstrap.txt" 2>&1; then
    chmod 755 "$work"
    mv -T "$work" "$peers_root"
  else
    rm -rf "$work"
    peers_root='' peers_absent="mmdebstrap failed, see ${option[out]}/mmdebstrap.txt"
  fi
}

# Starts nginx, or takes the one that runs in that folder already and leaves it running.
prepare_nginx() {
  local key value
  export NGINX_LOCAL_DIR=${NGINX_LOCAL_DIR:-$module/target/nginx-compare}
  if ! endpoints=$("$root/deploy/nginx/local.sh" status 2>/dev/null); then
    endpoints=$("$root/deploy/nginx/local.sh" start) || die 4 "nginx could not be started; see above"
    trap '"$root/deploy/nginx/local.sh" stop || true' EXIT
  fi
  while IFS='=' read -r key value; do
    case $key in target) target=$value ;; access_log) access_log=$value ;; pid) nginx_pid=$value ;; esac
  done <<<"$endpoints"
  nginx_version=''
  local packages=${NGINX_LOCAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pqcbench/nginx-$(dpkg --print-architecture)}/packages
  if [[ -r $packages ]]; then
    nginx_version=$(awk '$1 ~ /^(nginx|libssl3t64)(:|$)/ { printf "%s%s %s", separator, $1, $2; separator = ", " }' "$packages")
  fi
}

# --- Run -----------------------------------------------------------------------------------------

for tool in dpkg find awk sed; do command -v "$tool" >/dev/null || die 4 "$tool is missing: run on Debian 12 or 13"; done
pick_jdk
mkdir -p "${option[out]}"
option[out]=$(readlink -f "${option[out]}")
[[ ! -e ${option[out]}/result.json ]] || die 2 "holds a result already: out=${option[out]}: choose another --out"
# A client that falls behind has thousands of connections open.
ulimit -n "$(ulimit -Hn)"

# Builds jar and class cache when they are missing, so that no measured start does.
"$module/bin/loadgen" --version >"${option[out]}/loadgen-version.txt"
gatling_absent='' peers_root='' peers_absent=''
if wanted gatling; then prepare_gatling; fi
if wanted h2load || wanted h2load-even || wanted wrk || wanted s_time || wanted hey; then prepare_peers; fi
prepare_nginx

arguments=()
for name in "${!option[@]}"; do arguments+=("--$name=${option[$name]}"); done
status=0
"$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -cp "$jar" "$here/Compare.java" "${arguments[@]}" \
  --java="$JAVA_HOME/bin/java" --loadgen="$module/bin/loadgen" --gatling="$gatling" --gatling-absent="$gatling_absent" \
  --peers-root="$peers_root" --peers-absent="$peers_absent" --target="$target" --access-log="$access_log" \
  --nginx-pid="$nginx_pid" --nginx-version="$nginx_version" \
  --commit="$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)" || status=$?
exit "$status"
