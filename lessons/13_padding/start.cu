// SPDX-License-Identifier: Apache-2.0
// Exercise 13: columns of the tile lie in one bank.
constexpr int TILE = 32, ROWS = 8;

__global__ void transpose(const float* A, float* B, int M, int N) {
  __shared__ float tile[TILE][TILE];
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < TILE; y += ROWS) {
    const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    if (row < M && col < N) tile[y][x] = A[row * N + col];
  }
  __syncthreads();
  for (int y = threadIdx.y; y < TILE; y += ROWS) {
    const int row = blockIdx.x * TILE + y, col = blockIdx.y * TILE + x;  // of B
    if (row < N && col < M) B[row * M + col] = tile[x][y];
  }
}

void launch(const float* A, float* B, int M, int N) {
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  transpose<<<grid, dim3(TILE, ROWS)>>>(A, B, M, N);
}
