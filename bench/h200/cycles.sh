#!/usr/bin/env bash
# Measures the cycles of the last tensor-core rungs for Hopper and of cuBLAS, launched alternately,
# and writes results/h200/cycles.csv (or the given file).
#   bench/h200/cycles.sh [BUILD_FOLDER] [FILE.csv]
exec "$(dirname "$0")/csv.sh" bench_cycles "${1:-build}" "${2:-results/h200/cycles.csv}"
