#!/usr/bin/env bash
# Cycles of the last rungs of Hopper's tensor cores beside cuBLAS's, launched in turn: writes
# results/h200/cycles.csv (or the file named).
#   bench/h200/cycles.sh [BUILD_FOLDER] [FILE.csv]
exec "$(dirname "$0")/csv.sh" bench_cycles "${1:-build}" "${2:-results/h200/cycles.csv}"
