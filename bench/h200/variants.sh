#!/usr/bin/env bash
# Times the choices that the rungs' pages discuss and writes results/h200/variants.csv (or the file named).
#   bench/h200/variants.sh [BUILD_FOLDER] [FILE.csv]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target bench_variants
{
  echo "# $(bench/h200/environment.sh)"
  "$build/bin/bench_variants"
} | tee "${2:-results/h200/variants.csv}"
