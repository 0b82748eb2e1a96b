#!/usr/bin/env bash
# Builds a program and writes what it prints to a file, below a line that says where and with what.
#   bench/h200/csv.sh PROGRAM BUILD_FOLDER FILE.csv        with PREBUILT=1 nothing is built
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$2" --target "$1"
{
  echo "# $(bench/h200/environment.sh)"
  "$2/bin/$1"
} | tee "$3"
