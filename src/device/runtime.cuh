// SPDX-License-Identifier: Apache-2.0
// Host: what launchers ask the CUDA runtime, its errors as Status.
#pragma once
#include <cuda_runtime.h>
#include <ladder/status.hpp>

#include <string>

namespace ladder {

inline Status cuda_failure(const char* call, cudaError_t error) {
  return {Code::kLaunchFailed, std::string(call) + ": " + cudaGetErrorString(error)};
}

// What the launch before came to.
inline Status launched(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? Status::ok() : cuda_failure(kernel, error);
}

// SMs of the current device.
inline Status sm_count(int& sms) {
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  return error == cudaSuccess ? Status::ok() : cuda_failure("SM count", error);
}

}  // namespace ladder
