// SPDX-License-Identifier: Apache-2.0
// Host: errors, SM count, shared memory and the device memory of a call, for launchers.
#pragma once
#include <cuda_runtime.h>
#include <ladder/status.hpp>

#include <cstdint>
#include <string>

namespace ladder {

inline Status cuda_failure(const char* call, cudaError_t error) {
  return {Code::kLaunchFailed, std::string(call) + ": " + cudaGetErrorString(error)};
}

// The error of the preceding launch.
inline Status launched(const char* kernel) {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? Status::ok() : cuda_failure(kernel, error);
}

// SMs of the current device. Errors: kLaunchFailed.
Status sm_count(int& sms);

// Scratch and flags of one call. From take() to its destruction the object holds the stream's lock,
// so that the kernels of a call are adjacent in the stream. The next call on the stream may get the
// same memory, which stream order makes safe; another stream gets it when its kernels have ended.
// Captured kernels get memory that lives as long as their graph.
class CallMemory {
 public:
  CallMemory() = default;
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;
  ~CallMemory();

  // Call once, before the call's first kernel, on the current device. Errors: kLaunchFailed, out of
  // memory.
  Status take(cudaStream_t stream, std::int64_t scratch_bytes, std::int64_t flag_count);
  // Starts with what the stream's previous call left there, or with zeros.
  char* scratch() const;
  // Zeros, apart from scratch. Kernels leave zeros.
  unsigned* flags() const;
  // Makes calls on other streams start with this call's scratch, for some calls.
  void keep_answer();

  struct Slot;

 private:
  Slot* slot_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// Allows `kernel` this many bytes of shared memory per block, or more. Calls the runtime only if
// fewer were allowed before, because the call takes as long as a launch.
cudaError_t allow_shared(const void* kernel, int bytes);

}  // namespace ladder
