// SPDX-License-Identifier: Apache-2.0
// Uses 256 MB of device memory, all of it written and read, in many launches: its test checks the
// process's memory on the host.
#include "require.hpp"

__global__ void fill(float* x, int value) {
  x[blockIdx.x * std::size_t{blockDim.x} + threadIdx.x] = static_cast<float>(value);
}

__global__ void copy(const float* from, float* to) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  to[i] = from[i] + 1;
}

int main() {
  constexpr int kBlocks = 4, kThreads = 256, kGrid = 65536, kRounds = 500;
  constexpr std::size_t kBytes = std::size_t{kThreads} * kGrid * sizeof(float);  // 64 MB
  float* x[kBlocks];
  for (float*& block : x) {
    require(cudaMalloc(&block, kBytes));
    fill<<<kGrid, kThreads>>>(block, 1);
  }
  copy<<<kGrid, kThreads>>>(x[0], x[1]);
  for (int i = 0; i < kRounds; ++i)
    copy<<<1, kThreads>>>(x[1], x[2]);  // memory of past launches must not accumulate
  float last = 0;
  require(
      cudaMemcpy(&last, x[1] + kBytes / sizeof(float) - 1, sizeof last, cudaMemcpyDeviceToHost));
  require(last == 2, "the last element");
  return 0;
}
