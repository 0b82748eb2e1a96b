#!/usr/bin/env bash
# Measures the ladder on an H200 and writes the rows that README and docs are made from.
#   bench/h200/climb.sh [BUILD_FOLDER] [OUTPUT_FOLDER]
# Writes OUTPUT_FOLDER/climb-4096.json (by default under results/h200).
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/h200}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target ladder
mkdir -p "$output"
"$build/bin/ladder" climb --device cuda:0 --shape 4096x4096x4096 --json "$output/climb-4096.json"
