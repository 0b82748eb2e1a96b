// SPDX-License-Identifier: Apache-2.0
// Tiles of 8 x 32, four warps of a block below each other; 16 x 16 for what is left of N.
#include <mma.h>

namespace w = nvcuda::wmma;

__global__ void product(const __half* A, const __half* B, float* C, int M, int N, int K) {
  const int row = (blockIdx.x * 4 + threadIdx.y) * 8, col = blockIdx.y * 32;
  if (row >= M || col >= N) return;
  w::fragment<w::accumulator, 8, 32, 16, float> c;
  w::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    w::fragment<w::matrix_a, 8, 32, 16, __half, w::row_major> a;
    w::fragment<w::matrix_b, 8, 32, 16, __half, w::row_major> b;
    w::load_matrix_sync(a, A + row * K + k, K);
    w::load_matrix_sync(b, B + k * N + col, N);
    w::mma_sync(c, a, b, c);
  }
  w::store_matrix_sync(C + row * N + col, c, N, w::mem_row_major);
}

__global__ void narrow(const __half* A, const __half* B, float* C, int N, int K, int col) {
  const int row = blockIdx.x * 16;
  w::fragment<w::accumulator, 16, 16, 16, float> c;
  w::fill_fragment(c, 0.0f);
  for (int k = 0; k < K; k += 16) {
    w::fragment<w::matrix_a, 16, 16, 16, __half, w::row_major> a;
    w::fragment<w::matrix_b, 16, 16, 16, __half, w::row_major> b;
    w::load_matrix_sync(a, A + row * K + k, K);
    w::load_matrix_sync(b, B + k * N + col, N);
    w::mma_sync(c, a, b, c);
  }
  w::store_matrix_sync(C + row * N + col, c, N, w::mem_row_major);
}

void launch(const __half* A, const __half* B, float* C, int M, int N, int K) {
  const int wide = N / 32 * 32;
  if (wide > 0) product<<<dim3((M / 8 + 3) / 4, wide / 32), dim3(32, 4)>>>(A, B, C, M, N, K);
  if (wide < N) narrow<<<M / 16, 32>>>(A, B, C, N, K, wide);
}
