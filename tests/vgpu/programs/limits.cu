// SPDX-License-Identifier: Apache-2.0
// The free memory that cudaMemGetInfo reports can be allocated, and no more.
#include "require.hpp"

__global__ void touch(char* x) { x[threadIdx.x] = 1; }

int main() {
  std::size_t free = 0, total = 0;
  require(cudaMemGetInfo(&free, &total));
  require(free > 0 && free < total, "the host has less than the device");
  char* x = nullptr;
  require(cudaMalloc(&x, free + (std::size_t{1} << 30)), cudaErrorMemoryAllocation, "too much");
  require(cudaGetLastError(), cudaErrorMemoryAllocation, "the error");
  require(cudaMalloc(&x, free));
  std::size_t left = 0;
  require(cudaMemGetInfo(&left, &total));
  require(left < free / 2, "less is left");
  touch<<<1, 32>>>(x);
  require(cudaDeviceSynchronize());
  require(cudaFree(x));
  require(cudaMemGetInfo(&left, &total));
  require(left > free / 4 * 3, "it came back");
}
