#!/usr/bin/env bash
# Measures how the rate of each kernel in ieee grows with N on an H200, and again to see that nothing has changed.
#   bench/h200/sizes.sh [BUILD_FOLDER] [OUTPUT_FOLDER]
# Writes OUTPUT_FOLDER/sizes.json (by default under results/h200), docs/images/sizes.svg where the output is the default,
# and OUTPUT_FOLDER/compare.txt: the second run against the first, and r05 to r10 slowed by 5% on purpose, which must be
# found. Kernels are left out where a launch would take over half a second; the rows say so.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/h200}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target ladder
mkdir -p "$output"
ladder=$build/bin/ladder
mapfile -t kernels < <("$ladder" list --json | python3 -c '
import json, sys
for k in json.load(sys.stdin):
    if k["place"] == "cuda" and k["precision"] == "ieee":
        print(k["id"])')
"$ladder" bench "${kernels[@]}" --device cuda:0 --suite square --max-launch 0.5 --budget 0.4 --save "$output/sizes.json"
[ "$output" != results/h200 ] || "$ladder" report "$output/sizes.json" --chart sizes --svg docs/images/sizes.svg
against() { sed -n '/^against/,$p'; }
{
  echo "# $(bench/h200/environment.sh)"
  echo "## the same again"
  "$ladder" bench "${kernels[@]}" --device cuda:0 --shape '128..4096*2' --max-launch 0.5 --budget 0.4 \
    --compare "$output/sizes.json" | against || echo "(exit status 1)"
  echo "## r05 to r10 slowed by 5%"
  if "$ladder" bench r05 r06 r07 r08 r09 r10 --device cuda:0 --shape 2048,4096 --budget 0.3 --handicap 5 \
      --compare "$output/sizes.json" | against; then
    echo "sizes.sh: a slowdown of 5% was not found" >&2
    exit 1
  fi
} | tee "$output/compare.txt"
