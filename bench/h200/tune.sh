#!/usr/bin/env bash
# Tunes the rungs that declare a search space, as a new user would, and writes the results that
# docs/tuning.md discusses.
#   bench/h200/tune.sh [BUILD_FOLDER] [OUTPUT_FOLDER]
# Writes OUTPUT_FOLDER/tune-RUNG.json (by default under results/h200), docs/images/tune-RUNG.svg and
# the tuned file.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/h200}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target ladder
mkdir -p "$output"
for rung_and_axes in r09:BM,BN r10:WM,WN; do
  rung=${rung_and_axes%:*}
  "$build/bin/ladder" tune "$rung" --device cuda:0 --source . --budget 120 \
    --json "$output/tune-$rung.json" \
    --heat-map "docs/images/tune-$rung.svg" --axes "${rung_and_axes#*:}"
done
