#!/usr/bin/env bash
# Measures every plan that the planner considers for FP32 on CUDA cores, beside cuBLAS, on random
# problems.
#   bench/h200/thin.sh BUILD [--suite SUITE] [--candidates N] [--output FOLDER]
# BUILD: a folder with bin/ladder. Defaults: random:1:400; 16; results/<gpu>. Writes plans.csv and
# plans.txt (for LADDER_PLANS) to FOLDER.
set -euo pipefail
cd "$(dirname "$0")/../.."
usage() { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ $# -ge 1 ] && [ -x "$1/bin/ladder" ] || usage
build=$1
shift
suite=random:1:400
candidates=16
output=
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --suite) suite=$2 ;;
    --candidates) candidates=$2 ;;
    --output) output=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$output" ]; then
  gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | sed 's/^NVIDIA //; s/ .*//')
  output=results/${gpu,,}
fi
mkdir -p "$output"
"$build/bin/ladder" tune --suite "$suite" --device cuda:0 --candidates "$candidates" \
  --rows "$output/plans.csv" --output "$output/plans.txt"
