// SPDX-License-Identifier: Apache-2.0
// Exercise 21: 16-bit inputs, CUDA cores.
#include <cuda_fp16.h>

__global__ void product(const __half* A, const __half* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
  C[row * N + col] = sum;
}

void launch(const __half* A, const __half* B, float* C, int M, int N, int K) {
  product<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
