// SPDX-License-Identifier: Apache-2.0
// Two tiles in turn: a warp writes the one that nobody reads. One barrier per tile is enough.
constexpr int TILE = 16;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[2][TILE][TILE], sB[2][TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int first = 0, now = 0; first < K; first += TILE, now ^= 1) {
    sA[now][y][x] = row < M && first + x < K ? A[row * K + first + x] : 0.0f;
    sB[now][y][x] = first + y < K && col < N ? B[(first + y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += sA[now][y][k] * sB[now][k][x];
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  product<<<grid, dim3(TILE, TILE)>>>(A, B, C, M, N, K);
}
