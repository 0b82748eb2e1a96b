#!/usr/bin/env bash
# What a product of bf16 costs in clocks and in power, part by part, beside the last rungs and
# cuBLAS: writes results/h200/power.csv (or the file named).
#   bench/h200/power.sh [BUILD_FOLDER] [FILE.csv]
exec "$(dirname "$0")/csv.sh" bench_power "${1:-build}" "${2:-results/h200/power.csv}"
