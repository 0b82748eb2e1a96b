#!/usr/bin/env bash
# Builds and runs bench_NAME (library, peak, split) and writes its output to a file, below a line
# that states the machine and the versions.
#   bench/h200/csv.sh NAME [BUILD_FOLDER] [FILE] [ARGUMENT...]
# Default: build, results/h200/NAME.csv, no arguments.
# PREBUILT=1: builds nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${2:-build}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target "bench_$1"
{
  echo "# $(bench/h200/environment.sh)"
  "$build/bin/bench_$1" "${@:4}"
} | tee "${3:-results/h200/$1.csv}"
