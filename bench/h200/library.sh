#!/usr/bin/env bash
# Checks and times libladder beside cuBLAS (captures, host time per call, 10,000 random calls,
# threads) and writes results/h200/library.txt (or the given file).
#   bench/h200/library.sh [BUILD_FOLDER] [FILE]
exec "$(dirname "$0")/csv.sh" bench_library "${1:-build}" "${2:-results/h200/library.txt}"
