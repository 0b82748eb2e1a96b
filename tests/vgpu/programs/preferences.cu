// SPDX-License-Identifier: Apache-2.0
// Preferences for profilers, banks, peers and graphs' memory are accepted, and wrong values are
// refused.
#include <cuda_profiler_api.h>

#include <cstdint>

#include "require.hpp"

__global__ void nothing() {}

int main() {
  require(cudaProfilerStart());
  nothing<<<1, 1>>>();
  require(cudaProfilerStop());

  cudaSharedMemConfig banks = cudaSharedMemBankSizeDefault;
  require(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  require(cudaDeviceGetSharedMemConfig(&banks));
  require(banks == cudaSharedMemBankSizeFourByte, "banks of four bytes");
  require(cudaFuncSetSharedMemConfig(nothing, cudaSharedMemBankSizeFourByte));
  require(cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(9)), cudaErrorInvalidValue,
          "no such size");

  int value = 0, devices = 0;
  require(cudaGetDeviceCount(&devices));
  if (devices > 1) {
    require(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
    require(value == 1, "two devices reach each other");
  }
  require(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, devices),
          cudaErrorInvalidDevice, "a device more");

  std::uint64_t bytes = 1;
  require(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &bytes),
          "the graphs' memory");
  require(bytes == 0, "none is reserved");
  require(cudaDeviceGraphMemTrim(0));
  require(cudaDeviceGraphMemTrim(devices), cudaErrorInvalidDevice, "no such device");
}
