// SPDX-License-Identifier: Apache-2.0
// Allocation and memory pools. CUDA Driver API, "Memory Management", "Stream Ordered Memory
// Allocator".
#include "driver/api.hpp"
#include "runtime/allocations.hpp"
#include "runtime/graph/capture.hpp"

using namespace vgpu::driver;
using vgpu::runtime::Block;
using vgpu::runtime::Origin;

namespace {

// An allocation by the current context. Zero bytes are an error, unlike in the runtime API.
CUresult allocate(const char* name, void** pointer, std::size_t bytes, Origin origin,
                  unsigned flags, const void* caller) {
  return in_context(name, [&](Runtime& runtime) {
    vgpu::runtime::refuse_in_capture(runtime);
    if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
    return vgpu::runtime::allocate(runtime, pointer, bytes, origin, flags, caller);
  });
}

CUresult allocate(const char* name, CUdeviceptr* address, std::size_t bytes, Origin origin,
                  unsigned flags, const void* caller) {
  if (address == nullptr)
    return allocate(name, static_cast<void**>(nullptr), bytes, origin, flags, caller);
  void* pointer = nullptr;
  const CUresult result = allocate(name, &pointer, bytes, origin, flags, caller);
  if (result == CUDA_SUCCESS) *address = address_of(pointer);
  return result;
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return with_context(__func__, [&] { return cudaMemGetInfo(free, total); });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return allocate(__func__, address, bytes, Origin::kDevice, 0, __builtin_return_address(0));
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  if (address == nullptr || pitch == nullptr || width == 0 || height == 0 ||
      (element != 4 && element != 8 && element != 16))
    return missing_context() != CUDA_SUCCESS ? missing_context() : CUDA_ERROR_INVALID_VALUE;
  return with_context(__func__, [&] {
    void* pointer = nullptr;
    const cudaError_t error = cudaMallocPitch(&pointer, pitch, width, height);
    if (error == cudaSuccess) *address = address_of(pointer);
    return error;
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return with_context(__func__, [&] { return cudaFree(pointer_of(address)); });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return in_context(__func__, [&](Runtime& runtime) {
    const Block* const block = runtime.pointers.covering(pointer_of(address));
    if (block != nullptr) {
      if (base != nullptr) *base = block->begin;
      if (bytes != nullptr) *bytes = block->bytes;
      return cudaSuccess;
    }
    const vgpu::Allocation* const variable = runtime.memory.find(address);  // a module's
    if (variable == nullptr || variable->freed || variable->name.empty())
      return cudaErrorSymbolNotFound;
    if (base != nullptr) *base = variable->begin;
    if (bytes != nullptr) *bytes = variable->end - variable->begin;
    return cudaSuccess;
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return allocate(__func__, pointer, bytes, Origin::kPinnedHost, 0, __builtin_return_address(0));
}

CUresult cuMemFreeHost(void* pointer) {
  return with_context(__func__, [&] { return cudaFreeHost(pointer); });
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if ((flags & ~kKnown) != 0)
    return missing_context() != CUDA_SUCCESS ? missing_context() : CUDA_ERROR_INVALID_VALUE;
  return allocate(__func__, pointer, bytes, Origin::kPinnedHost, flags,
                  __builtin_return_address(0));
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
  return with_context(__func__, [&] {
    void* device = nullptr;
    if (address == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = cudaHostGetDevicePointer(&device, pointer, flags);
    if (error == cudaSuccess) *address = address_of(device);
    return error;
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return with_context(__func__, [&] { return cudaHostGetFlags(flags, pointer); });
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return with_context(__func__, [&] { return cudaHostRegister(pointer, bytes, flags); });
}

CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  return with_context(__func__, [&] { return cudaHostUnregister(pointer); });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return missing_context() != CUDA_SUCCESS ? missing_context() : CUDA_ERROR_INVALID_VALUE;
  return allocate(__func__, address, bytes, Origin::kManaged, flags, __builtin_return_address(0));
}

namespace {

cudaMemLocation location_of(CUdevice device) {
  return {device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
          device == CU_DEVICE_CPU ? 0 : device};
}

}  // namespace

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation location,
                               unsigned flags, CUstream stream) {
  return with_context(__func__, [&] {
    return cudaMemPrefetchAsync(pointer_of(address), bytes, *same<cudaMemLocation>(&location),
                                flags, stream);
  });
}
VGPU_TWIN(cuMemPrefetchAsync_v2, _ptsz, 5);

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return with_context(__func__, [&] {
    return cudaMemPrefetchAsync(pointer_of(address), bytes, location_of(device), 0, stream);
  });
}
VGPU_TWIN(cuMemPrefetchAsync, _ptsz, 4);

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        CUmemLocation location) {
  return with_context(__func__, [&] {
    return cudaMemAdvise(pointer_of(address), bytes,
                         static_cast<cudaMemoryAdvise>(static_cast<int>(advice)),
                         *same<cudaMemLocation>(&location));
  });
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return with_context(__func__, [&] {
    return cudaMemAdvise(pointer_of(address), bytes,
                         static_cast<cudaMemoryAdvise>(static_cast<int>(advice)),
                         location_of(device));
  });
}

namespace {

// Calls allocate(&pointer) and stores what it allocated.
template <class Allocate>
CUresult store_allocated(const char* name, CUdeviceptr* address, std::size_t bytes,
                         Allocate allocate) {
  return with_context(name, [&] {
    void* pointer = nullptr;
    if (address == nullptr || bytes == 0) return cudaErrorInvalidValue;
    const cudaError_t error = allocate(&pointer);
    if (error == cudaSuccess) *address = address_of(pointer);
    return error;
  });
}

cudaMemPoolAttr attribute_of(CUmemPool_attribute attribute) {
  return static_cast<cudaMemPoolAttr>(static_cast<int>(attribute));
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return store_allocated(__func__, address, bytes,
                         [&](void** pointer) { return cudaMallocAsync(pointer, bytes, stream); });
}
VGPU_TWIN(cuMemAllocAsync, _ptsz, 3);

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return store_allocated(__func__, address, bytes, [&](void** pointer) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
  });
}
VGPU_TWIN(cuMemAllocFromPoolAsync, _ptsz, 4);

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return with_context(__func__, [&] { return cudaFreeAsync(pointer_of(address), stream); });
}
VGPU_TWIN(cuMemFreeAsync, _ptsz, 2);

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* wanted) {
  return with_driver(__func__,
                     [&] { return cudaMemPoolCreate(pool, same<const cudaMemPoolProps>(wanted)); });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return with_driver(__func__, [&] { return cudaMemPoolDestroy(pool); });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
  return with_driver(__func__, [&] { return cudaMemPoolTrimTo(pool, bytes); });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return with_driver(__func__,
                     [&] { return cudaMemPoolSetAttribute(pool, attribute_of(attribute), value); });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return with_driver(__func__,
                     [&] { return cudaMemPoolGetAttribute(pool, attribute_of(attribute), value); });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, size_t count) {
  return with_driver(__func__, [&] {
    return cudaMemPoolSetAccess(pool, same<const cudaMemAccessDesc>(list), count);
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return with_driver(__func__, [&] {
    return cudaMemPoolGetAccess(same<cudaMemAccessFlags>(flags), pool,
                                same<cudaMemLocation>(location));
  });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                CUmemAllocationType type) {
  return with_driver(__func__, [&] {
    return cudaMemGetDefaultMemPool(pool, same<cudaMemLocation>(location),
                                    static_cast<cudaMemAllocationType>(static_cast<int>(type)));
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return with_driver(__func__, [&] {
    return cudaMemGetMemPool(pool, same<cudaMemLocation>(location),
                             static_cast<cudaMemAllocationType>(static_cast<int>(type)));
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return with_driver(__func__, [&] {
    return cudaMemSetMemPool(same<cudaMemLocation>(location),
                             static_cast<cudaMemAllocationType>(static_cast<int>(type)), pool);
  });
}

// Memory of other processes.
CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return with_context(__func__, [&] {
    return cudaIpcGetMemHandle(same<cudaIpcMemHandle_t>(handle), pointer_of(address));
  });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return with_context(__func__, [&] {
    void* pointer = nullptr;
    if (address == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error =
        cudaIpcOpenMemHandle(&pointer, *same<cudaIpcMemHandle_t>(&handle), flags);
    if (error == cudaSuccess) *address = address_of(pointer);
    return error;
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return with_context(__func__, [&] { return cudaIpcCloseMemHandle(pointer_of(address)); });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return with_context(
      __func__, [&] { return cudaIpcGetEventHandle(same<cudaIpcEventHandle_t>(handle), event); });
}

CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return with_context(__func__, [&] {
    return cudaIpcOpenEventHandle(event, *same<cudaIpcEventHandle_t>(&handle));
  });
}
