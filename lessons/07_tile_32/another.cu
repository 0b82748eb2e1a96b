// SPDX-License-Identifier: Apache-2.0
// Half as many threads: each computes two rows of the tile.
constexpr int TILE = 32, ROWS = 2;

__global__ void __launch_bounds__(512, 4)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[TILE][TILE], sB[TILE][TILE];
  const int x = threadIdx.x, col = blockIdx.x * TILE + x;
  float sum[ROWS] = {};
  for (int first = 0; first < K; first += TILE) {
    for (int y = threadIdx.y; y < TILE; y += TILE / ROWS) {
      const int row = blockIdx.y * TILE + y;
      sA[y][x] = row < M && first + x < K ? A[row * K + first + x] : 0.0f;
      sB[y][x] = first + y < K && col < N ? B[(first + y) * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      for (int i = 0; i < ROWS; ++i) sum[i] += sA[threadIdx.y + i * TILE / ROWS][k] * sB[k][x];
    __syncthreads();
  }
  for (int i = 0; i < ROWS; ++i) {
    const int row = blockIdx.y * TILE + threadIdx.y + i * TILE / ROWS;
    if (row < M && col < N) C[row * N + col] = sum[i];
  }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  product<<<grid, dim3(TILE, TILE / ROWS)>>>(A, B, C, M, N, K);
}
