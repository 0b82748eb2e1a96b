// SPDX-License-Identifier: Apache-2.0
// What a handle holds.
#pragma once
#include "device/loan.hpp"
#include "library/outcome.hpp"

#include <ladder/device.hpp>
#include <ladder/kernel.hpp>

#include <cstdint>
#include <mutex>
#include <optional>

struct ladder_context {
  std::mutex mutex;  // one function of a handle at a time
  ladder::Device device;
  ladder_pointer_mode pointer_mode = LADDER_POINTER_MODE_HOST;
  ladder_precision precision = LADDER_PRECISION_IEEE;

  static constexpr unsigned long long kDefaultStream = ~0ULL;
  ladder::Stream stream = nullptr;
  // Unique in the process. None: unknown, as that of a stream that is being captured, or of
  // cudaStreamPerThread, which stands for several.
  std::optional<unsigned long long> stream_id = kDefaultStream;

  // The handle's own memory, which serves the stream of the first call that used it.
  static constexpr ladder::MemoryNeed kOwn{32 << 20, 1 << 22};
  ladder::MemoryNeed own;
  char* scratch = nullptr;
  unsigned* flags = nullptr;
  std::optional<unsigned long long> owner;

  // The caller's workspace.
  char* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
};

namespace ladder::api {

// Parts of a workspace begin at multiples of this.
inline constexpr std::int64_t kPartBytes = 256;
constexpr std::int64_t part_bytes(std::int64_t bytes) {
  return (bytes + kPartBytes - 1) / kPartBytes * kPartBytes;
}
constexpr std::int64_t bytes_of(const MemoryNeed& need) {
  return part_bytes(need.scratch) + part_bytes(need.flags * 4);
}

// Loads the library's kernels that this device, the current one, can run.
Outcome load_kernels(const Device& device);

// Errors: the handle's device is not the current one.
Outcome check_device(const ladder_context& handle);

// Runs `body` with the handle locked.
template <class Body>
ladder_status with_handle(ladder_context* handle, Body body) noexcept {
  return outcome_of([&]() -> Outcome {
    if (handle == nullptr) return invalid("handle: null");
    const std::lock_guard lock(handle->mutex);
    return body(*handle);
  });
}

}  // namespace ladder::api
