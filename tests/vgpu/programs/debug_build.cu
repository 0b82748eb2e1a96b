// SPDX-License-Identifier: Apache-2.0
// debug_build: compiled with -G. Calls, recursion, local arrays, jumps, double precision, division,
// a check of the stack in each function, and printf.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "device_array.hpp"

namespace {

__constant__ int table[4] = {3, 1, 4, 1};

__host__ __device__ int product_down(int n, int* calls) {
  int recent[4] = {n, n + 1, n + 2, n + 3};
  *calls += recent[*calls & 3] > 0 ? 1 : 0;
  return n <= 1 ? 1 : n * product_down(n - 1, calls);
}

__host__ __device__ int choose(int n) {
  switch (n % 7) {
    case 0: return 5;
    case 1: return 50;
    case 2: return 12;
    case 3: return -4;
    case 4: return 99;
    case 5: return 31;
    default: return 0;
  }
}

__host__ __device__ int value_of(int i, int constant) {
  int calls = 0;
  const int product = product_down(i % 8, &calls);
  const double root = sqrt(static_cast<double>(i)) / 3.0;
  return product + 100 * calls + choose(i) * constant + static_cast<int>(root * 1000) +
         1000 / (i + 1);
}

__global__ void values(int* out) {
  __shared__ int in_block[64];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  in_block[threadIdx.x] = value_of(i, table[i % 4]);
  __syncthreads();
  out[i] = in_block[63 - threadIdx.x] + __shfl_down_sync(~0u, i, 1);
  if (i == 0) printf("%s: %d\n", "value", in_block[0]);
}

}  // namespace

int main() {
  constexpr int kConstants[] = {3, 1, 4, 1}, kCount = 128;
  int* const out = allocate<int>(kCount);
  values<<<2, 64>>>(out);
  const std::vector<int> found = download(out, kCount);
  for (int i = 0; i < kCount; ++i) {
    const int from = i / 64 * 64 + 63 - i % 64, lane = i % 32;
    require(found[i] == value_of(from, kConstants[from % 4]) + (lane == 31 ? i : i + 1), "a value");
  }
  std::printf("right\n");
}
