#!/usr/bin/env bash
# Measures r20_fp8 and the library's ladder_fp8 on a Hopper GPU: verifies every case, runs
# compute-sanitizer, and measures them beside cuBLASLt's fp8 with the same scales.
#   bench/h200/fp8.sh LADDER [OUTPUT_FOLDER]               default: results/h200
# LADDER: a built program; nothing is built. Writes OUTPUT_FOLDER/fp8.json, and fp8-few.json with
# few rows and products of language models. SKIP_CHECKS=1: only measure.
set -euo pipefail
cd "$(dirname "$0")/../.."
ladder=$1
output=${2:-results/h200}
baselines=(cublaslt_fp8 cublaslt_fp8_f32 cublaslt_fp8_tensor)
kernels=(r20 ladder_fp8 ladder_fp8_f32 ladder_fp8_tensor ladder_fp8_e5m2 "${baselines[@]}")
mkdir -p "$output"
if [ "${SKIP_CHECKS:-0}" = 0 ]; then
  echo "--- every case"
  "$ladder" verify "${kernels[@]}" --device cuda:0 --battery full
  echo "--- compute-sanitizer"
  for tool in memcheck racecheck synccheck; do
    problems=(--battery quick)
    [ $tool != racecheck ] || problems=(--no-battery --shape 264x264x840)
    bench/h200/sanitize.sh "$tool" "$ladder" verify r20 ladder_fp8 --device cuda:0 \
      "${problems[@]}"
  done
fi
echo "--- measured"
"$ladder" bench "${kernels[@]}" --device cuda:0 --shape 1024,2048,4096,8192 \
  --save "$output/fp8.json"
shapes=16x24576x1536,64x4096x4096,64x14336x4096,128x4096x14336,512x7168x2048,4096x7168x2048
shapes+=,4096x4096x7168
"$ladder" bench ladder_fp8 ladder_fp8_f32 ladder_fp8_tensor "${baselines[@]}" --device cuda:0 \
  --shape "$shapes" --save "$output/fp8-few.json"
