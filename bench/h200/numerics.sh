#!/usr/bin/env bash
# Runs tests/golden/tensor_cores on an H200 and writes what its tensor cores compute: hashes by
# instruction, kind of input and seed. Seconds on the GPU.
#   bench/h200/numerics.sh [BUILD_FOLDER] [FILE]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
cmake --build "$build" --target tensor_cores
"$build/bin/tensor_cores" > "${2:-tests/golden/tensor_cores.h200.txt}"
