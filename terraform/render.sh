#!/usr/bin/env bash
# Prints a machine's user data as terraform renders it, for tests: the template has nothing but ${name}, and every value is
# a file in base64.
# Usage: render.sh MACHINE_ENV EXPERIMENT
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/machine
text=$(<"$here/user-data.yaml.tftpl")
for pair in "environment=$1" "experiment=$2" "install=$here/install.sh" "run=$here/run.sh" "spot=$here/spot.sh" \
  "experiment_service=$here/pqcbench-experiment.service" "spot_service=$here/pqcbench-spot.service"; do
  text=${text//"\${${pair%%=*}}"/"$(base64 -w0 "${pair#*=}")"}
done
# shellcheck disable=SC2016  # Literally.
if [[ $text == *'${'* || $text == *'%{'* ]]; then
  printf 'render.sh: the template has something else than the names that it knows\n' >&2
  exit 1
fi
printf '%s\n' "$text"
