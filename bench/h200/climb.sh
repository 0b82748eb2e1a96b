#!/usr/bin/env bash
# Measures the ladder on an H200 and writes the rows that README and docs are made from.
#   bench/h200/climb.sh [BUILD_FOLDER] [OUTPUT_FOLDER]
# Writes OUTPUT_FOLDER/climb-4096.json (by default under results/h200), and rungs-f32.json and
# rungs-bf16.json: the last rungs at 4096 and 8192, with cuBLAS in the same rounds.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/h200}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target ladder
mkdir -p "$output"
"$build/bin/ladder" climb --device cuda:0 --shape 4096x4096x4096 --json "$output/climb-4096.json"
"$build/bin/ladder" bench r12 r18 r19 ladder_ieee ladder_auto --baseline cublas_ieee \
  --device cuda:0 --shape 4096,8192 --save "$output/rungs-f32.json"
"$build/bin/ladder" bench r16_persistent_bf16 r17_stream_k_bf16 --baseline cublas_bf16 \
  --device cuda:0 --shape 4096,8192 --save "$output/rungs-bf16.json"
