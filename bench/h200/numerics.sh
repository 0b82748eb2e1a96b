#!/usr/bin/env bash
# Runs tests/golden/tensor_cores and tests/golden/sparse_cores on an H200 and writes what
# the tensor cores compute: hashes by instruction, kind of input and seed. Seconds on the GPU.
#   bench/h200/numerics.sh [BUILD_FOLDER] [FILE] [FILE_OF_SPARSE_PRODUCTS]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
cmake --build "$build" --target tensor_cores sparse_cores
"$build/bin/tensor_cores" > "${2:-tests/golden/tensor_cores.h200.txt}"
"$build/bin/sparse_cores" > "${3:-tests/golden/sparse_cores.h200.txt}"
