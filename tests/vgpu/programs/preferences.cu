// SPDX-License-Identifier: Apache-2.0
// Preferences for profilers, banks, peers and graphs' memory are accepted, and wrong values are
// refused.
#include <cuda_profiler_api.h>

#include <cstdint>

#include "require.hpp"

__global__ void nothing() {}

int main() {
  require(cudaProfilerStart(), "cudaProfilerStart");
  nothing<<<1, 1>>>();
  require(cudaProfilerStop(), "cudaProfilerStop");

  cudaSharedMemConfig banks = cudaSharedMemBankSizeDefault;
  require(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte),
          "cudaDeviceSetSharedMemConfig");
  require(cudaDeviceGetSharedMemConfig(&banks), "cudaDeviceGetSharedMemConfig");
  require(banks == cudaSharedMemBankSizeFourByte, "banks of four bytes");
  require(cudaFuncSetSharedMemConfig(nothing, cudaSharedMemBankSizeFourByte),
          "cudaFuncSetSharedMemConfig");
  require(
      cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(9)) == cudaErrorInvalidValue,
      "no such size");

  int value = 0;
  require(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1),
          "cudaDeviceGetP2PAttribute");
  require(value == 1, "two devices reach each other");
  require(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 2) ==
              cudaErrorInvalidDevice,
          "a third device");

  std::uint64_t bytes = 1;
  require(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &bytes),
          "the graphs' memory");
  require(bytes == 0, "none is reserved");
  require(cudaDeviceGraphMemTrim(0), "cudaDeviceGraphMemTrim");
  require(cudaDeviceGraphMemTrim(5) == cudaErrorInvalidDevice, "no such device");
}
