#!/usr/bin/env bash
# Verifies and times the kernels of every GPU on this machine's GPU: the CUDA-core kernel for any
# stride, and the products of terms through mma.sync, beside cuBLAS. The rates say which shares of
# the peaks src/gemm/plan/costs.inc should assume (rows every_gpu).
#   bench/every_gpu.sh [LADDER] [ROWS]           default: build/bin/ladder build/every_gpu.json
set -euo pipefail
cd "$(dirname "$0")/.."
ladder=${1:-build/bin/ladder} rows=${2:-build/every_gpu.json}
kernels=(ladder_strided ladder_mma_bf16x6 ladder_mma_bf16x3 ladder_mma_tf32x3)
"$ladder" verify "${kernels[@]}" --device cuda:0 --battery full
"$ladder" bench "${kernels[@]}" cublas_ieee --device cuda:0 --shape 1024 --shape 2048 --shape 4096 \
  --shape 8192 --json "$rows"
