#!/usr/bin/env bash
# Measures r20_fp8 on a Hopper GPU: verifies every case, runs compute-sanitizer, and measures it
# beside cuBLASLt's fp8 with the same scales.
#   bench/h200/fp8.sh LADDER [OUTPUT_FOLDER]               default: results/h200
# LADDER: a built program; nothing is built. Writes OUTPUT_FOLDER/fp8.json. SKIP_CHECKS=1: only
# measure.
set -euo pipefail
cd "$(dirname "$0")/../.."
ladder=$1
output=${2:-results/h200}
kernels=(r20 cublaslt_fp8 cublaslt_fp8_f32 cublaslt_fp8_tensor)
mkdir -p "$output"
if [ "${SKIP_CHECKS:-0}" = 0 ]; then
  echo "--- every case"
  "$ladder" verify "${kernels[@]}" --device cuda:0 --battery full
  echo "--- compute-sanitizer"
  for tool in memcheck racecheck synccheck; do
    problems=(--battery quick)
    [ $tool != racecheck ] || problems=(--no-battery --shape 264x264x840)
    bench/h200/sanitize.sh "$tool" "$ladder" verify r20 --device cuda:0 "${problems[@]}"
  done
fi
echo "--- measured"
"$ladder" bench "${kernels[@]}" --device cuda:0 --shape 1024,2048,4096,8192 \
  --save "$output/fp8.json"
