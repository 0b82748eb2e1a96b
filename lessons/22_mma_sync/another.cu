// SPDX-License-Identifier: Apache-2.0
// Two tiles beside each other: the fragment of A is used twice. Pairs of A by 32-bit loads.
#include <cuda_fp16.h>

__device__ void mma(float* d, const unsigned* a, unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void product(const __half* A, const __half* B, float* C, int M, int N, int K) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * 16 + lane / 4, first = blockIdx.y * 16;
  float d[2][4] = {};
  for (int k = lane % 4 * 2; k < K; k += 16) {
    unsigned a[4];
    for (int i = 0; i < 4; ++i)
      a[i] = *reinterpret_cast<const unsigned*>(A + (row + i % 2 * 8) * K + k + i / 2 * 8);
    for (int tile = 0; tile < 2; ++tile) {
      const int col = first + 8 * tile + lane / 4;
      if (first + 8 * tile >= N) continue;  // the same for all lanes
      __half b[4];
      for (int i = 0; i < 4; ++i) b[i] = B[(k + i / 2 * 8 + i % 2) * N + col];
      const __half2 low = __halves2half2(b[0], b[1]), high = __halves2half2(b[2], b[3]);
      mma(d[tile], a, *reinterpret_cast<const unsigned*>(&low),
          *reinterpret_cast<const unsigned*>(&high));
    }
  }
  for (int tile = 0; tile < 2; ++tile)
    for (int i = 0; i < 4; ++i) {
      const int col = first + 8 * tile + lane % 4 * 2 + i % 2;
      if (col < N) C[(row + i / 2 * 8) * N + col] = d[tile][i];
    }
}

void launch(const __half* A, const __half* B, float* C, int M, int N, int K) {
  product<<<dim3(M / 16, (N + 15) / 16), 32>>>(A, B, C, M, N, K);
}
