// SPDX-License-Identifier: Apache-2.0
// Matrices of float4: columns are counted in fours, and a thread has 8 rows and 2 such columns.
constexpr int BM = 64, BN4 = 16, BK = 16, TM = 8;
constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads)
    product(const float4* A, const float4* B, float4* C, int M, int N4, int K4) {
  __shared__ float sA[BK][BM];
  __shared__ float4 sB[BK][BN4];
  const int t = threadIdx.x, x = t % 8, y = t / 8 * TM;
  float4 sum[TM][2] = {};
  for (int first = 0; first < 4 * K4; first += BK) {
    for (int e = t; e < BM * BK / 4; e += kThreads) {
      const int r = e % BM, k4 = e / BM, row = blockIdx.y * BM + r;
      const bool inside = row < M && first / 4 + k4 < K4;
      const float4 v = inside ? A[row * K4 + first / 4 + k4] : float4{};
      const float values[4] = {v.x, v.y, v.z, v.w};
      for (int i = 0; i < 4; ++i) sA[4 * k4 + i][r] = values[i];
    }
    for (int e = t; e < BK * BN4; e += kThreads) {
      const int k = first + e / BN4, c = blockIdx.x * BN4 + e % BN4;
      sB[e / BN4][e % BN4] = k < 4 * K4 && c < N4 ? B[k * N4 + c] : float4{};
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      const float4 b[2] = {sB[k][2 * x], sB[k][2 * x + 1]};
      for (int i = 0; i < TM; ++i) {
        const float a = sA[k][y + i];
        for (int j = 0; j < 2; ++j) {
          sum[i][j].x += a * b[j].x;
          sum[i][j].y += a * b[j].y;
          sum[i][j].z += a * b[j].z;
          sum[i][j].w += a * b[j].w;
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < 2; ++j) {
      const int row = blockIdx.y * BM + y + i, c = blockIdx.x * BN4 + 2 * x + j;
      if (row < M && c < N4) C[row * N4 + c] = sum[i][j];
    }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 grid((N / 4 + BN4 - 1) / BN4, (M + BM - 1) / BM);
  product<<<grid, kThreads>>>(reinterpret_cast<const float4*>(A),
                              reinterpret_cast<const float4*>(B), reinterpret_cast<float4*>(C), M,
                              N / 4, K / 4);
}
