#!/usr/bin/env bash
# Waits for the notice that this spot instance is going to be taken away, 2 min ahead, and then ends the experiment so
# that it can be resumed: a trial that is nearly over may finish, the results are copied.
#
# Environment, for tests: PQC_METADATA (URL of the metadata service), PQC_STATE (folder of the state)
set -euo pipefail

metadata=${PQC_METADATA:-http://169.254.169.254}
state=${PQC_STATE:-/var/lib/pqcbench}
# Left for stopping and for copying, of the 120 s; what is before that a trial may use.
reserve=75

say() { printf 'pqcbench-spot: %s\n' "$*"; }

# IMDSv2: a token first. Prints the notice, and nothing as long as there is none.
notice() {
  local token
  token=$(curl -sf -m 2 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/latest/api/token") || return 0
  curl -sf -m 2 -H "X-aws-ec2-metadata-token: $token" "$metadata/latest/meta-data/spot/instance-action" || true
}

# Of all experiments: only one at a time gets more.
trials() { { find "$state/results" -maxdepth 2 -name trials.jsonl -exec cat {} + 2>/dev/null || true; } | wc -l; }

while text=$(notice) && [[ -z $text ]]; do
  sleep 5
done
say "notice: $text"

# {"action": "terminate", "time": "2017-09-18T08:22:00Z"}
at=$(sed -n 's/.*"time" *: *"\([^"]*\)".*/\1/p' <<<"$text")
end=$(date -d "$at" +%s 2>/dev/null) || end=$(($(date +%s) + 120))
if systemctl is-active --quiet pqcbench-experiment; then
  before=$(trials)
  while (($(date +%s) < end - reserve)) && (($(trials) == before)); do
    sleep 1
  done
  if (($(trials) > before)); then say "a trial has just ended"; else say "the trial cannot end in time: it will be made again"; fi
fi
touch "$state/interrupted"
systemctl stop pqcbench-experiment 'pqcbench-shard*'
say "stopped; to go on elsewhere: terraform apply, then pqcbench-run start --force"
