// SPDX-License-Identifier: Apache-2.0
// Each thread computes a column of TM results.
constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
constexpr int kThreads = BM * BN / TM;
static_assert(kThreads == BM * BK && kThreads == BK * BN,
              "each thread copies one element of each tile");

__global__ void __launch_bounds__(kThreads)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[BM][BK], sB[BK][BN];
  const int t = threadIdx.x;
  const int firstRow = blockIdx.y * BM, firstCol = blockIdx.x * BN;
  const int copyRow = t / BK, copyK = t % BK;  // in the tile of A
  const int x = t % BN, y = t / BN;            // in the tiles of B and C
  float sum[TM] = {};
  for (int first = 0; first < K; first += BK) {
    const int row = firstRow + copyRow, col = firstCol + x;
    sA[copyRow][copyK] = row < M && first + copyK < K ? A[row * K + first + copyK] : 0.0f;
    sB[y][x] = first + y < K && col < N ? B[(first + y) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      const float b = sB[k][x];
      for (int i = 0; i < TM; ++i) sum[i] += sA[y * TM + i][k] * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    const int row = firstRow + y * TM + i, col = firstCol + x;
    if (row < M && col < N) C[row * N + col] = sum[i];
  }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), kThreads>>>(A, B, C, M, N, K);
}
