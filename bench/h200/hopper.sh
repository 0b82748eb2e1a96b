#!/usr/bin/env bash
# Measures the kernels for 16-bit and tf32 operands on an H200: verifies every case, runs
# compute-sanitizer, counts the instructions that the pages mention, and measures the kernels beside
# cuBLAS.
#   bench/h200/hopper.sh [OUTPUT_FOLDER] [KERNEL...]
# Default: results/h200; r13 to r17 and the library's kernels. Writes rows to OUTPUT_FOLDER:
# hopper.json (4096; r16, r17 and the library's also 8192), hopper-ragged.json (the library's on
# problems where other kernels leave SMs idle; short kernels are replayed from a graph) and
# hopper-16384.json. With the checks, and if cuobjdump is installed, it also writes hopper-sass.txt.
# LADDER: the built program, default build/bin/ladder. SKIP_CHECKS=1: only measure. ONLY_RAGGED=1:
# measure only hopper-ragged.json. SKIP_LARGE=1: omit 16384.
set -euo pipefail
cd "$(dirname "$0")/../.."
output=${1:-results/h200}
ladder=${LADDER:-build/bin/ladder}
library=(ladder_bf16 ladder_bf16_f32 ladder_fp16 ladder_fp16_f32 ladder_tf32)
kernels=("${@:2}")
[ ${#kernels[@]} -gt 0 ] || kernels=(r13 r14 r15 r16 r17 "${library[@]}")
mkdir -p "$output"

if [ "${SKIP_CHECKS:-0}" = 0 ]; then
  echo "--- every case"
  "$ladder" verify "${kernels[@]}" --device cuda:0 --battery full
  echo "--- compute-sanitizer"
  # racecheck would take minutes for the battery. It gets one problem with several tiles and more
  # main-loop steps than the pipeline has stages.
  for tool in memcheck racecheck synccheck; do
    problems=(--battery quick)
    [ $tool != racecheck ] || problems=(--no-battery --shape 264x264x840)
    bench/h200/sanitize.sh "$tool" "$ladder" verify "${kernels[@]}" --device cuda:0 "${problems[@]}"
  done
fi
if [ "${SKIP_CHECKS:-0}" = 0 ] && command -v cuobjdump >/dev/null; then
  echo "--- instructions of each kernel"
  cuobjdump -sass "$ladder" | awk '
    /Function :/ { name = $3 }
    BEGIN { names = "(HGMMA|HMMA|UTMALDG|UTMASTG|LDSM|STSM|LDGSTS|SYNCS|MEMBAR)[A-Z0-9_.x]*" }
    name ~ /r1[3-7]/ && match($0, names) {
      count[name " " substr($0, RSTART, RLENGTH)]++
    }
    END { for (key in count) print key, count[key] }' | sort >"$output/hopper-sass.txt"
  wc -l <"$output/hopper-sass.txt"
fi
echo "--- measured"
ragged=3072,1000,1001,4088,4092,64x64x65536,128x14336x4096,4096x64x4096
"$ladder" bench "${library[@]}" --device cuda:0 --shape "$ragged" --budget 0.3 \
  --save "$output/hopper-ragged.json"
[ "${ONLY_RAGGED:-0}" = 0 ] || exit 0
"$ladder" bench "${kernels[@]}" --device cuda:0 --shape 4096 --battery quick \
  --save "$output/hopper.json"
large=()
for kernel in "${kernels[@]}"; do
  case $kernel in r16*|r17*|ladder*) large+=("$kernel");; esac
done
[ ${#large[@]} -gt 0 ] || exit 0
at_8192=$(mktemp)
"$ladder" bench "${large[@]}" --device cuda:0 --shape 8192 --save "$at_8192"
python3 - "$output/hopper.json" "$at_8192" <<'PYTHON'
import json, sys
sys.path.insert(0, "bench")
import whole_file
first, second = (json.load(open(name)) for name in sys.argv[1:])
first["rows"] += second["rows"]
whole_file.replace(sys.argv[1], json.dumps(first, separators=(",", ":")))
PYTHON
rm -f "$at_8192"
[ "${SKIP_LARGE:-0}" = 1 ] || \
  "$ladder" bench r16_persistent_bf16 ladder_bf16 --device cuda:0 --shape 16384 --save "$output/hopper-16384.json"
