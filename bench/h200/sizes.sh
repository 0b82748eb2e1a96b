#!/usr/bin/env bash
# Measures how the rate of every CUDA rung grows with N on an H200, each beside cuBLAS in its own
# precision and types (r18 to r21 beside cuBLAS in FP32), and again to see that nothing has changed.
#   bench/h200/sizes.sh [BUILD_FOLDER] [OUTPUT_FOLDER] [SHAPES]
# SHAPES: sides of cubes; by default the powers of two from 128 to 16384 and odd neighbours, with
# the published ladders' 4092. A few (512,2048,4096) make a brief try.
# Writes OUTPUT_FOLDER/sizes.json (by default under results/h200), docs/images/sizes.svg where the
# output is the default, and OUTPUT_FOLDER/compare.txt: a second run at powers of four up to 4096
# and at 1025 against the first, of which 95% must be the same; and all rungs slowed by 5% on
# purpose at 4096, beside the same kernels, every one of which must be found. One rule limits slow
# rungs: where a launch would take over 0.2 s it is left out, and the row says so (r01 above 2048,
# r02 and r03 above 8192, r04 to r08 at 16384). A rung that is wrong ends it with status 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/h200}
shapes=${3:-128,256,257,512,1024,1025,2048,4092,4096,8192,16384}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target ladder
mkdir -p "$output"
ladder=$build/bin/ladder
mapfile -t kernels < <("$ladder" list --json | python3 -c '
import json, sys
cuda = [k for k in json.load(sys.stdin) if k["place"] == "cuda"]
alone = {"cublas_" + kind for kind in ("ieee", "tf32", "bf16", "bf16_f32", "fp16", "fp16_f32")}
print(*(k["id"] for k in cuda if k["role"] in ("rung", "library") or k["id"] in alone), sep="\n")')
bench() { "$ladder" bench --device cuda:0 --max-launch 0.2 --budget 0.12 "$@"; }
# Those of the sizes that are named here.
of_shapes() { tr ',' '\n' <<<"$shapes" | grep -xE "$1" | paste -sd,; }

bench "${kernels[@]}" --shape "$shapes" --save "$output/sizes.json" || echo "(exit status 1)"
[ "$output" != results/h200 ] || "$ladder" report "$output/sizes.json" --chart sizes --svg docs/images/sizes.svg
against() { sed -n '/^against/,$p' | sed "s#^against .*/sizes.json#against sizes.json#"; }
{
  echo "# $(bench/h200/environment.sh)"
  echo "## the same again"
  bench "${kernels[@]}" --shape "$(of_shapes '256|1024|1025|4096')" --compare "$output/sizes.json" | against || true
  echo "## every rung slowed by 5%"
  bench "${kernels[@]}" --shape "$(of_shapes '4096')" --handicap 5 \
    --compare "$output/sizes.json" | against || true
} | tee "$output/compare.txt"
bench/h200/sizes_check.py "$output"
