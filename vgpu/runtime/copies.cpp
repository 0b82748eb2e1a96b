// SPDX-License-Identifier: Apache-2.0
// Copies and fills. The device's memory is host memory, so that a copy is a move; what is left to do is to
// refuse what a real device refuses.
#include "runtime/copies.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace vgpu::runtime {
namespace {

// From the first byte to the last; the largest size, which fits nowhere, where it would overflow.
std::size_t extent(std::size_t pitch, Plane plane) {
  std::size_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(plane.rows - 1, pitch, &bytes) ||
                        __builtin_add_overflow(bytes, plane.width, &bytes);
  return overflow ? std::numeric_limits<std::size_t>::max() : bytes;
}

// `required`: it must be memory that the device can reach; else only what begins there must not run out of
// it.
void check_range(Runtime& runtime, const char* function, const char* what, const void* pointer,
                 std::size_t bytes, bool required) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (runtime.memory.contains(pointer, bytes)) return;
  if (!required && runtime.memory.find(address) == nullptr) return;
  throw Failure{cudaErrorInvalidValue,
                fmt::format("{}: {} of {} bytes at {:#x} is not device memory: {}", function, what, bytes,
                            address, runtime.memory.describe(address))};
}

}  // namespace

cudaError_t copy(Runtime& runtime, const char* function, void* to, std::size_t to_pitch, const void* from,
                 std::size_t from_pitch, Plane plane, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (plane.width == 0 || plane.rows == 0) return cudaSuccess;
  if (plane.rows > 1 && (plane.width > to_pitch || plane.width > from_pitch))
    return cudaErrorInvalidPitchValue;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  check_range(runtime, function, "destination", to, extent(to_pitch, plane), to_device);
  check_range(runtime, function, "source", from, extent(from_pitch, plane), from_device);
  if (plane.width == to_pitch && plane.width == from_pitch) plane = {plane.width * plane.rows, 1};
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  for (std::size_t row = 0; row < plane.rows; ++row) {
    std::memmove(target + row * to_pitch, source + row * from_pitch, plane.width);
    runtime.memory.copy_written(target + row * to_pitch, source + row * from_pitch, plane.width);
  }
  return cudaSuccess;
}

cudaError_t set(Runtime& runtime, const char* function, void* to, std::size_t pitch, int value, Plane plane) {
  if (plane.width == 0 || plane.rows == 0) return cudaSuccess;
  if (plane.rows > 1 && plane.width > pitch) return cudaErrorInvalidPitchValue;
  check_range(runtime, function, "destination", to, extent(pitch, plane), true);
  if (plane.width == pitch) plane = {plane.width * plane.rows, 1};
  auto* target = static_cast<std::byte*>(to);
  for (std::size_t row = 0; row < plane.rows; ++row) {
    std::memset(target + row * pitch, value, plane.width);
    runtime.memory.mark_written(target + row * pitch, plane.width);
  }
  return cudaSuccess;
}

}  // namespace vgpu::runtime

using vgpu::runtime::call;
using vgpu::runtime::copy;
using vgpu::runtime::Runtime;
using vgpu::runtime::set;

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    return copy(runtime, "cudaMemcpy", to, bytes, from, bytes, {bytes, 1}, kind);
  });
}
VGPU_TWIN(cudaMemcpy, _ptds);

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (runtime.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return copy(runtime, "cudaMemcpyAsync", to, bytes, from, bytes, {bytes, 1}, kind);
  });
}
VGPU_TWIN(cudaMemcpyAsync, _ptsz);

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    return copy(runtime, "cudaMemcpy2D", to, to_pitch, from, from_pitch, {width, height}, kind);
  });
}
VGPU_TWIN(cudaMemcpy2D, _ptds);

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (runtime.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return copy(runtime, "cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, {width, height}, kind);
  });
}
VGPU_TWIN(cudaMemcpy2DAsync, _ptsz);

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return call([&](Runtime& runtime) {
    if (!runtime.has_device(to_device) || !runtime.has_device(from_device)) return cudaErrorInvalidDevice;
    return copy(runtime, "cudaMemcpyPeer", to, bytes, from, bytes, {bytes, 1}, cudaMemcpyDeviceToDevice);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (!runtime.has_device(to_device) || !runtime.has_device(from_device)) return cudaErrorInvalidDevice;
    if (runtime.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return copy(runtime, "cudaMemcpyPeerAsync", to, bytes, from, bytes, {bytes, 1}, cudaMemcpyDeviceToDevice);
  });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return call([&](Runtime& runtime) { return set(runtime, "cudaMemset", to, bytes, value, {bytes, 1}); });
}
VGPU_TWIN(cudaMemset, _ptds);

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (runtime.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return set(runtime, "cudaMemsetAsync", to, bytes, value, {bytes, 1});
  });
}
VGPU_TWIN(cudaMemsetAsync, _ptsz);

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return call([&](Runtime& runtime) {
    return set(runtime, "cudaMemset2D", to, pitch, value, {width, height});
  });
}
VGPU_TWIN(cudaMemset2D, _ptds);

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (runtime.streams.find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return set(runtime, "cudaMemset2DAsync", to, pitch, value, {width, height});
  });
}
VGPU_TWIN(cudaMemset2DAsync, _ptsz);
