// SPDX-License-Identifier: Apache-2.0
// A block of 16 x 16 threads with 4 x 4 results each; A lies transposed.
constexpr int BM = 64, BN = 64, BK = 16, kSide = 16, kEach = 4;

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float sA[BK][BM + 4], sB[BK][BN];
  const int x = threadIdx.x, y = threadIdx.y, t = y * kSide + x;
  float sum[kEach][kEach] = {};
  for (int first = 0; first < K; first += BK) {
    for (int e = t; e < BM * BK; e += kSide * kSide) {
      const int row = blockIdx.y * BM + e / BK, k = first + e % BK;
      sA[e % BK][e / BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int e = t; e < BK * BN; e += kSide * kSide) {
      const int k = first + e / BN, col = blockIdx.x * BN + e % BN;
      sB[e / BN][e % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float rA[kEach], rB[kEach];
      for (int i = 0; i < kEach; ++i) rA[i] = sA[k][y * kEach + i];
      for (int j = 0; j < kEach; ++j) rB[j] = sB[k][x * kEach + j];
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sum[i][j] = fmaf(rA[i], rB[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j) {
      const int row = blockIdx.y * BM + y * kEach + i, col = blockIdx.x * BN + x * kEach + j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), dim3(kSide, kSide)>>>(A, B, C, M, N, K);
}
