#!/usr/bin/env bash
# Measures r12 beside cuBLAS over sizes and operation pairs, errors included, and writes results/h200/peak.csv (or the
# file named).
#   bench/h200/peak.sh [BUILD_FOLDER] [FILE.csv]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
cmake --build "$build" --target bench_peak
{
  echo "# $(bench/h200/environment.sh)"
  "$build/bin/bench_peak"
} | tee "${2:-results/h200/peak.csv}"
