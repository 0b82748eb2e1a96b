// SPDX-License-Identifier: Apache-2.0
// Device memory that kernels need beside their operands, kept from call to call.
#pragma once
#include "device/runtime.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// The scratch and flags of one call. From take() to its destruction the object owns them and the
// stream's turn: calls of other host threads on this stream wait, so that the kernels of a call
// follow one another in the stream. The next call on the stream may get the same memory, which
// stream order makes safe; another stream gets it only when its kernels have ended. Kernels that
// are captured get memory that belongs to their graph as long as that lives.
class CallMemory {
 public:
  CallMemory() = default;
  CallMemory(const CallMemory&) = delete;
  CallMemory& operator=(const CallMemory&) = delete;
  ~CallMemory();

  // Once per object, before the call's first kernel, on the current device. Errors: kLaunchFailed,
  // where there is no memory.
  Status take(cudaStream_t stream, std::int64_t scratch_bytes, std::int64_t flag_count);

  // Begins with what the stream's call before left there, or with zeros.
  char* scratch() const;
  // Zero, and kernels leave them zero. They are no part of scratch.
  unsigned* flags() const;

  // For some calls on other streams, these leave the scratch as the kernels of this call leave it.
  void keep_answer();

  struct Slot;

 private:
  Slot* slot_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// Allows `kernel` so much shared memory a block on this device. Asked of the runtime once, since
// that costs about as long as a launch.
cudaError_t allow_shared(const void* kernel, int bytes);

}  // namespace ladder
