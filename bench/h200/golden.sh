#!/usr/bin/env bash
# Measures the golden counters with Nsight Compute on an H200 and writes tests/golden/h200.csv (or
# the file named).
#   bench/h200/golden.sh [BUILD_FOLDER] [FILE.csv]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target golden_launch
python3 tests/golden/golden.py collect --launcher "$build/bin/golden_launch" \
  --golden "${2:-tests/golden/h200.csv}" \
  --environment "$(bench/h200/environment.sh)"
