// SPDX-License-Identifier: Apache-2.0
// The results of a thread are BM / TM rows apart, and A lies transposed in shared memory.
constexpr int BM = 64, BN = 64, BK = 16, TM = 16;
constexpr int kThreads = BM * BN / TM, kStep = BM / TM;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[BK][BM], sB[BK][BN];
  const int x = threadIdx.x, y = threadIdx.y;
  const int t = y * BN + x, col = blockIdx.x * BN + x;
  float sum[TM] = {};
  for (int first = 0; first < K; first += BK) {
    for (int e = t; e < BM * BK; e += kThreads) {
      const int row = blockIdx.y * BM + e / BK, k = first + e % BK;
      sA[e % BK][e / BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int k = y; k < BK; k += kStep)
      sB[k][x] = first + k < K && col < N ? B[(first + k) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < BK; ++k)
      for (int i = 0; i < TM; ++i) sum[i] += sA[k][y * TM + i] * sB[k][x];
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    const int row = blockIdx.y * BM + y * TM + i;
    if (row < M && col < N) C[row * N + col] = sum[i];
  }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), dim3(BN, kStep)>>>(A, B, C, M, N, K);
}
