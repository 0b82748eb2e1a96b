#!/usr/bin/env bash
# Measures the rate of every CUDA rung over N on an H200, beside cuBLAS in the rung's precision and
# types (split operands beside cuBLAS in FP32). Measures a second time to check that the results are
# reproducible.
#   bench/h200/sizes.sh [BUILD_FOLDER] [OUTPUT_FOLDER] [SHAPES]
# SHAPES: sides of cubes. The default is the powers of two from 128 to 16384, odd neighbours, and
# 4092, which published ladders use. A few sides (512,2048,4096) make a short trial.
# Writes OUTPUT_FOLDER/sizes-FAMILY.json (by default under results/h200; families: ieee, bf16, fp16,
# and split for FP32 operands on tensor cores), docs/images/sizes.svg if the output is the default,
# and OUTPUT_FOLDER/compare.txt. The latter has two comparisons per family. The first is a second
# run at powers of four up to 4096 and at 1025, of which 95% must be unchanged. In the
# second, all rungs are deliberately slowed by 5% at 4096, beside the same kernels, and each must be
# detected. Launches of over 0.2 s are left out, and the row says so (r01 above 2048, r02 and r03
# above 8192, r04 to r08 at 16384). A rung with wrong results ends the script with status 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/h200}
shapes=${3:-128,256,257,512,1024,1025,2048,4092,4096,8192,16384}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target ladder
mkdir -p "$output"
ladder=$build/bin/ladder
families=(ieee split bf16 fp16)
kernels_of() {
  "$ladder" list --json | python3 -c '
import json, sys
alone = {"cublas_" + kind for kind in ("ieee", "tf32", "bf16", "bf16_f32", "fp16", "fp16_f32")}
for k in json.load(sys.stdin):
    family = k["precision"] if k["precision"] in ("ieee", "bf16", "fp16") else "split"
    shown = k["role"] in ("rung", "library") or k["id"] in alone
    if k["place"] == "cuda" and family == sys.argv[1] and shown:
        print(k["id"])' "$1"
}
# bench FAMILY OPTION...
bench() {
  local kernels
  mapfile -t kernels < <(kernels_of "$1")
  "$ladder" bench "${kernels[@]}" --device cuda:0 --max-launch 0.2 --budget 0.12 "${@:2}"
}
# Those of these sizes that were requested.
of_shapes() { tr ',' '\n' <<<"$shapes" | grep -xE "$1" | paste -sd,; }

for family in "${families[@]}"; do
  bench "$family" --shape "$shapes" --save "$output/sizes-$family.json" || echo "(exit status 1)"
done
[ "$output" != results/h200 ] || \
  "$ladder" report "$output"/sizes-*.json --chart sizes --svg docs/images/sizes.svg
# compare SIDES OPTION...: every family measured again.
compare() {
  local family
  for family in "${families[@]}"; do
    bench "$family" --shape "$(of_shapes "$1")" --compare "$output/sizes-$family.json" "${@:2}" |
      sed -n '/^against/,$p' | sed "s#^against .*/sizes-#against sizes-#" || true
  done
}
{
  echo "# $(bench/h200/environment.sh)"
  echo "## the same again"
  compare '256|1024|1025|4096'
  echo "## every rung slowed by 5%"
  compare '4096' --handicap 5
} | tee "$output/compare.txt"
bench/h200/sizes_check.py "$output"
