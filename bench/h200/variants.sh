#!/usr/bin/env bash
# Times the choices that the rungs' pages discuss and writes results/h200/variants.csv (or the file
# named).
#   bench/h200/variants.sh [BUILD_FOLDER] [FILE.csv]
exec "$(dirname "$0")/csv.sh" bench_variants "${1:-build}" "${2:-results/h200/variants.csv}"
