#!/usr/bin/env bash
# A night's measurement against a baseline: runs the experiment, compares, and ends with 1 if it has got slower beyond
# what chance explains. The first good night is the baseline, until somebody takes another: if each good night became it, a
# little more every night would never be found.
#
# Usage: nightly.sh FOLDER [options of 'loadgen experiment', such as --set target=HOST:443]
#   FOLDER keeps   baseline   link to the night to compare with; another: ln -sfn nights/NIGHT FOLDER/baseline
#                  nights/    the bundles; the oldest beyond KEEP are removed, the baseline never
#                  last.md    the comparison of the last night
# Environment:
#   EXPERIMENT   file; default: samples/quick.yaml of this project
#   BLOCKS       trials an arm; default 8. With fewer than 6 no difference of three arms in three figures can be told from
#                chance: the smallest p of 6 trials against 6 is 0.0022, times nine comparisons (Holm) 0.0195
#   FAIL_IF      condition, see 'loadgen-report compare'; default: handshake.p99 > +10%
#   KEEP         nights to keep; default 14
#   LOADGEN, LOADGEN_REPORT   the programs; default: those of this checkout or archive, else those on the PATH
# Exit: 0 good, 1 slower, 2 usage, 3 an arm has no trial that counts, 4 could not measure or compare, 130 interrupted; with all
# but 0 the baseline stays what it was.
set -euo pipefail

say() { printf 'nightly.sh: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$@"; exit "$code"; }

[[ $# -gt 0 && $1 != -* ]] || { sed -n '2,22s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1
shift
top=$(cd -- "$(dirname -- "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
program() { # module name
  local variable=${2//-/_}
  if [[ -x $top/$1/bin/$2 ]]; then echo "$top/$1/bin/$2"; # a checkout
  elif [[ -x $top/bin/$2 ]]; then echo "$top/bin/$2"; # the unpacked archive
  else command -v "$2" || die 4 "no $2 on the PATH: install the package, or set ${variable^^}"; fi
}
loadgen=${LOADGEN:-$(program loadgen loadgen)}
report=${LOADGEN_REPORT:-$(program analysis loadgen-report)}
experiment=${EXPERIMENT:-$top/samples/quick.yaml}
blocks=${BLOCKS:-8} fail_if=${FAIL_IF:-handshake.p99 > +10%} keep=${KEEP:-14}
[[ -r $experiment ]] || die 2 "cannot be read: EXPERIMENT=$experiment"
[[ $blocks =~ ^[1-9][0-9]*$ ]] || die 2 "not a number of blocks: BLOCKS=$blocks"
[[ $keep =~ ^[1-9][0-9]*$ ]] || die 2 "not a number of nights: KEEP=$keep"
((blocks >= 6)) || say "BLOCKS=$blocks is too few to find anything, at least 6 are needed: this night can only measure"

mkdir -p "$folder/nights"
folder=$(cd "$folder" && pwd -P)
# A night that has not ended yet when the next one begins would be measured along with it.
exec 9>"$folder/.lock"
flock -n 9 || die 4 "another night is still running: folder=$folder"
night=$folder/nights/$(date -u +%Y%m%dT%H%M%SZ)

code=0
"$loadgen" experiment "$experiment" --set "blocks=$blocks" --out "$night" "$@" || code=$?
case $code in
  0 | 1) ;; # 1: some trials are not TRUSTED; which ones count is the experiment's rule.
  *) die "$code" "the experiment ended with exit code $code; the baseline is as it was. What there is: $night" ;;
esac

if [[ -e $folder/baseline ]]; then
  code=0
  "$report" compare "$folder/baseline" "$night" --fail-if "$fail_if" >"$folder/last.md" || code=$?
  cat "$folder/last.md"
  case $code in
    0) ;;
    1) die 1 "slower than $(readlink "$folder/baseline"): $fail_if; if that is how it shall be: ln -sfn nights/${night##*/} $folder/baseline" ;;
    *) die 4 "the nights cannot be compared, exit code $code; the baseline stays" ;;
  esac
else
  ln -sfn "nights/${night##*/}" "$folder/baseline"
  say "the first night: there is nothing to compare it with, it is the baseline of those that follow"
fi
say "good: nights/${night##*/}; the baseline is $(readlink "$folder/baseline")"

# Names sort by time.
nights=("$folder"/nights/*)
for ((i = 0; i < ${#nights[@]} - keep; i++)); do
  [[ nights/${nights[i]##*/} == "$(readlink "$folder/baseline")" ]] || rm -r "${nights[i]}"
done
