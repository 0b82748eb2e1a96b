#!/usr/bin/env bash
# Compares PyTorch and CuPy on cuBLAS with the same over libladder_cublas.so, and writes
# results/h200/dropin.txt (or the given file).
#   bench/h200/dropin.sh [LIBLADDER_CUBLAS] [FILE]
set -euo pipefail
cd "$(dirname "$0")/../.."
{
  echo "# $(bench/h200/environment.sh)"
  python3 bench/python/dropin.py "${1:-build/lib/libladder_cublas.so}"
} | tee "${2:-results/h200/dropin.txt}"
