#!/usr/bin/env bash
# Measures what the guard of precision auto costs: guarded and unguarded products and cuBLAS's FP32
# in rounds.
#   bench/h200/guard.sh [OUTPUT_FOLDER]                    default: results/h200
# Writes OUTPUT_FOLDER/guard.csv. Without git, set LADDER_COMMIT to the commit. BENCH=PROGRAM:
# builds nothing and runs this bench_guard.
set -euo pipefail
cd "$(dirname "$0")/../.."
output=${1:-results/h200}
build=build/guard
mkdir -p "$output"

if [ -z "${BENCH:-}" ]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    ${LADDER_COMMIT:+-DLADDER_COMMIT="$LADDER_COMMIT"} >/dev/null
  # progress is dropped, errors are not
  cmake --build "$build" --target bench_guard | sed '/^\[[0-9]*\/[0-9]*\]/d'
  BENCH=$(find "$build" -name bench_guard -type f -perm -u+x | head -n 1)
fi
# errors, too, are in the file
{ bench/h200/environment.sh | sed 's/^/# /'
  "$BENCH" 512x512x512 1024x1024x1024 2048x2048x2048 4096x4096x4096 8192x8192x8192
} 2>&1 | tee "$output/guard.csv"
