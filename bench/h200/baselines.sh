#!/usr/bin/env bash
# Measures the baseline libraries on an H200: cuBLAS in each mode, cuBLASLt's best algorithm and, if
# installed for Python, PyTorch, Triton and GEMMul8 (GEMMUL8 names its library). Ladder's library is
# measured in the same rounds as those that emulate FP32. Then runs a user's own kernel and a
# profile, which need a GPU.
#   bench/h200/baselines.sh [BUILD_FOLDER] [OUTPUT_FOLDER]
# Writes OUTPUT_FOLDER/baselines.json, python.json, emulation-python.json (rows), own-kernel.txt and
# profile.txt (by default under results/h200). Without git, set LADDER_COMMIT to the commit.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/h200}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target ladder ladder_rungs
mkdir -p "$output"
ladder=$build/bin/ladder
status=0
LADDER_RUNGS=$(realpath "$build")/lib/libladder_rungs.so
export LADDER_RUNGS
"$ladder" bench cublas cublaslt --device cuda:0 --shape '256..8192*2' --budget 0.2 --save "$output/baselines.json" || status=1
python3 bench/python/baselines.py --shape 4096 --budget 0.3 --save "$output/python.json" \
  || [ $? -eq 3 ] || status=1
shapes=(1024 2048 4096 8192)
python3 bench/python/baselines.py "${shapes[@]/#/--shape=}" \
  --kernel torch_ieee --kernel triton_tf32x3 --kernel ladder_bf16x6 \
  --kernel ladder_fp16x3 --kernel ladder_guarded --kernel gemmul8 \
  --budget 0.3 --save "$output/emulation-python.json" \
  || [ $? -eq 3 ] || status=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$ladder" new r77_test -o "$scratch/r77_test.cu"
{
  echo "# $(bench/h200/environment.sh)"
  "$ladder" run "$scratch/r77_test.cu" --device cuda:0 --source .
} >"$output/own-kernel.txt" 2>&1 || status=1
{
  echo "# $(bench/h200/environment.sh)"
  "$ladder" profile r05 --shape 1024
} >"$output/profile.txt" 2>&1 || status=1
exit $status
