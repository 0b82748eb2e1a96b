#!/usr/bin/env bash
# Measures ladder_large_tiles beside cuBLAS over sizes and operation pairs, errors included. Writes
# results/h200/peak.csv (or the file named), and its table into docs/library/large-tiles.md if the
# output is the default.
#   bench/h200/peak.sh [BUILD_FOLDER] [FILE.csv]
set -euo pipefail
cd "$(dirname "$0")/../.."
file=${2:-results/h200/peak.csv}
bench/h200/csv.sh peak "${1:-build}" "$file"
[ "$file" != results/h200/peak.csv ] || bench/h200/peak_table.py
