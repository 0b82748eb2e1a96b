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
    if (pointer == nullptr || bytes == 0) refuse();
    vgpu::runtime::allocate(runtime, pointer, bytes, origin, flags, caller);
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

// Stores the pointer that get(&pointer) puts there.
template <class Get>
void store_address(CUdeviceptr* address, Get get) {
  if (address == nullptr) refuse();
  void* pointer = nullptr;
  get(&pointer);
  *address = address_of(pointer);
}

}  // namespace

VGPU_WITH_CONTEXT(cuMemGetInfo_v2, cudaMemGetInfo, 2);

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return allocate(__func__, address, bytes, Origin::kDevice, 0, __builtin_return_address(0));
}

VGPU_WITHOUT_LOCK(cuMemAllocPitch_v2, CUdeviceptr* address, size_t* pitch, size_t width,
                  size_t height, unsigned element) {
  if (pitch == nullptr || width == 0 || height == 0 ||
      (element != 4 && element != 8 && element != 16))
    refuse();
  store_address(address,
                [&](void** pointer) { require(cudaMallocPitch(pointer, pitch, width, height)); });
}

VGPU_WITH_CONTEXT(cuMemFree_v2, cudaFree, 1);

VGPU_IN_CONTEXT(cuMemGetAddressRange_v2, CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  const Block* const block = runtime.pointers.covering(pointer_of(address));
  if (block != nullptr) {
    if (base != nullptr) *base = block->begin;
    if (bytes != nullptr) *bytes = block->bytes;
    return;
  }
  const vgpu::Allocation* const variable = runtime.memory.find(address);  // a module's
  if (variable == nullptr || variable->freed || variable->name.empty())
    refuse(cudaErrorSymbolNotFound);
  if (base != nullptr) *base = variable->begin;
  if (bytes != nullptr) *bytes = variable->end - variable->begin;
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return allocate(__func__, pointer, bytes, Origin::kPinnedHost, 0, __builtin_return_address(0));
}

VGPU_WITH_CONTEXT(cuMemFreeHost, cudaFreeHost, 1);

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if ((flags & ~kKnown) != 0)
    return missing_context() != CUDA_SUCCESS ? missing_context() : CUDA_ERROR_INVALID_VALUE;
  return allocate(__func__, pointer, bytes, Origin::kPinnedHost, flags,
                  __builtin_return_address(0));
}

VGPU_WITHOUT_LOCK(cuMemHostGetDevicePointer_v2, CUdeviceptr* address, void* pointer,
                  unsigned flags) {
  store_address(address,
                [&](void** device) { require(cudaHostGetDevicePointer(device, pointer, flags)); });
}

VGPU_WITH_CONTEXT(cuMemHostGetFlags, cudaHostGetFlags, 2);
VGPU_WITH_CONTEXT(cuMemHostRegister_v2, cudaHostRegister, 3);
VGPU_WITH_CONTEXT(cuMemHostRegister, cudaHostRegister, 3);
VGPU_WITH_CONTEXT(cuMemHostUnregister, cudaHostUnregister, 1);

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
    return missing_context() != CUDA_SUCCESS ? missing_context() : CUDA_ERROR_INVALID_VALUE;
  return allocate(__func__, address, bytes, Origin::kManaged, flags, __builtin_return_address(0));
}

static cudaMemLocation location_of(CUdevice device) {
  return {device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
          device == CU_DEVICE_CPU ? 0 : device};
}

VGPU_IN_STREAM(cuMemPrefetchAsync_v2, cudaMemPrefetchAsync, 5);

VGPU_WITHOUT_LOCK_PTSZ(cuMemPrefetchAsync, CUdeviceptr address, size_t bytes, CUdevice device,
                       CUstream stream) {
  require(cudaMemPrefetchAsync(pointer_of(address), bytes, location_of(device), 0, stream));
}

VGPU_WITH_CONTEXT(cuMemAdvise_v2, cudaMemAdvise, 4);

VGPU_WITHOUT_LOCK(cuMemAdvise, CUdeviceptr address, size_t bytes, CUmem_advise advice,
                  CUdevice device) {
  require(cudaMemAdvise(pointer_of(address), bytes,
                        static_cast<cudaMemoryAdvise>(static_cast<int>(advice)),
                        location_of(device)));
}

VGPU_WITHOUT_LOCK_PTSZ(cuMemAllocAsync, CUdeviceptr* address, size_t bytes, CUstream stream) {
  if (bytes == 0) refuse();
  store_address(address, [&](void** pointer) { require(cudaMallocAsync(pointer, bytes, stream)); });
}

VGPU_WITHOUT_LOCK_PTSZ(cuMemAllocFromPoolAsync, CUdeviceptr* address, size_t bytes,
                       CUmemoryPool pool, CUstream stream) {
  if (bytes == 0) refuse();
  store_address(address, [&](void** pointer) {
    require(cudaMallocFromPoolAsync(pointer, bytes, pool, stream));
  });
}
VGPU_IN_STREAM(cuMemFreeAsync, cudaFreeAsync, 2);
VGPU_WITH_DRIVER(cuMemPoolCreate, cudaMemPoolCreate, 2);
VGPU_WITH_DRIVER(cuMemPoolDestroy, cudaMemPoolDestroy, 1);
VGPU_WITH_DRIVER(cuMemPoolTrimTo, cudaMemPoolTrimTo, 2);
VGPU_WITH_DRIVER(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, 3);
VGPU_WITH_DRIVER(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, 3);
VGPU_WITH_DRIVER(cuMemPoolSetAccess, cudaMemPoolSetAccess, 3);
VGPU_WITH_DRIVER(cuMemPoolGetAccess, cudaMemPoolGetAccess, 3);
VGPU_WITH_DRIVER(cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool, 3);
VGPU_WITH_DRIVER(cuMemGetMemPool, cudaMemGetMemPool, 3);
VGPU_WITH_DRIVER(cuMemSetMemPool, cudaMemSetMemPool, 3);

// Memory of other processes.
VGPU_WITH_CONTEXT(cuIpcGetMemHandle, cudaIpcGetMemHandle, 2);

VGPU_WITHOUT_LOCK(cuIpcOpenMemHandle_v2, CUdeviceptr* address, CUipcMemHandle handle,
                  unsigned flags) {
  store_address(address, [&](void** pointer) {
    require(cudaIpcOpenMemHandle(pointer, *same<cudaIpcMemHandle_t>(&handle), flags));
  });
}
VGPU_BY(cuIpcOpenMemHandle, 3, cuIpcOpenMemHandle_v2(a0, a1, a2));

VGPU_WITH_CONTEXT(cuIpcCloseMemHandle, cudaIpcCloseMemHandle, 1);
VGPU_WITH_CONTEXT(cuIpcGetEventHandle, cudaIpcGetEventHandle, 2);
VGPU_WITH_CONTEXT(cuIpcOpenEventHandle, cudaIpcOpenEventHandle, 2);
