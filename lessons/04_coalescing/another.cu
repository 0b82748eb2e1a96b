// SPDX-License-Identifier: Apache-2.0
// A block of one dimension: the remainder is the column.
constexpr int kTile = 32;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.x * kTile + threadIdx.x / kTile;
  const int col = blockIdx.y * kTile + threadIdx.x % kTile;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((M + kTile - 1) / kTile, (N + kTile - 1) / kTile);
  product<<<grid, kTile * kTile>>>(A, B, C, M, N, K);
}
