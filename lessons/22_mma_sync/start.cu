// SPDX-License-Identifier: Apache-2.0
// Exercise 22: some numbers are in the wrong registers.
#include <cuda_fp16.h>

// d += a b for a tile of 16 x 8 x 16.
__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ unsigned pair(__half low, __half high) {
  return __half_as_ushort(low) | static_cast<unsigned>(__half_as_ushort(high)) << 16;
}

__global__ void product(const __half* A, const __half* B, float* C, int M, int N, int K) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int row = blockIdx.y * 16, col = blockIdx.x * 8;
  float d[4] = {};
  for (int k = 0; k < K; k += 16) {
    const __half* a = A + (row + g) * K + k + 2 * t;  // two neighbours per register
    const unsigned rA[4] = {pair(a[0], a[1]), pair(a[8 * K], a[8 * K + 1]), pair(a[8], a[9]),
                            pair(a[8 * K + 8], a[8 * K + 9])};
    const __half* b = B + (k + 2 * t) * N + col + g;  // B's two numbers
    const unsigned rB[2] = {pair(b[0], b[1]), pair(b[8], b[9])};
    mma(d, rA, rB);
  }
  float* c = C + (row + g) * N + col + 2 * t;
  c[0] = d[0], c[1] = d[1];
  c[8 * N] = d[2], c[8 * N + 1] = d[3];
}

void launch(const __half* A, const __half* B, float* C, int M, int N, int K) {
  product<<<dim3(N / 8, M / 16), 32>>>(A, B, C, M, N, K);
}
