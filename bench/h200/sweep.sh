#!/usr/bin/env bash
# Measures kernels on random problems beside cuBLAS's SGEMM (docs/measurement.md states the
# distribution).
#   bench/h200/sweep.sh LADDER [--seeds LIST] [--problems N] [--kernels LIST] [--baseline KERNEL]
#                       [--output FOLDER] [--l2 warm|cold]
# LADDER: a built program; nothing is built. LIST: with commas. Defaults: seeds 1,2,3; 400 problems
# of each; ladder_ieee,ladder_auto; cublas_ieee; warm. FOLDER: by default results/<gpu>.
# Writes sweep-SEED.csv (rows), sweep.txt (quantiles and losers) and sweep-KERNEL.svg (a map of the
# ratios) to FOLDER. Exit status 1 if a kernel is wrong or was not measured.
set -euo pipefail
cd "$(dirname "$0")/../.."
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 1 ] && [ -x "$1" ] || usage
ladder=$1
shift
seeds=1,2,3
problems=400
kernels=ladder_ieee,ladder_auto
baseline=cublas_ieee
output=
l2=warm
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --seeds) seeds=$2 ;;
    --problems) problems=$2 ;;
    --kernels) kernels=$2 ;;
    --baseline) baseline=$2 ;;
    --output) output=$2 ;;
    --l2) l2=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$output" ]; then
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | sed 's/^NVIDIA //; s/ .*//')
  output=results/${gpu,,}
fi
mkdir -p "$output"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
files=()
IFS=, read -ra seed_list <<<"$seeds"
IFS=, read -ra kernel_list <<<"$kernels"
for seed in "${seed_list[@]}"; do
  echo "--- random:$seed:$problems"
  bench=("$ladder" bench "${kernel_list[@]}" --baseline "$baseline" --device cuda:0
    --suite "random:$seed:$problems" --l2 "$l2" --warm-up 0.03 --budget 0.025 --max-launch 10
    --save "$scratch/$seed.json")
  # The table is long. Exit status 1: some rows have no time, which the report says.
  "${bench[@]}" >"$scratch/log" 2>&1 || [ $? -eq 1 ] || { tail -n 20 "$scratch/log" >&2; exit 1; }
  bench/h200/sweep.py rows "$scratch/$seed.json" --seed "$seed" --l2 "$l2" \
    --into "$output/sweep-$seed.csv"
  files+=("$output/sweep-$seed.csv")
done
bench/h200/sweep.py report "${files[@]}" --into "$output" || status=$?
cat "$output/sweep.txt"
exit $status
