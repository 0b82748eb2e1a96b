// SPDX-License-Identifier: Apache-2.0
// Device memory that kernels need beside their operands, kept from launch to launch: for each device and stream of its
// own, so that launches that may run at the same time never share any.
#pragma once
#include "device/runtime.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace ladder {

class Workspace {
 public:
  // At least `bytes`, as the launch before left them; valid until a call for more on this stream. Null with the error if
  // there is none.
  static void* scratch(cudaStream_t stream, std::size_t bytes, cudaError_t& error) {
    return of(stream, &Buffers::scratch, bytes, error);
  }

  // At least `count` words that are zero. A kernel leaves them zero. They are no part of scratch: what one kernel keeps
  // there another would find in its flags.
  static unsigned* flags(cudaStream_t stream, std::size_t count, cudaError_t& error) {
    return static_cast<unsigned*>(of(stream, &Buffers::flags, count * sizeof(unsigned), error));
  }

 private:
  struct Free {
    void operator()(void* at) const { static_cast<void>(cudaFree(at)); }
  };
  struct Buffer {
    std::unique_ptr<void, Free> at;
    std::size_t bytes = 0;
  };
  struct Buffers {
    Buffer scratch, flags;
  };

  static void* of(cudaStream_t stream, Buffer Buffers::*which, std::size_t bytes, cudaError_t& error) {
    static Workspace all;
    int device = 0;
    if ((error = cudaGetDevice(&device)) != cudaSuccess) return nullptr;
    const std::lock_guard lock(all.mutex_);
    Buffer& buffer = all.buffers_[{device, stream}].*which;
    if (buffer.bytes >= bytes) return buffer.at.get();
    void* at = nullptr;
    if ((error = cudaMalloc(&at, bytes)) != cudaSuccess) return nullptr;
    std::unique_ptr<void, Free> fresh(at);
    if ((error = cudaMemsetAsync(at, 0, bytes, stream)) != cudaSuccess) return nullptr;
    buffer = {std::move(fresh), bytes};  // cudaFree of the old one waits for its kernels
    return buffer.at.get();
  }

  std::mutex mutex_;
  std::map<std::pair<int, cudaStream_t>, Buffers> buffers_;
};

// Scratch and flags for one call.
struct CallMemory {
  char* scratch = nullptr;
  unsigned* gFlags = nullptr;
};
// Errors: kLaunchFailed, where there is no more memory.
inline Status call_memory(cudaStream_t stream, std::int64_t bytes, std::int64_t flags, CallMemory& memory) {
  cudaError_t error = cudaSuccess;
  memory.scratch = static_cast<char*>(Workspace::scratch(stream, static_cast<std::size_t>(bytes), error));
  if (error != cudaSuccess) return cuda_failure("workspace", error);
  memory.gFlags = Workspace::flags(stream, static_cast<std::size_t>(flags), error);
  return error == cudaSuccess ? Status::ok() : cuda_failure("workspace", error);
}

// Allows `kernel` so much shared memory a block on this device. Asked of the runtime once, since that costs about as
// long as a launch.
inline cudaError_t allow_shared(const void* kernel, int bytes) {
  static std::mutex mutex;
  static std::set<std::pair<int, const void*>> allowed;
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  const std::lock_guard lock(mutex);
  if (allowed.contains({device, kernel})) return cudaSuccess;
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error == cudaSuccess) allowed.insert({device, kernel});
  return error;
}

}  // namespace ladder
