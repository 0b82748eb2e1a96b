// SPDX-License-Identifier: Apache-2.0
// 16 bytes per access; A lies transposed in shared memory.
constexpr int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);

__device__ float4 load4(const float* p, bool inside) {
  return inside ? *reinterpret_cast<const float4*>(p) : float4{};
}

__global__ void __launch_bounds__(kThreads)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float sA[BK][BM], sB[BK][BN];
  const int t = threadIdx.x;
  const int firstRow = blockIdx.y * BM, firstCol = blockIdx.x * BN;
  const int x = t % (BN / TN) * TN, y = t / (BN / TN) * TM;
  float sum[TM][TN] = {};
  for (int first = 0; first < K; first += BK) {
    for (int e = t; e < BM * BK / 4; e += kThreads) {
      const int r = e / (BK / 4), k = e % (BK / 4) * 4;
      const float4 v = load4(A + (firstRow + r) * K + first + k, firstRow + r < M && first + k < K);
      sA[k][r] = v.x;
      sA[k + 1][r] = v.y;
      sA[k + 2][r] = v.z;
      sA[k + 3][r] = v.w;
    }
    for (int e = t; e < BK * BN / 4; e += kThreads) {
      const int k = e / (BN / 4), c = e % (BN / 4) * 4;
      *reinterpret_cast<float4*>(&sB[k][c]) =
          load4(B + (first + k) * N + firstCol + c, first + k < K && firstCol + c < N);
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
      for (int i = 0; i < TM; ++i) rA[i] = sA[k][y + i];
      for (int j = 0; j < TN; ++j) rB[j] = sB[k][x + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] += rA[i] * rB[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; j += 4) {
      const int row = firstRow + y + i, col = firstCol + x + j;
      if (row < M && col < N)
        *reinterpret_cast<float4*>(C + row * N + col) =
            float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
    }
  }
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), kThreads>>>(A, B, C, M, N, K);
}
