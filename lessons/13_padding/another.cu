// SPDX-License-Identifier: Apache-2.0
// The tile is written by columns and read by rows; the padding is the same.
constexpr int SIDE = 32;

__global__ void transpose(const float* A, float* B, int M, int N) {
  extern __shared__ float tile[];  // SIDE rows, SIDE + 1 words apart
  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  const int row = blockIdx.x * SIDE + y, col = blockIdx.y * SIDE + x;
  if (row < M && col < N) tile[x * (SIDE + 1) + y] = A[row * N + col];
  __syncthreads();
  const int turned = blockIdx.y * SIDE + y, other = blockIdx.x * SIDE + x;
  if (turned < N && other < M) B[turned * M + other] = tile[y * (SIDE + 1) + x];
}

void launch(const float* A, float* B, int M, int N) {
  const dim3 grid((M + SIDE - 1) / SIDE, (N + SIDE - 1) / SIDE);
  transpose<<<grid, SIDE * SIDE, SIDE*(SIDE + 1) * sizeof(float)>>>(A, B, M, N);
}
