// SPDX-License-Identifier: Apache-2.0
// printf output of a kernel appears between the host's output before and after it.
#include <cstdio>

#include "require.hpp"

__global__ void hello(double value) {
  if (threadIdx.x == 0)
    printf("block %d of %d: %s %5.2f %lld\n", blockIdx.x, gridDim.x, "text", value, 1LL << 40);
}

int main() {
  std::printf("before\n");
  hello<<<2, 32>>>(1.5);
  require(cudaDeviceSynchronize());
  std::printf("after\n");
}
