// SPDX-License-Identifier: Apache-2.0
// Two stages.
#include <cuda_bf16.h>

// A tile of 64 x 16 in shared memory, as wgmma reads it without a swizzle: core matrices of 8 rows
// of 16 bytes (8 numbers), each 128 bytes in one piece.
__device__ int place(int row, int k) { return (k / 8 * 8 + row / 8) * 64 + row % 8 * 8 + k % 8; }

// Core matrices are 1,024 bytes apart along k and 128 along the rows.
__device__ unsigned long long descriptor(const void* tile) {
  const unsigned long long address = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  return address >> 4 | 1024ull >> 4 << 16 | 128ull >> 4 << 32;
}

// d += a b for a tile of 64 x 64 x 16, by the 128 threads of a warpgroup.
__device__ void wgmma(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
      "%9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
      "%27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}
__device__ void fence_registers() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
// Makes stores to shared memory visible to the tensor cores.
__device__ void fence_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Two tiles in turn: while one is multiplied, the other is filled.
__global__ void product(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N,
                        int K) {
  __shared__ __align__(128) __nv_bfloat16 sA[2][64 * 16], sB[2][64 * 16];
  const int t = threadIdx.x, firstRow = blockIdx.y * 64, firstCol = blockIdx.x * 64;
  const auto copy = [&](int first, int stage) {
    for (int e = t; e < 64 * 16; e += 128) {
      sA[stage][place(e / 16, e % 16)] = A[(firstRow + e / 16) * K + first + e % 16];
      sB[stage][place(e % 64, e / 64)] = B[(first + e / 64) * N + firstCol + e % 64];
    }
    fence_shared();
  };
  float d[32] = {};
  copy(0, 0);
  for (int first = 0, now = 0; first < K; first += 16, now ^= 1) {
    __syncthreads();
    fence_registers();
    wgmma(d, descriptor(sA[now]), descriptor(sB[now]));
    commit();
    if (first + 16 < K) copy(first + 16, now ^ 1);
    wait();
  }
  for (int i = 0; i < 32; ++i) {
    const int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, col = i / 4 * 8 + t % 4 * 2 + i % 2;
    C[(firstRow + row) * N + firstCol + col] = d[i];
  }
}

void launch(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int M, int N, int K) {
  product<<<dim3(N / 64, M / 64), 128>>>(A, B, C, M, N, K);
}
