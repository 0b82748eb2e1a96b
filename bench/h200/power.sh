#!/usr/bin/env bash
# What a product of bf16 costs in clocks and in power, part by part, beside the last rungs and cuBLAS: writes
# results/h200/power.csv (or the file named).
#   bench/h200/power.sh [BUILD_FOLDER] [FILE.csv]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
file=${2:-results/h200/power.csv}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target bench_power
{
  echo "# $(bench/h200/environment.sh)"
  "$build/bin/bench_power"
} | tee "$file"
