// SPDX-License-Identifier: Apache-2.0
// Waits for everything, then starts the next copies: one barrier per tile is enough.
constexpr int BM = 64, BN = 64, BK = 8, TM = 8, TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);

// Copies 16 bytes, or writes zeros if `inside` is false.
__device__ void copy16(float* s, const float* g, bool inside) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(s));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(g),
               "r"(inside ? 16 : 0)
               : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ void wait() {  // until at most N groups are under way
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__global__ void __launch_bounds__(kThreads)
    product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) float sA[2][BM][BK], sB[2][BK][BN];
  const int t = threadIdx.x;
  const int firstRow = blockIdx.y * BM, firstCol = blockIdx.x * BN;
  const int x = t % (BN / TN) * TN, y = t / (BN / TN) * TM;
  const auto copy = [&](int first, int stage) {
    for (int e = t; e < BM * BK / 4; e += kThreads) {
      const int r = e / (BK / 4), k = e % (BK / 4) * 4;
      const bool inside = firstRow + r < M && first + k < K;
      copy16(&sA[stage][r][k], inside ? A + (firstRow + r) * K + first + k : A, inside);
    }
    for (int e = t; e < BK * BN / 4; e += kThreads) {
      const int k = e / (BN / 4), c = e % (BN / 4) * 4;
      const bool inside = first + k < K && firstCol + c < N;
      copy16(&sB[stage][k][c], inside ? B + (first + k) * N + firstCol + c : B, inside);
    }
  };
  float sum[TM][TN] = {};
  copy(0, 0);
  commit();
  for (int first = 0, now = 0; first < K; first += BK, now ^= 1) {
    wait<0>();
    __syncthreads();
    if (first + BK < K) copy(first + BK, now ^ 1);
    commit();
    for (int k = 0; k < BK; ++k) {
      float rA[TM], rB[TN];
      for (int i = 0; i < TM; ++i) rA[i] = sA[now][y + i][k];
      for (int j = 0; j < TN; ++j) rB[j] = sB[now][k][x + j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] += rA[i] * rB[j];
    }
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
