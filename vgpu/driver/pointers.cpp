// SPDX-License-Identifier: Apache-2.0
// What the driver knows of a pointer. CUDA Driver API, "Unified Addressing".
#include <cstring>
#include <optional>

#include "driver/api.hpp"

using namespace vgpu::driver;
using vgpu::runtime::Block;
using vgpu::runtime::Origin;

namespace {

// A pointer into memory that devices can access.
struct Place {
  void* address;
  const vgpu::Allocation* allocation;
  const Block* block;  // null for a module's variable

  Origin origin() const {
    return block != nullptr && block->origin != Origin::kMapped ? block->origin : Origin::kDevice;
  }
};

std::optional<Place> place_of(const Runtime& runtime, CUdeviceptr address) {
  const vgpu::Allocation* const allocation = runtime.memory.find(address);
  if (allocation == nullptr || allocation->freed) return std::nullopt;
  return Place{pointer_of(address), allocation, runtime.pointers.covering(pointer_of(address))};
}

template <class T>
CUresult put(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult put_attribute(Runtime& runtime, const Place& place, CUpointer_attribute attribute,
                       void* data) {
  const Origin origin = place.origin();
  const bool on_host = origin == Origin::kPinnedHost || origin == Origin::kRegisteredHost;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      const auto* context = place.block != nullptr ? place.block->context : nullptr;
      if (context == nullptr) context = &vgpu::runtime::owning_context(runtime);
      return put(data, context);
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(data, on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(data, place.address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (origin == Origin::kDevice) return CUDA_ERROR_INVALID_VALUE;
      return put(data, place.address);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return put(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put(data, place.block != nullptr ? place.block->number : 0ULL);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(data, static_cast<unsigned>(origin == Origin::kManaged));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(data, place.block != nullptr ? place.block->device : Runtime::ordinal());
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return put(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return put(data, place.allocation->begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put(data, place.allocation->end - place.allocation->begin);
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return put(data, 0ULL);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(data, place.block != nullptr ? place.block->pool : nullptr);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

// What cuPointerGetAttributes gives for an attribute that a pointer does not have. For a range
// nothing is stored, as NVIDIA's driver does it.
CUresult put_nothing(CUpointer_attribute attribute, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return put(data, 0ULL);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(data, CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return put(data, 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return with_context(__func__, [&] {
    Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(runtime.mutex);
    const auto place = place_of(runtime, address);
    if (data == nullptr || !place) return CUDA_ERROR_INVALID_VALUE;
    return put_attribute(runtime, *place, attribute, data);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  return with_context(__func__, [&] {
    if (attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(runtime.mutex);
    const auto place = place_of(runtime, address);
    for (unsigned i = 0; i < count; ++i) {
      if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      CUresult result = CUDA_ERROR_INVALID_VALUE;
      if (place) result = put_attribute(runtime, *place, attributes[i], data[i]);
      if (!place && attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER)
        result = put(data[i], address);
      if (result == CUDA_ERROR_INVALID_VALUE) result = put_nothing(attributes[i], data[i]);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  return with_context(__func__, [&] {
    const Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(Runtime::get().mutex);
    if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
        !place_of(runtime, address))
      return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;  // without effect
  });
}
