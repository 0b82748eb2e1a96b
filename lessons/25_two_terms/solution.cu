// SPDX-License-Identifier: Apache-2.0
// Two terms, three products; the small ones first.

__device__ unsigned rounded(float x) {  // to tf32: 10 bits behind the point
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

// d += a b for a tile of 16 x 8 x 8, of tf32 numbers.
__device__ void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int row = blockIdx.y * 16 + g, col = blockIdx.x * 8;
  float d[4] = {};
  for (int k = 0; k < K; k += 8) {
    const float a[4] = {A[row * K + k + t], A[(row + 8) * K + k + t], A[row * K + k + t + 4],
                        A[(row + 8) * K + k + t + 4]};
    const float b[2] = {B[(k + t) * N + col + g], B[(k + t + 4) * N + col + g]};
    unsigned aHigh[4], aLow[4], bHigh[2], bLow[2];
    for (int i = 0; i < 4; ++i) {
      aHigh[i] = rounded(a[i]);
      aLow[i] = rounded(a[i] - __uint_as_float(aHigh[i]));
    }
    for (int i = 0; i < 2; ++i) {
      bHigh[i] = rounded(b[i]);
      bLow[i] = rounded(b[i] - __uint_as_float(bHigh[i]));
    }
    mma(d, aLow, bHigh);
    mma(d, aHigh, bLow);
    mma(d, aHigh, bHigh);
  }
  float* c = C + row * N + col + 2 * t;
  c[0] = d[0], c[1] = d[1];
  c[8 * N] = d[2], c[8 * N + 1] = d[3];
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<dim3(N / 8, M / 16), 32>>>(A, B, C, M, N, K);
}
