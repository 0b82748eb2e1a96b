#!/usr/bin/env bash
# Measures the rungs that split operands, on an H200: verifies every case, runs their tests of
# special values and the guard and compute-sanitizer, and measures them beside cuBLAS's FP32.
#   bench/h200/split.sh [OUTPUT_FOLDER]                    default: results/h200
# Writes OUTPUT_FOLDER/split.json and split-guarded.json (rows; fp16x3 and guarded also at 16384,
# and at 4096 by transposition and with odd leading dimensions), split-thin.json (C with few rows or
# columns, beta = 0 and 1), split-times.csv (split pre-passes and product of a call alone, and the
# call alternating with cuBLAS's, with B packed or not), mixed.csv (the library's selection against
# cuBLAS on the suite `mixed`) and atlas.json (errors). LADDER: the built program, default
# build/bin/ladder; test_split, bench_split and bench_mixed must be beside it. SKIP_CHECKS=1: only
# measure.
set -euo pipefail
cd "$(dirname "$0")/../.."
output=${1:-results/h200}
ladder=${LADDER:-build/bin/ladder}
rungs=(ladder_bf16x6 ladder_fp16x3 ladder_guarded ladder_split_k)
mkdir -p "$output"

programs=$(dirname "$ladder")

if [ "${SKIP_CHECKS:-0}" = 0 ]; then
  echo "--- every case"
  "$ladder" verify "${rungs[@]}" --device cuda:0 --battery full
  echo "--- special values and the guard"
  "$programs/test_split" --gtest_brief=1
  echo "--- compute-sanitizer"
  for tool in memcheck racecheck synccheck; do
    kernels=(ladder_fp16x3 ladder_fp16x3_fused ladder_split_k ladder_bf16x6)
    # racecheck reports false races behind barrier.arrive: docs/lab/guard-cost.md.
    [ $tool = racecheck ] || kernels+=(ladder_guarded)
    bench/h200/sanitize.sh "$tool" "$ladder" verify "${kernels[@]}" --device cuda:0 --battery quick
  done
  # A path that the battery's problems do not reach: the fused product.
  bench/h200/sanitize.sh racecheck "$programs/test_split" --gtest_brief=1 \
    --gtest_filter='Fused.*:GuardOfThin.*'
fi
echo "--- measured"
shapes=(1024 2048 4096 8192 4092)
all=("${shapes[@]}" 3072 8192x8192x1024 128x14336x4096)
"$ladder" bench ladder_fp16x3{,_fused} ladder_guarded --device cuda:0 "${all[@]/#/--shape=}" \
  --shape 16384 --suite layouts --budget 0.4 --save "$output/split-guarded.json"
"$ladder" bench ladder_fp16x3 ladder_guarded --device cuda:0 --suite thin --budget 0.4 \
  --save "$output/split-thin.json"
"$ladder" bench r18 r19 ladder_{bf16x6,bf16x9,bf16x3,tf32x3} --device cuda:0 \
  "${shapes[@]/#/--shape=}" --budget 0.4 \
  --save "$output/split.json"
if [ -x "$programs/bench_split" ]; then
  { bench/h200/environment.sh | sed 's/^/# /'
    "$programs/bench_split" {1024,2048}:{NN,NT} 4096:{NN,NT,TN,TT,NN+1,TT+1} {8192,16384}:NN \
        {64,128,512}x14336x4096:{NN,NT} 14336x128x4096:NN
  } >"$output/split-times.csv"
  cat "$output/split-times.csv"
else
  echo "no split-times.csv: there is no $programs/bench_split" >&2
fi
if [ -x "$programs/bench_mixed" ]; then
  # The exit status says whether a problem is slower by more than 5%; the output says which.
  { bench/h200/environment.sh | sed 's/^/# /'
    "$programs/bench_mixed" || true
  } >"$output/mixed.csv"
else
  echo "no mixed.csv: there is no $programs/bench_mixed" >&2
fi
echo "--- accuracy"
"$ladder" atlas --device cuda:0 --json "$output/atlas.json"
