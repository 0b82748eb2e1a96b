#!/usr/bin/env bash
# What each of r17's choices is worth: r17 in turn with copies of it in which one is undone (bench/h200/edits.py names them)
# and with cuBLAS. Writes results/h200/edits.csv (or the file named).
#   bench/h200/edits.sh [BUILD_FOLDER] [FILE.csv] [EDIT...]        default: all edits; with PREBUILT=1 nothing is built
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target edits
names=("${@:3}")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(bench/h200/edits.py list)
copies=("${names[@]/#/$build/bin/edits/}")
{
  echo "# $(bench/h200/environment.sh)"
  "$build/bin/bench_edits" "${copies[@]/%/.so}"
} | tee "${2:-results/h200/edits.csv}"
