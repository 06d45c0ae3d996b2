#!/usr/bin/env bash
# Builds and runs the JMH benchmarks; see --help.
set -euo pipefail

usage() {
  cat <<'TEXT'
jmh.sh [OPTIONS OF JMH] [REGEX]

What the parts of a handshake cost by themselves: the benchmarks of src/bench/java, with the bytes
that each operation allocates (JMH's gc profiler). Needs an otherwise idle machine: all of them
take about 8 minutes.

  jmh.sh                            all
  jmh.sh InMemory                   those whose names match
  jmh.sh -p group=X25519 -f 1 -wi 2 -i 3 Engine
  jmh.sh -l                         their names
  jmh.sh -rff result.json -rf json  results into a file
  jmh.sh -h                         JMH's own options

Environment:
  JAVA_HOME   the JDK, at least 17; without it the java of PATH
TEXT
}

die() { printf 'jmh.sh: %s\n' "$*" >&2; exit 4; }

if [[ ${1:-} == --help ]]; then
  usage
  exit 0
fi

module=$(cd -- "$(dirname -- "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd -P)
jar=$module/target/benchmarks.jar
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" >/dev/null || die "no java: java=$java; install a JDK, e.g. openjdk-17-jdk-headless"

if [[ ! -f $jar || ! -f $module/target/loadgen.jar ||
  -n $(find "$module/../pom.xml" "$module/pom.xml" "$module/src" -newer "$jar" -type f -print -quit) ]]; then
  command -v mvn >/dev/null || die "Maven is needed to build the jar: install it, e.g. apt-get install maven"
  mvn -B -q -f "$module/../pom.xml" -Pbench -DskipTests package >&2 || die "the build failed; see above"
  touch "$jar"
fi

options=()
feature=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p')
if ((${feature%%.*} >= 24)); then
  # The launcher says the same to the client; else every fork warns.
  options+=(-jvmArgsPrepend "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow")
fi
exec "$java" -jar "$jar" -foe true -prof gc "${options[@]}" "$@"
