// SPDX-License-Identifier: Apache-2.0
// A program of two translation units: two fat binaries, each with its own kernel and variable of
// the same names.
#include "two_units.hpp"

#include "require.hpp"

static __constant__ int factor = 2;

static __global__ void scale(int* data) { data[threadIdx.x] *= factor; }

int main() {
  int host[32], *device;
  for (int i = 0; i < 32; ++i) host[i] = i;
  require(cudaMalloc(&device, sizeof host));
  require(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
  scale<<<1, 32>>>(device);
  triple(device, 32);
  require(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) require(host[i] == 6 * i, "an element that both units scaled");
}
