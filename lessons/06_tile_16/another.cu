// SPDX-License-Identifier: Apache-2.0
// A block of one dimension; what lies outside is left out of the sum instead of filled with 0.
constexpr int TILE = 16;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[TILE * TILE], sB[TILE * TILE];
  const int t = threadIdx.x, x = t % TILE, y = t / TILE;
  const int row = blockIdx.x * TILE + y, col = blockIdx.y * TILE + x;
  float sum = 0.0f;
  for (int first = 0; first < K; first += TILE) {
    const int depth = K - first < TILE ? K - first : TILE;
    if (row < M && x < depth) sA[t] = A[row * K + first + x];
    if (col < N && y < depth) sB[t] = B[(first + y) * N + col];
    __syncthreads();
    if (row < M && col < N)
      for (int k = 0; k < depth; ++k) sum = fmaf(sA[y * TILE + k], sB[k * TILE + x], sum);
    if (first + TILE < K) __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((M + TILE - 1) / TILE, (N + TILE - 1) / TILE);
  product<<<grid, TILE * TILE>>>(A, B, C, M, N, K);
}
