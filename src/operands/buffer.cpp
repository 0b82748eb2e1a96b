// SPDX-License-Identifier: Apache-2.0
#include "operands/buffer.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "host/limits.hpp"

namespace ladder {
namespace {

constexpr std::align_val_t kAlignment{512};

}  // namespace

Status cuda_status(int error, const char* call) {
  if (error == cudaSuccess) return Status::ok();
  const auto code = static_cast<cudaError_t>(error);
  return {code == cudaErrorMemoryAllocation ? Code::kOutOfMemory : Code::kLaunchFailed,
          fmt::format("{}: {} ({})", call, cudaGetErrorName(code), cudaGetErrorString(code))};
}

Status synchronize() {
  const cudaError_t launch = cudaGetLastError();
  const cudaError_t work = cudaDeviceSynchronize();
  (void)cudaGetLastError();
  if (work != cudaSuccess) return cuda_status(work, "cudaDeviceSynchronize");
  return cuda_status(launch, "kernel launch");
}

Result<Buffer> Buffer::allocate(Place place, std::size_t bytes) {
  Buffer buffer;
  buffer.place_ = place;
  if (bytes == 0) return buffer;
  if (place == Place::kHost) {
    buffer.data_ = ::operator new(bytes, kAlignment, std::nothrow);
    if (buffer.data_ == nullptr)
      return Status(Code::kOutOfMemory, fmt::format("no {} bytes of host memory", bytes));
  } else if (Status status = cuda_status(cudaMalloc(&buffer.data_, bytes), "cudaMalloc"); !status) {
    (void)cudaGetLastError();
    return status;
  }
  buffer.bytes_ = bytes;
  return buffer;
}

void Buffer::release() noexcept {
  if (data_ == nullptr) return;
  if (place_ == Place::kHost) {
    ::operator delete(data_, kAlignment);
  } else {
    (void)cudaFree(
        // fails only where an earlier error, already reported, has ended the device's context
        data_);
  }
  data_ = nullptr;
  bytes_ = 0;
}

Buffer::~Buffer() { release(); }

Buffer::Buffer(Buffer&& other) noexcept
    : place_(other.place_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    place_ = other.place_;
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Status Buffer::upload(const void* source, std::size_t bytes, std::size_t offset) {
  if (bytes == 0) return Status::ok();
  if (place_ == Place::kHost) {
    std::memcpy(as<std::byte>(offset), source, bytes);
    return Status::ok();
  }
  return cuda_status(cudaMemcpy(as<std::byte>(offset), source, bytes, cudaMemcpyHostToDevice),
                     "cudaMemcpy to device");
}

Status Buffer::download(void* target, std::size_t bytes, std::size_t offset) const {
  if (bytes == 0) return Status::ok();
  if (place_ == Place::kHost) {
    std::memcpy(target, as<std::byte>(offset), bytes);
    return Status::ok();
  }
  return cuda_status(cudaMemcpy(target, as<std::byte>(offset), bytes, cudaMemcpyDeviceToHost),
                     "cudaMemcpy to host");
}

std::size_t available_host_memory() {
  return host::available_memory().value_or(std::numeric_limits<std::size_t>::max());
}

std::size_t available_device_memory() {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free_bytes, &total) == cudaSuccess ? free_bytes : 0;
}

}  // namespace ladder
