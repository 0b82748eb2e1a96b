#!/usr/bin/env bash
# Measures the CPU ladder beside OpenBLAS, BLIS and oneDNN on this machine: cubes, small cubes and
# skinny shapes. The machine should be idle otherwise.
#   bench/host/all.sh [BUILD_FOLDER] [OUTPUT_FOLDER]        default: build and results/cpu
# Writes OUTPUT_FOLDER/{square,small,skinny}.json, rates.txt and shared.csv (all cores beside a
# process that computes all the time; bench/host/shared.sh). If the output is the default, also
# updates the table of docs/ladder/h05.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/cpu}
ladder=$build/bin/ladder
mkdir -p "$output"
"$ladder" doctor | grep -E '^(ladder|ok +(CPU|one core|OpenBLAS))' | tee "$output/rates.txt"
mapfile -t kernels < <("$ladder" list --json | python3 -c '
import json, sys
for k in json.load(sys.stdin):
    if k["place"] == "host":
        print(k["id"])')
bench() { "$ladder" bench "${kernels[@]}" --device cpu --l2 warm "$@"; }
bench --shape '64..4096*2' --max-launch 1 --budget 1 --save "$output/square.json"
bench --shape 8,12,16,24,32,33,48,64 --budget 0.1 --save "$output/small.json"
bench --shape 4096x64x64 --shape 64x4096x64 --shape 64x64x4096 \
  --shape 2048x2048x16 --shape 1x4096x4096 \
  --shape 16x4096x4096 --shape 4096x16x4096 --max-launch 1 --budget 0.3 --save "$output/skinny.json"
bench/host/shared.sh "$build" "$output"
if [ "$output" = results/cpu ]; then
  "$ladder" report "$output/square.json" --markdown --into docs/ladder/h05.md --marker host
fi
