// SPDX-License-Identifier: Apache-2.0
// Allocation. Pinned and managed memory are device memory that the host may access. On this device
// the host can access all memory.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runtime/allocations.hpp"
#include "runtime/graph/capture.hpp"
#include "runtime/stream_order.hpp"

using namespace vgpu::runtime;

namespace {

constexpr std::size_t kPitchAlignment = 512;

// Waits for the work of the device that may use the memory.
void await_users(Runtime& runtime, const void* pointer) {
  if (const Block* const block = runtime.pointers.starting_at(pointer))
    await(runtime, tasks_of_device(runtime, block->device));
}

std::size_t product(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) refuse(cudaErrorMemoryAllocation);
  return result;
}

void allocate_pitched(Runtime& runtime, void** pointer, std::size_t* pitch, std::size_t width,
                      std::size_t rows, const void* caller) {
  if (pointer == nullptr || pitch == nullptr) refuse();
  if (width > std::numeric_limits<std::size_t>::max() - kPitchAlignment)
    refuse(cudaErrorMemoryAllocation);
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  allocate(runtime, pointer, product(*pitch, rows), Origin::kDevice, 0, caller);
}

}  // namespace

static cudaError_t allocate_now(void** pointer, std::size_t bytes, Origin origin, unsigned flags,
                                bool are_known, const void* caller) {
  return call([&](Runtime& runtime) {
    refuse_in_capture(runtime);
    if (!are_known) refuse();
    allocate(runtime, pointer, bytes, origin, flags, caller);
  });
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return allocate_now(pointer, bytes, Origin::kDevice, 0, true, __builtin_return_address(0));
}

VGPU_CALL(cudaFree, void* pointer) {
  refuse_in_capture(runtime);
  await_users(runtime, pointer);
  forget_pooled(runtime, pointer);
  release(runtime, "cudaFree", pointer, false);
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  const bool are_known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
  return allocate_now(pointer, bytes, Origin::kManaged, flags, are_known,
                      __builtin_return_address(0));
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return allocate_now(pointer, bytes, Origin::kPinnedHost, 0, true, __builtin_return_address(0));
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return allocate_now(pointer, bytes, Origin::kPinnedHost, flags, (flags & ~kKnown) == 0,
                      __builtin_return_address(0));
}

VGPU_CALL(cudaFreeHost, void* pointer) {
  await_users(runtime, pointer);
  release(runtime, "cudaFreeHost", pointer, true);
}

VGPU_CALL(cudaHostRegister, void* pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped |
                              cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (pointer == nullptr || bytes == 0 || (flags & ~kKnown) != 0) refuse();
  const bool read_only = (flags & cudaHostRegisterReadOnly) != 0;
  if ((flags & cudaHostRegisterIoMemory) == 0 &&
      !(read_only ? can_read(pointer, bytes) : can_write(pointer, bytes))) {
    refuse(cudaErrorInvalidValue,
           fmt::format("cudaHostRegister: {} bytes at {} are not memory that the program can {}",
                       bytes, fmt::ptr(pointer), read_only ? "read" : "write"));
  }
  if (!runtime.memory.adopt(pointer, bytes, "registered host memory")) {
    refuse(cudaErrorHostMemoryAlreadyRegistered);
  }
  runtime.pointers.add(pointer, bytes, Origin::kRegisteredHost, Runtime::ordinal(), flags);
}

VGPU_CALL(cudaHostUnregister, void* pointer) {
  if (pointer == nullptr) refuse();
  await_users(runtime, pointer);
  if (!runtime.memory.disown(pointer)) refuse(cudaErrorHostMemoryNotRegistered);
  runtime.pointers.remove(pointer);
}

VGPU_CALL(cudaHostGetFlags, unsigned* flags, void* pointer) {
  const Block* block = runtime.pointers.covering(pointer);
  const bool host = block != nullptr && (block->origin == Origin::kPinnedHost ||
                                         block->origin == Origin::kRegisteredHost);
  if (flags == nullptr || !host) refuse();
  *flags = block->flags;
}

VGPU_CALL(cudaHostGetDevicePointer, void** device, void* host, unsigned flags) {
  const Block* block = runtime.pointers.covering(host);
  if (device == nullptr || flags != 0 || block == nullptr || block->origin == Origin::kDevice ||
      block->origin == Origin::kMapped) {
    refuse();
  }
  *device = host;
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  const void* caller = __builtin_return_address(0);
  return call([&](Runtime& runtime) {
    refuse_in_capture(runtime);
    allocate_pitched(runtime, pointer, pitch, width, height, caller);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  const void* caller = __builtin_return_address(0);
  return call([&](Runtime& runtime) {
    refuse_in_capture(runtime);
    if (pitched == nullptr) refuse();
    const std::size_t rows = product(extent.height, extent.depth);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    allocate_pitched(runtime, &pitched->ptr, &pitched->pitch, extent.width, rows, caller);
  });
}

VGPU_CALL(cudaMemGetInfo, size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) refuse();
  *total = runtime.device().memory_bytes;
  *free = std::min<std::size_t>(*total - runtime.pointers.bytes_on(Runtime::ordinal()),
                                runtime.memory.room().bytes);
}

VGPU_CALL(cudaPointerGetAttributes, cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) refuse();
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = cudaInvalidDeviceId;
  void* address = const_cast<void*>(pointer);
  const Block* block = runtime.pointers.covering(pointer);
  if (block == nullptr && !runtime.memory.contains(pointer, 1)) {
    attributes->hostPointer = address;
    return;
  }
  // A variable of a module belongs to no block.
  const Origin origin =
      block == nullptr || block->origin == Origin::kMapped ? Origin::kDevice : block->origin;
  attributes->type = origin == Origin::kDevice    ? cudaMemoryTypeDevice
                     : origin == Origin::kManaged ? cudaMemoryTypeManaged
                                                  : cudaMemoryTypeHost;
  attributes->device = block == nullptr ? Runtime::ordinal() : block->device;
  attributes->devicePointer = address;
  attributes->hostPointer = origin == Origin::kDevice ? nullptr : address;
}

// Prefetching and advice have no effect, because managed memory is accessible everywhere.
VGPU_CALL_PTSZ(cudaMemPrefetchAsync, const void* pointer, size_t bytes, cudaMemLocation,
               unsigned flags, cudaStream_t) {
  if (flags != 0 || !runtime.memory.contains(pointer, bytes)) refuse();
}

VGPU_CALL(cudaMemAdvise, const void* pointer, size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  if (!runtime.memory.contains(pointer, bytes)) refuse();
}
