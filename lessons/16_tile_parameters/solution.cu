// SPDX-License-Identifier: Apache-2.0
// 11 x 12 tiles of 64 x 64 are one wave of 132 blocks.
constexpr int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);

__global__ void __launch_bounds__(kThreads)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[BM][BK], sB[BK][BN];
  const int t = threadIdx.x;
  const int firstRow = blockIdx.y * BM, firstCol = blockIdx.x * BN;
  const int x = t % (BN / TN) * TN, y = t / (BN / TN) * TM;  // the thread's results in the tile
  float sum[TM][TN] = {};
  for (int first = 0; first < K; first += BK) {
    for (int e = t; e < BM * BK; e += kThreads) {
      const int row = firstRow + e / BK, k = first + e % BK;
      sA[e / BK][e % BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int e = t; e < BK * BN; e += kThreads) {
      const int k = first + e / BN, col = firstCol + e % BN;
      sB[e / BN][e % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
      for (int i = 0; i < TM; ++i) rA[i] = sA[y + i][k];
      for (int j = 0; j < TN; ++j) rB[j] = sB[k][x + j];
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
