// SPDX-License-Identifier: Apache-2.0
// printf in a kernel stands between what the host prints before and after.
#include <cstdio>

#include "require.hpp"

__global__ void hello(double value) {
  if (threadIdx.x == 0)
    printf("block %d of %d: %s %5.2f %lld\n", blockIdx.x, gridDim.x, "text", value, 1LL << 40);
}

int main() {
  std::printf("before\n");
  hello<<<2, 32>>>(1.5);
  require(cudaDeviceSynchronize(), "kernel");
  std::printf("after\n");
}
