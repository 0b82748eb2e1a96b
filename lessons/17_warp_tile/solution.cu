// SPDX-License-Identifier: Apache-2.0
// Warps of 4 x 8 lanes; a lane has squares of 4 x 4, which are 16 rows and 32 columns apart.
constexpr int BM = 64, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);

__global__ void __launch_bounds__(kThreads)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float sA[BK][BM], sB[BK][BN];
  const int t = threadIdx.x;
  const int firstRow = blockIdx.y * BM, firstCol = blockIdx.x * BN;
  const int warp = t / 32, lane = t % 32;
  const int x = warp % 2 * 64 + lane % 8 * 4;  // and 32 columns on
  const int y = warp / 2 * 32 + lane / 8 * 4;  // and 16 rows on
  float sum[TM][TN] = {};
  for (int first = 0; first < K; first += BK) {
    for (int e = t; e < BM * BK; e += kThreads) {
      const int row = firstRow + e / BK, k = first + e % BK;
      sA[e % BK][e / BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int e = t; e < BK * BN; e += kThreads) {
      const int k = first + e / BN, col = firstCol + e % BN;
      sB[e / BN][e % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
      for (int i = 0; i < TM; ++i) rA[i] = sA[k][y + i % 4 + i / 4 * 16];
      for (int j = 0; j < TN; ++j) rB[j] = sB[k][x + j % 4 + j / 4 * 32];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] += rA[i] * rB[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) {
      const int row = firstRow + y + i % 4 + i / 4 * 16, col = firstCol + x + j % 4 + j / 4 * 32;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), kThreads>>>(A, B, C, M, N, K);
}
