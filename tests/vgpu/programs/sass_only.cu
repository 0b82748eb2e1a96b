// SPDX-License-Identifier: Apache-2.0
// Built without PTX. With the argument "runs" the machine code is executed; else the launch is
// refused, with the remedy in the message, and the program continues.
#include "require.hpp"

__global__ void lonely(int* data) { data[0] = 1; }

int main(int argc, char**) {
  const bool runs = argc > 1;
  int* data;
  require(cudaMalloc(&data, sizeof(int)));
  for (int i = 0; i < 2; ++i) {
    lonely<<<1, 1>>>(data);
    require(cudaGetLastError() == (runs ? cudaSuccess : cudaErrorNoKernelImageForDevice),
            "the launch");
  }
  require(cudaDeviceSynchronize(), "the refusal is not sticky");
  int value = 0;
  require(cudaMemcpy(&value, data, sizeof(value), cudaMemcpyDeviceToHost));
  if (runs) require(value == 1, "the kernel has run");
}
