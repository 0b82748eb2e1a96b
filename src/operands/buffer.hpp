// SPDX-License-Identifier: Apache-2.0
// Memory where a kernel's operands lie, host or device, as one move-only type; and CUDA's errors as
// Status.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <cstddef>

namespace ladder {

// Ok for cudaSuccess (0), else kLaunchFailed (kOutOfMemory for an allocation) with the call and
// CUDA's own text.
Status cuda_status(int error, const char* call);

// Waits for the device and reports what the kernels before it ran into; clears an error that can be
// cleared.
Status synchronize();

class Buffer {
 public:
  // Errors: kOutOfMemory. At least 512-byte aligned; nothing is allocated for 0 bytes.
  static Result<Buffer> allocate(Place place, std::size_t bytes);

  Buffer() = default;
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::size_t bytes() const { return bytes_; }
  template <class T>
  T* as(std::size_t byte_offset = 0) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(data_) + byte_offset);
  }

  // Both block until the copy is done. `offset + bytes` must lie within the buffer.
  Status upload(const void* source, std::size_t bytes, std::size_t offset = 0);
  Status download(void* target, std::size_t bytes, std::size_t offset = 0) const;

 private:
  void release() noexcept;

  Place place_ = Place::kHost;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Bytes of memory that this process may still use (host/limits.hpp); the largest number where that
// is unknown.
std::size_t available_host_memory();
// Bytes free on the current CUDA device; 0 if it cannot be asked.
std::size_t available_device_memory();

}  // namespace ladder
