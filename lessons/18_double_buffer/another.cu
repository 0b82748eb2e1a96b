// SPDX-License-Identifier: Apache-2.0
// The copies of the next tile come first, into the buffer that nobody reads.
constexpr int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);

__global__ void __launch_bounds__(kThreads)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[2][BM][BK], sB[2][BK][BN];
  const int t = threadIdx.x;
  const int firstRow = blockIdx.y * BM, firstCol = blockIdx.x * BN;
  const int x = t % (BN / TN) * TN, y = t / (BN / TN) * TM;  // the thread's results in the tile
  float sum[TM][TN] = {};
  for (int first = -BK, stage = 1; first < K; first += BK, stage ^= 1) {
    for (int e = t; e < BM * BK && first + BK < K; e += kThreads) {
      const int row = firstRow + e / BK, k = first + BK + e % BK;
      sA[stage ^ 1][e / BK][e % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int e = t; e < BK * BN && first + BK < K; e += kThreads) {
      const int k = first + BK + e / BN, col = firstCol + e % BN;
      sB[stage ^ 1][e / BN][e % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    for (int k = 0; k < BK && first >= 0; ++k) {
      float rA[TM], rB[TN];
      for (int i = 0; i < TM; ++i) rA[i] = sA[stage][y + i][k];
      for (int j = 0; j < TN; ++j) rB[j] = sB[stage][k][x + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] += rA[i] * rB[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) {
      const int row = firstRow + y + i, col = firstCol + x + j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
  }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), kThreads>>>(A, B, C, M, N, K);
}
