#!/usr/bin/env bash
# Runs the experiment on a client, as a unit of systemd that no lost connection ends.
#
# Usage: pqcbench-run start [--force]      begins the experiment, or goes on with what is in the results folder or bucket
#                                          under the experiment's name;
#                                          --force also if that was begun on another machine, or if the client would be
#                                          the bottleneck: the result says so
#        pqcbench-run status               what this machine is doing
#        pqcbench-run stop                 ends it so that 'start' goes on with it
#        pqcbench-run shard START_AT ...   one run that all clients share, beginning at the same instant
#                                          (2026-12-02T22:00:00Z); ... are options of 'loadgen run'
# By the units: experiment, ended.
# Environment, for tests: PQC_STATE (folder of the state), PQC_CONFIG (folder with machine.env and experiment.yaml)
set -euo pipefail

config=${PQC_CONFIG:-/etc/pqcbench}
state=${PQC_STATE:-/var/lib/pqcbench}
results=$state/results
# shellcheck source=/dev/null
. "$config/machine.env"
experiment=$results/$PQC_EXPERIMENT
store=${PQC_RESULTS:+$PQC_RESULTS/$PQC_NAME/$PQC_MACHINE}

say() { printf 'pqcbench-run: %s\n' "$*" >&2; }
die() { say "$@"; exit 4; }
usage() { sed -n '4,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }

# Copies what is new, and deletes nothing there. What says that a trial has ended comes last: the machine may be gone in the
# middle of it.
store_results() {
  [[ -n $store ]] || return 0
  local words=(rclone copy --quiet --retries 3 --exclude lock --exclude '*.tmp')
  if "${words[@]}" --exclude trials.jsonl --exclude experiment.json "$results" "$store" && "${words[@]}" "$results" "$store"; then
    return
  fi
  say "the results are here only, they could not be copied: store=$store"
}

must_be_client() {
  [[ $PQC_ROLE == client ]] || die "this machine is no client: role=$PQC_ROLE"
  [[ -e $state/ready ]] || die "not installed yet, see 'pqcbench-run status'"
}

wait_for_server() {
  local tries
  for ((tries = 0; tries < 90; tries++)); do
    if (exec 3<>"/dev/tcp/$PQC_SERVER/443") 2>/dev/null; then return; fi
    ((tries > 0)) || say "waiting for the server at $PQC_SERVER:443, at most 15 min"
    sleep 10
  done
  die "no server after 15 min: server=$PQC_SERVER:443; see 'pqcbench-run status' there"
}

start() {
  local force=${1:-}
  must_be_client
  ((PQC_SHARDS == 1)) || die "an experiment needs one client, this is one of several: clients=$PQC_SHARDS; use 'pqcbench-run shard'"
  rm -f "$state/force"
  [[ -z $force ]] || touch "$state/force"
  systemctl start --no-block pqcbench-experiment
  say "started; 'journalctl -fu pqcbench-experiment' shows it, 'pqcbench-run status' how far it is"
}

# Copies after each trial that has ended, in the pause before the next one, which is there for other reasons. Ends with
# the process given.
copy_between_trials() { # pid
  local ended copied
  copied=$(trials)
  while sleep 5 && kill -0 "$1" 2>/dev/null; do
    ended=$(trials)
    if ((ended != copied)); then
      store_results
      copied=$ended
    fi
  done
}

trials() { if [[ -e $experiment/trials.jsonl ]]; then wc -l <"$experiment"/trials.jsonl; else echo 0; fi; }

# What a machine before this one has left, all of it or nothing. Who cannot say what is there must not begin anew: the old
# results would be written over.
fetch_results() {
  local from=$store/$PQC_EXPERIMENT fetched=$state/fetched message code=0
  rm -rf "$fetched"
  message=$(rclone copy --quiet --retries 3 "$from" "$fetched" 2>&1) || code=$?
  # 3 is "directory not found". S3 has no directories: nothing is found there, and that is no error.
  ((code == 0 || code == 3)) ||
    die "cannot say whether there is something to go on with; try again, or see whether this machine may read it: store=$from rclone=$code $message"
  if [[ -e $fetched/experiment.json ]]; then
    mv -T "$fetched" "$experiment"
    say "goes on with what is there: store=$from"
  else
    say "begins, nothing to go on with: store=$from"
  fi
}

# Started by the unit.
experiment() {
  # With the file loadgen goes on only with what was begun by the same plan.
  local words=(loadgen experiment "$config/experiment.yaml" --set "target=$PQC_SERVER:443")
  mkdir -p "$results"
  if [[ -n $store && ! -e $experiment/experiment.json ]]; then fetch_results; fi
  if [[ -e $experiment/experiment.json ]]; then words+=(--resume "$experiment"); else words+=(--out "$experiment"); fi
  [[ ! -e $state/force ]] || words+=(--force)
  rm -f "$state/interrupted"
  wait_for_server
  copy_between_trials $$ &
  say "${words[*]}"
  exec "${words[@]}"
}

# By the unit, when the experiment has ended in whatever way.
ended() {
  local at
  at=$(date -u +%FT%TZ)
  mkdir -p "$results"
  printf 'ended=%s result=%s exit=%s\n' "$at" "${SERVICE_RESULT:-unknown}" "${EXIT_STATUS:-unknown}" >"$results/machine-status.txt"
  store_results
}

status() {
  local file
  printf 'machine=%s role=%s server=%s\n' "$PQC_MACHINE" "$PQC_ROLE" "$PQC_SERVER"
  for file in "$state"/installing "$state"/ready "$state"/failed "$state"/interrupted "$results"/machine-status.txt; do
    [[ ! -e $file ]] || printf '%s: %s\n' "$(basename "$file")" "$(tr '\n' ' ' <"$file")"
  done
  printf 'trials ended: %s\n' "$(trials)"
  systemctl --no-pager --plain --no-legend list-units 'pqcbench-*' || true
}

shard() {
  local at=${1:-} out
  must_be_client
  if [[ ! $at =~ ^[0-9T:Z.+-]+$ ]] || ! date -d "$at" >/dev/null 2>&1; then
    die "not a time such as 2026-12-02T22:00:00Z: START_AT=$at"
  fi
  shift
  out=$results/shards-${at//:/}
  mkdir -p "$results"
  [[ ! -e $out ]] || die "there is a run of that instant already: out=$out"
  # A run's seed must be the same on all of them.
  systemd-run --collect --unit="pqcbench-shard-${at//[^0-9]/}" --property=KillMode=mixed --property=LimitNOFILE=1048576 \
    --property="ExecStopPost=/usr/local/sbin/pqcbench-run ended" --setenv=HOME=/root \
    loadgen run --target "$PQC_SERVER:443" --shard "${PQC_MACHINE#client-}/$PQC_SHARDS" --start-at "$at" \
    --seed "$(date -d "$at" +%s)" --out "$out" "$@"
}

(($# > 0)) || usage
case $1 in
  start) (($# == 1)) || [[ $# == 2 && $2 == --force ]] || usage ;;
  status | experiment | ended) (($# == 1)) || usage ;;
  stop) (($# == 1)) || usage; exec systemctl stop pqcbench-experiment ;;
  shard) (($# > 1)) || usage ;;
  *) usage ;;
esac
"$@"
