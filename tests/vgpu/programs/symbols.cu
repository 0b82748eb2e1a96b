// SPDX-License-Identifier: Apache-2.0
// __constant__, __device__ and __managed__ variables: initial values, copies, addresses.
#include "require.hpp"

__constant__ float factors[4] = {1, 2, 3, 4};
__device__ int table[8] = {10, 11, 12, 13, 14, 15, 16, 17};
__device__ double total;
__managed__ int shared_with_host = 5;

__global__ void combine(float* out) {
  const int i = threadIdx.x;
  out[i] = factors[i % 4] * static_cast<float>(table[i]);
  if (i == 0) {
    total = 2.5;
    shared_with_host += 1;
  }
}

int main() {
  float *device, host[8];
  require(cudaMalloc(&device, sizeof host));
  combine<<<1, 8>>>(device);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i)
    require(host[i] == static_cast<float>((i % 4 + 1) * (10 + i)), "initial values");
  require(cudaDeviceSynchronize());
  require(shared_with_host == 6, "the managed variable after the kernel");

  const float changed[2] = {-1, 7};
  require(cudaMemcpyToSymbol(factors, changed, sizeof changed, 2 * sizeof(float)));
  void* address = nullptr;
  std::size_t size = 0;
  require(cudaGetSymbolSize(&size, table));
  require(size == sizeof(int) * 8, "the variable's size");
  require(cudaGetSymbolAddress(&address, table));
  require(cudaMemset(address, 0, size / 2));
  shared_with_host = 100;
  combine<<<1, 8>>>(device);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  const float expected[8] = {0, 0, 0, 0, 14, 30, -16, 119};
  for (int i = 0; i < 8; ++i) require(host[i] == expected[i], "changed values");
  require(shared_with_host == 101, "the managed variable after the host's change");

  double read = 0;
  require(cudaMemcpyFromSymbol(&read, total, sizeof read));
  require(read == 2.5, "what the kernel stored in a variable");
  require(cudaMemcpyToSymbol(factors, changed, sizeof changed, 3 * sizeof(float)),
          cudaErrorInvalidValue, "a copy past the variable's end is refused");
  require(cudaMemcpyToSymbol(read, changed, 4), cudaErrorInvalidSymbol,
          "a host variable is no symbol");
}
