// SPDX-License-Identifier: Apache-2.0
// The second barrier keeps the next tile out until all have used this one.
constexpr int TILE = 16;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[TILE][TILE], sB[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * TILE + y;
  const int col = blockIdx.x * TILE + x;
  float sum = 0.0f;
  for (int first = 0; first < K; first += TILE) {
    sA[y][x] = row < M && first + x < K ? A[row * K + first + x] : 0.0f;
    sB[y][x] = first + y < K && col < N ? B[(first + y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += sA[y][k] * sB[k][x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(TILE, TILE);
  const dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  product<<<grid, block>>>(A, B, C, M, N, K);
}
