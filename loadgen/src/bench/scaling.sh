#!/usr/bin/env bash
# Measures how loadgen's own cost and lateness scale; see --help.
set -euo pipefail

usage() {
  cat <<'TEXT'
scaling.sh [OPTIONS]            measure; a table on standard output, progress on standard error
scaling.sh --soak MINUTES       1000/s for that long: does memory stay flat? Exit code 1 if it grows
scaling.sh --draw scaling.json  draw scaling.svg beside it again, without measuring

Client CPU time per handshake, lag, and the client's memory, by offered rate, group and number of
lanes, and by attempts in flight, against the embedded server in a process of its own. Every point
is run once a round, in an order shuffled anew for each round, and stands with its medians. Needs
an otherwise idle machine; the default takes about an hour.

  --rates LIST           offered rates, 1/s; default 100,300,1000,3000,10000
  --groups LIST          default X25519,X25519MLKEM768
  --lanes LIST           default 1,2
  --in-flight LIST       attempts in flight, or none; default 1,100,1000,5000,20000. Made by a server
                         that waits in-flight / rate before it answers; with the first of --lanes
  --in-flight-rate RATE  1/s, for these; default 1000
  --seconds N            measured part of a run, s; default 20
  --warmup N             before it, s; default 8, and the server's delay on top
  --rounds N             default 3
  --seed N               of the order; default 1
  --out DIR              for scaling.json and scaling.svg, or soak.json; default bundles/scaling-TIME

A soak takes the last of --groups and the first of --lanes.

Environment: that of loadgen/bin/loadgen, e.g. JAVA_HOME.
Exit: 0 done, 1 soak: memory grew, 2 usage, 4 could not run.
TEXT
}

die() { printf 'scaling.sh: %s\n' "$*" >&2; exit 4; }

for word in "$@"; do
  if [[ $word == --help || $word == -h ]]; then
    usage
    exit 0
  fi
done

here=$(dirname -- "$(readlink -f "${BASH_SOURCE[0]}")")
module=$(dirname -- "$(dirname -- "$here")")
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null || die "no java: java=$java; install a JDK, e.g. openjdk-17-jdk-headless"

# Each attempt in flight needs a descriptor in the client and one in the server.
ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"

# Builds the jar and makes the class cache if need be, so that no run does.
"$module/bin/loadgen" --version >/dev/null

# From the source file, so that the programme is in no jar and needs no build.
exec "$java" -XX:+UseSerialGC -Xmx128m -Dloadgen.launcher.script="$module/bin/loadgen" \
  -cp "$module/target/loadgen.jar" "$here/Scaling.java" "$@"
