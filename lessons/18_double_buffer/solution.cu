// SPDX-License-Identifier: Apache-2.0
// While the products of one tile are made, the numbers of the next are on their way to registers.
constexpr int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kEachA = BM * BK / kThreads, kEachB = BK * BN / kThreads;

__global__ void __launch_bounds__(kThreads)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[2][BM][BK], sB[2][BK][BN];
  const int t = threadIdx.x;
  const int firstRow = blockIdx.y * BM, firstCol = blockIdx.x * BN;
  const int x = t % (BN / TN) * TN, y = t / (BN / TN) * TM;
  float nextA[kEachA], nextB[kEachB];
  const auto load = [&](int first) {
    for (int i = 0; i < kEachA; ++i) {
      const int e = t + i * kThreads, row = firstRow + e / BK, k = first + e % BK;
      nextA[i] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int i = 0; i < kEachB; ++i) {
      const int e = t + i * kThreads, k = first + e / BN, col = firstCol + e % BN;
      nextB[i] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
  };
  const auto store = [&](int stage) {
    for (int i = 0; i < kEachA; ++i) {
      const int e = t + i * kThreads;
      sA[stage][e / BK][e % BK] = nextA[i];
    }
    for (int i = 0; i < kEachB; ++i) {
      const int e = t + i * kThreads;
      sB[stage][e / BN][e % BN] = nextB[i];
    }
  };
  float sum[TM][TN] = {};
  load(0);
  store(0);
  __syncthreads();
  for (int first = 0, now = 0; first < K; first += BK, now ^= 1) {
    const bool more = first + BK < K;
    if (more) load(first + BK);
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
      for (int i = 0; i < TM; ++i) rA[i] = sA[now][y + i][k];
      for (int j = 0; j < TN; ++j) rB[j] = sB[now][k][x + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] += rA[i] * rB[j];
    }
    if (more) store(now ^ 1);
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
