#!/usr/bin/env bash
# How far are the phases that loadgen records from what really happened on the wire? Runs loadgen against a local nginx
# while tcpdump captures the loopback, for every way of waiting and every rate, and compares the two connection by
# connection. README.md beside this file says what is compared.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: wire.sh [OPTION VALUE]...

  --waits LIST      how the lanes wait: block, busy. Default: block,busy
  --rates LIST      offered rates per second. Default: 100,300,1000,2000
  --groups GROUPS   what loadgen offers, as its option --groups takes it. Default: X25519MLKEM768
  --seconds N       length of each run with its warm-up. Default: 20
  --warmup N        seconds from the start that are not compared. Default: two fifths of --seconds
  --out DIR         result directory, new or empty. Default: loadgen/target/wire/TIME
  --keep            keep the captures; a second at 1000/s takes about 2 MB. Default: only those of invalid runs
  --help            this text

Each run leaves DIR/WAIT-RATE with loadgen's bundle, its report and tcpdump's; DIR/wire.json holds all results.
Needs root (tcpdump), tcpdump, a JDK of at least 17, and what deploy/nginx/local.sh needs.

Exit: 0 every run is valid, 2 usage, 3 a run is invalid (packets dropped, or more than 1 % of its samples not found in the
capture), 4 it could not be run.
TEXT
}

say() { printf 'wire.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 4; }
wrong() { say "$*; see --help"; exit 2; }

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../../../.." && pwd -P)

waits=block,busy rates=100,300,1000,2000 groups=X25519MLKEM768 seconds=20 warmup='' keep='' out=''
while (($#)); do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --keep) keep=1; shift; continue ;;
    --waits | --rates | --groups | --seconds | --warmup | --out) ;;
    *) wrong "unknown option: $1" ;;
  esac
  if (($# < 2)) || [[ -z $2 ]]; then wrong "$1 needs a value"; fi
  declare "${1#--}=$2"
  shift 2
done
[[ $waits =~ ^(block|busy)(,(block|busy))*$ ]] || wrong "a list of block and busy is needed: waits=$waits"
[[ $rates =~ ^[1-9][0-9]{0,5}(,[1-9][0-9]{0,5})*$ ]] || wrong "a list of whole numbers per second is needed: rates=$rates"
[[ $seconds =~ ^([3-9]|[1-9][0-9]{1,3})$ ]] || wrong "a whole number from 3 to 9999 is needed: seconds=$seconds"
warmup=${warmup:-$((seconds * 2 / 5))}
if [[ ! $warmup =~ ^(0|[1-9][0-9]{0,3})$ ]] || ((warmup >= seconds)); then
  wrong "a whole number below seconds=$seconds is needed: warmup=$warmup"
fi
out=$(realpath -m -- "${out:-$root/loadgen/target/wire/$(date -u +%Y%m%d-%H%M%S)}")

command -v tcpdump >/dev/null || die "tcpdump is missing: install it, e.g. apt-get install tcpdump"
((EUID == 0)) || die "capturing needs root: run this as root, e.g. with sudo (uid=$EUID)"
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null || die "a JDK of at least 17 is missing: install one, or set JAVA_HOME (java=$java)"
if ! mkdir -p "$out" 2>/dev/null || [[ -n $(ls -A "$out") ]]; then die "the result directory must be new or empty: out=$out"; fi

compare() { "$java" -cp "$root/loadgen/target/loadgen.jar" "$here/WireErrors.java" "$@"; }

load_pid='' capture_pid=''
stop_capture() {
  [[ -n $capture_pid ]] || return 0
  kill -INT "$capture_pid" 2>/dev/null || true
  wait "$capture_pid" || true
  capture_pid=''
}
server() { NGINX_LOCAL_DIR=$out/nginx NGINX_LOCAL_WORKERS=1 "$root/deploy/nginx/local.sh" "$1"; }
# shellcheck disable=SC2317  # called by the trap
finish() {
  if [[ -n $load_pid ]]; then kill "$load_pid" 2>/dev/null || true; fi
  stop_capture
  server stop 2>/dev/null || true
}

# The headers of a packet and of the first TLS records in it: link 14, IPv6 40, TCP with timestamps 32, then the client's
# change_cipher_spec and Finished (80) and the header of its request, and some room for TCP options.
snapshot_bytes=224

start_capture() { # directory port
  : >"$1/tcpdump.log"
  tcpdump -i lo -n --time-stamp-precision=nano -s "$snapshot_bytes" -B 65536 -Z "$(id -un)" \
    -w "$1/capture.pcap" "tcp port $2" 2>>"$1/tcpdump.log" &
  capture_pid=$!
  local i
  for ((i = 0; i < 100; i++)); do
    if grep -q '^tcpdump: listening on lo' "$1/tcpdump.log"; then return; fi
    kill -0 "$capture_pid" 2>/dev/null || break
    sleep 0.05
  done
  die "tcpdump does not capture: $(tail -n 1 "$1/tcpdump.log")"
}

# The jar and its class cache are made before anything is measured.
"$root/loadgen/bin/loadgen" --version >/dev/null || die "loadgen does not start; see above"
trap finish EXIT
endpoints=$(server start) || die "the local nginx does not start; see above"
target=$(sed -n 's/^target=//p' <<<"$endpoints")

runs=()
for waiting in ${waits//,/ }; do
  for rate in ${rates//,/ }; do
    run=$out/$waiting-$rate
    mkdir "$run" || die "the same run was asked for twice: waits=$waits rates=$rates"
    say "$waiting, $rate/s, $seconds s"
    start_capture "$run" "${target##*:}"
    # A run that saturates is a result as well: the comparison states its verdict.
    "$root/loadgen/bin/loadgen" run --target "$target" --groups "$groups" --wait "$waiting" --rate "$rate" \
      --duration "${seconds}s" --warmup "${warmup}s" --fail-on never --out "$run/bundle" >"$run/loadgen.log" 2>&1 &
    load_pid=$! # in the background, so that a signal to this script ends it too
    wait "$load_pid" ||
      die "loadgen failed, see $run/loadgen.log: $(tail -n 1 "$run/loadgen.log")"
    load_pid=''
    # The kernel hands packets over in blocks, the last one after at most a second.
    sleep 2
    stop_capture
    status=0
    compare run "$run" || status=$?
    case $status in
      0) if [[ -z $keep ]]; then rm "$run/capture.pcap"; fi ;;
      3) ;;
      *) die "the comparison failed, see above; the capture is kept: $run/capture.pcap" ;;
    esac
    runs+=("$run")
  done
done
server stop
trap - EXIT
rm -r "$out/nginx"
status=0
compare all "$out" "${runs[@]}" || status=$?
say "results: $out/wire.json"
exit "$status"
