// SPDX-License-Identifier: Apache-2.0
// Exercise 04: right, but a warp's accesses are scattered.
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(32, 8);
  const dim3 grid((M + 31) / 32, (N + 7) / 8);
  product<<<grid, block>>>(A, B, C, M, N, K);
}
