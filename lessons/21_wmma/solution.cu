// SPDX-License-Identifier: Apache-2.0
// One warp per tile of 16 x 16.
#include <mma.h>

using namespace nvcuda;

__global__ void product(const __half* A, const __half* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16, col = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + row * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + col, N);
    wmma::mma_sync(c, a, b, c);
  }
  wmma::store_matrix_sync(C + row * N + col, c, N, wmma::mem_row_major);
}

void launch(const __half* A, const __half* B, float* C, int M, int N, int K) {
  product<<<dim3(N / 16, M / 16), 32>>>(A, B, C, M, N, K);
}
