#!/usr/bin/env bash
# Finishes what the build generated for the packages, before they are made. The build calls it.
# Usage: tidy.sh FOLDER VERSION TIMESTAMP MAINTAINER
set -euo pipefail

folder=$1 version=$2 timestamp=$3 maintainer=$4

# gzip without name and time, so that the same text gives the same bytes.
gzip -9nf "$folder"/man/man1/*.1
# Debian wants one in every package.
printf 'pqcbench (%s) stable; urgency=medium\n\n  * What changed is in the history of the sources.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$(LC_ALL=C date -u -R -d "$timestamp")" | gzip -9n >"$folder/changelog.gz"
# Not every jar brings a licence along.
find "$folder/licenses" -type d -empty -delete
