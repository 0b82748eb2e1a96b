// SPDX-License-Identifier: Apache-2.0
// A move-only owner of operand memory on the host or a device, and conversion of CUDA errors to
// Status.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <cstddef>

namespace ladder {

// Ok for cudaSuccess (0). Otherwise kLaunchFailed (kOutOfMemory for a failed allocation), with the
// call and CUDA's error text.
Status cuda_status(int error, const char* call);

// Waits for the device and returns the errors of preceding kernels. Clears an error that can be
// cleared.
Status synchronize();

class Buffer {
 public:
  // Errors: kOutOfMemory. Alignment is at least 512 bytes; 0 bytes allocate nothing.
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

// Bytes of memory that this process may still use (host/limits.hpp); the largest number if that is
// unknown.
std::size_t available_host_memory();
// Free bytes on the current CUDA device; 0 if the query fails.
std::size_t available_device_memory();

}  // namespace ladder
