// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation. A pool only counts bytes. Its memory is allocated from the device by
// the call and freed in the order of the stream. No memory is reserved beyond what is in use.
#include "runtime/pools.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/allocations.hpp"
#include "runtime/graph/capture.hpp"

namespace vgpu::runtime {

cudaMemPool_t Pools::create(int device) {
  pools_.push_back(std::make_unique<Pool>());
  pools_.back()->device = device;
  return reinterpret_cast<cudaMemPool_t>(pools_.back().get());
}

Pool* Pools::find(cudaMemPool_t handle) {
  for (const auto& pool : pools_) {
    if (reinterpret_cast<cudaMemPool_t>(pool.get()) == handle) return pool.get();
  }
  return nullptr;
}

Pool& Pools::known(cudaMemPool_t handle) {
  if (Pool* const pool = find(handle)) return *pool;
  refuse();
}

bool Pools::destroy(cudaMemPool_t handle) {
  return std::erase_if(pools_, [&](const auto& pool) {
           return reinterpret_cast<cudaMemPool_t>(pool.get()) == handle;
         }) != 0;
}

cudaMemPool_t Pools::default_of(int device) {
  cudaMemPool_t& pool = defaults_[device];
  if (pool == nullptr) pool = create(device);
  return pool;
}

cudaMemPool_t Pools::current_of(int device) {
  const auto found = currents_.find(device);
  return found == currents_.end() || find(found->second) == nullptr ? default_of(device)
                                                                    : found->second;
}

bool Pools::is_default(cudaMemPool_t pool) const {
  return std::ranges::any_of(defaults_, [&](const auto& item) { return item.second == pool; });
}

void allocate_from(Runtime& runtime, cudaMemPool_t handle, void** pointer, std::size_t bytes,
                   const void* caller) {
  Pool& pool = runtime.pools.known(handle);
  const OnDevice there(pool.device);
  allocate(runtime, pointer, bytes, Origin::kDevice, 0, caller);
  if (bytes == 0) return;
  runtime.pointers.starting_at(*pointer)->pool = handle;
  pool.used += bytes;
  pool.most_used = std::max(pool.most_used, pool.used);
}

void forget_pooled(Runtime& runtime, void* pointer) {
  if (const Block* block = runtime.pointers.starting_at(pointer);
      block != nullptr && block->pool != nullptr) {
    if (Pool* pool = runtime.pools.find(block->pool)) pool->used -= block->bytes;
  }
}

namespace {

bool on_device(const Runtime& runtime, const cudaMemLocation* location) {
  return location != nullptr && location->type == cudaMemLocationTypeDevice &&
         runtime.has_device(location->id);
}

template <class T>
void put(void* value, T content) {
  std::memcpy(value, &content, sizeof content);
}

template <class T>
void take(const void* value, T& content) {
  std::memcpy(&content, value, sizeof content);
}

void allocate_in(Runtime& runtime, Stream& on, cudaMemPool_t pool, void** pointer,
                 std::size_t bytes, const void* caller) {
  if (capture_of(on) == nullptr || bytes == 0)
    return allocate_from(runtime, pool, pointer, bytes, caller);
  const Pool& from = runtime.pools.known(pool);
  if (pointer == nullptr) refuse();
  auto memory = std::make_shared<GraphMemory>(runtime, bytes, from.device, caller);
  cudaMemAllocNodeParams params{};
  params.bytesize = bytes;
  params.dptr = *pointer = memory->pointer();
  record(on, AllocateWork{params, std::move(memory)});
}

}  // namespace
}  // namespace vgpu::runtime

using namespace vgpu::runtime;

VGPU_CALL(cudaMemPoolCreate, cudaMemPool_t* pool, const cudaMemPoolProps* wanted) {
  if (pool == nullptr || wanted == nullptr || wanted->allocType != cudaMemAllocationTypePinned ||
      !on_device(runtime, &wanted->location)) {
    refuse();
  }
  if (wanted->handleTypes != cudaMemHandleTypeNone) {
    refuse(cudaErrorNotSupported,
           "cudaMemPoolCreate: pools for other processes are not implemented");
  }
  *pool = runtime.pools.create(wanted->location.id);
}

VGPU_CALL(cudaMemPoolDestroy, cudaMemPool_t pool) {
  if (runtime.pools.is_default(pool) || !runtime.pools.destroy(pool)) refuse();
}

namespace {

using PoolOf = cudaMemPool_t (Pools::*)(int device);

cudaError_t pool_of(cudaMemPool_t* pool, int device, PoolOf of) {
  return call([&](Runtime& runtime) {
    if (pool == nullptr) refuse();
    runtime.known_device(device);
    *pool = (runtime.pools.*of)(device);
  });
}

cudaError_t pool_of(cudaMemPool_t* pool, const cudaMemLocation* location,
                    cudaMemAllocationType type, PoolOf of) {
  return call([&](Runtime& runtime) {
    if (pool == nullptr || type != cudaMemAllocationTypePinned || !on_device(runtime, location))
      refuse();
    *pool = (runtime.pools.*of)(location->id);
  });
}

}  // namespace

VGPU_BY(cudaDeviceGetDefaultMemPool, 2, pool_of(a0, a1, &Pools::default_of));
VGPU_BY(cudaDeviceGetMemPool, 2, pool_of(a0, a1, &Pools::current_of));

VGPU_CALL(cudaDeviceSetMemPool, int device, cudaMemPool_t pool) {
  runtime.known_device(device);
  if (runtime.pools.known(pool).device != device) refuse();
  runtime.pools.set_current(device, pool);
}

VGPU_BY(cudaMemGetDefaultMemPool, 3, pool_of(a0, a1, a2, &Pools::default_of));
VGPU_BY(cudaMemGetMemPool, 3, pool_of(a0, a1, a2, &Pools::current_of));

VGPU_CALL(cudaMemSetMemPool, cudaMemLocation* location, cudaMemAllocationType type,
          cudaMemPool_t pool) {
  const Pool& found = runtime.pools.known(pool);
  if (type != cudaMemAllocationTypePinned || !on_device(runtime, location) ||
      found.device != location->id)
    refuse();
  runtime.pools.set_current(location->id, pool);
}

VGPU_CALL(cudaMemPoolGetAttribute, cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  const Pool& pool = runtime.pools.known(handle);
  if (value == nullptr) refuse();
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies: return put(value, pool.follow_events);
    case cudaMemPoolReuseAllowOpportunistic: return put(value, pool.opportunistic);
    case cudaMemPoolReuseAllowInternalDependencies: return put(value, pool.internal_dependencies);
    case cudaMemPoolAttrReleaseThreshold: return put(value, pool.release_threshold);
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent: return put(value, pool.used);
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: return put(value, pool.most_used);
    default: refuse();
  }
}

VGPU_CALL(cudaMemPoolSetAttribute, cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  Pool& pool = runtime.pools.known(handle);
  if (value == nullptr) refuse();
  std::uint64_t high = 0;
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies: return take(value, pool.follow_events);
    case cudaMemPoolReuseAllowOpportunistic: return take(value, pool.opportunistic);
    case cudaMemPoolReuseAllowInternalDependencies: return take(value, pool.internal_dependencies);
    case cudaMemPoolAttrReleaseThreshold: return take(value, pool.release_threshold);
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      take(value, high);
      if (high != 0) refuse();  // the maximum can only be reset to 0
      pool.most_used = pool.used;
      return;
    default: refuse();
  }
}

VGPU_CALL(cudaMemPoolTrimTo, cudaMemPool_t handle, size_t) { runtime.pools.known(handle); }

// Without effect: every device can access all memory.
VGPU_CALL(cudaMemPoolSetAccess, cudaMemPool_t handle, const cudaMemAccessDesc* list, size_t count) {
  runtime.pools.known(handle);
  if (list == nullptr && count != 0) refuse();
  for (std::size_t i = 0; i < count; ++i) {
    if (!on_device(runtime, &list[i].location)) refuse(cudaErrorInvalidDevice);
  }
}

VGPU_CALL(cudaMemPoolGetAccess, cudaMemAccessFlags* flags, cudaMemPool_t handle,
          cudaMemLocation* location) {
  runtime.pools.known(handle);
  if (flags == nullptr || !on_device(runtime, location)) refuse();
  *flags = cudaMemAccessFlagsProtReadWrite;
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  const void* const twin = PerThreadDefault::caller();
  const void* const caller = twin != nullptr ? twin : __builtin_return_address(0);
  return call([&](Runtime& runtime) {
    allocate_in(runtime, stream_for(runtime, stream), pool, pointer, bytes, caller);
  });
}
VGPU_TWIN(cudaMallocFromPoolAsync, _ptsz, 4);

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  const void* const twin = PerThreadDefault::caller();
  const void* const caller = twin != nullptr ? twin : __builtin_return_address(0);
  return call([&](Runtime& runtime) {
    Stream& on = stream_for(runtime, stream);
    allocate_in(runtime, on, runtime.pools.current_of(on.device), pointer, bytes, caller);
  });
}
VGPU_TWIN(cudaMallocAsync, _ptsz, 3);

VGPU_CALL_PTSZ(cudaFreeAsync, void* pointer, cudaStream_t stream) {
  Stream& on = stream_for(runtime, stream);
  if (capture_of(on) != nullptr) return record(on, FreeWork{pointer});
  forget_pooled(runtime, pointer);
  submit_release(runtime, on, "cudaFreeAsync", pointer);
}
