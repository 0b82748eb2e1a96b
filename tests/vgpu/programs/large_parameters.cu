// SPDX-License-Identifier: Apache-2.0
// Parameters of up to 32764 bytes, which CUDA 12.1 and later allow.
#include "require.hpp"

template <int kCount>
struct Numbers {
  int values[kCount];
};

template <int kCount>
__global__ void sum(const __grid_constant__ Numbers<kCount> numbers, int weight, int* result) {
  int total = 0;
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) total += numbers.values[i] * (i % 7);
  atomicAdd(result, weight * total);
}

template <int kCount>
void check() {
  static Numbers<kCount> numbers;
  int expected = 0, result = 0, *device;
  for (int i = 0; i < kCount; ++i) {
    numbers.values[i] = i % 100;
    expected += 3 * numbers.values[i] * (i % 7);
  }
  require(cudaMalloc(&device, sizeof result));
  require(cudaMemset(device, 0, sizeof result));
  sum<kCount><<<1, 32>>>(numbers, 3, device);
  require(cudaGetLastError());
  require(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
  require(result == expected, "a sum of parameters");
}

int main() {
  check<1000>();  // less than 4 KB
  check<1020>();  // with the other two, 4096 bytes
  check<1024>();
  check<8187>();  // the most of them
}
