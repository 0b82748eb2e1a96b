#!/usr/bin/env bash
# Measures clock and power of a bf16 product, part by part, beside the last rungs and cuBLAS, and
# writes results/h200/power.csv (or the given file).
#   bench/h200/power.sh [BUILD_FOLDER] [FILE.csv]
exec "$(dirname "$0")/csv.sh" bench_power "${1:-build}" "${2:-results/h200/power.csv}"
