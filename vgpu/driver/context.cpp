// SPDX-License-Identifier: Apache-2.0
// Contexts and each thread's stack of them. CUDA Driver API, "Primary Context Management", "Context
// Management", "Peer Context Memory Access".
#include <mutex>
#include <vector>

#include "driver/api.hpp"
#include "runtime/allocations.hpp"
#include "runtime/library.hpp"
#include "runtime/stream_order.hpp"

using namespace vgpu::driver;
using vgpu::runtime::Block;
using vgpu::runtime::Context;

namespace {

constexpr unsigned kApiVersion = 3020;  // what cuCtxGetApiVersion returns since CUDA 3.2

CUcontext handle_of(const Context* context) {
  return reinterpret_cast<CUcontext>(const_cast<Context*>(context));
}

// Throws Failure if there is no such live context.
Context& known_context(Runtime& runtime, CUcontext handle) {
  Context* const context = runtime.contexts.find(handle);
  if (context == nullptr) refuse(cudaErrorDeviceUninitialized);
  if (context->destroyed) refuse(cudaErrorContextIsDestroyed);
  return *context;
}

// Waits for all work, and frees what belongs to the context: modules, memory and streams.
void clear(Runtime& runtime, const Context& context) {
  vgpu::runtime::await(runtime, vgpu::runtime::all_tasks(runtime));
  for (vgpu::runtime::Library* library : vgpu::runtime::libraries_of(context))
    vgpu::runtime::unload_library(runtime, *library);
  std::vector<Block> blocks;
  for (const auto& [begin, block] : runtime.pointers.all()) {
    if (block.context == &context) blocks.push_back(block);
  }
  for (const Block& block : blocks) {
    vgpu::runtime::release(runtime, "the end of a context", pointer_of(block.begin),
                           block.origin == vgpu::runtime::Origin::kPinnedHost);
  }
  runtime.streams.destroy_all(context);
}

bool known_flags(unsigned flags) {
  constexpr unsigned kKnown = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                              CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE |
                              CU_CTX_SYNC_MEMOPS;
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;  // at most one way of waiting
  return (flags & ~kKnown) == 0 && (schedule & (schedule - 1)) == 0;
}

Context& known_primary(Runtime& runtime, CUdevice device) {
  runtime.known_device(device);
  return runtime.contexts.primary(device);
}

CUresult create(const char* name, CUcontext* context, unsigned flags, CUdevice device) {
  return in_driver(name, [&](Runtime& runtime) {
    if (context == nullptr || !known_flags(flags)) refuse();
    runtime.known_device(device);
    Context& created = runtime.contexts.create(device, flags);
    vgpu::runtime::push_context(created);
    *context = handle_of(&created);
  });
}

// Calls body(the current context), or returns CUDA_ERROR_INVALID_CONTEXT.
template <class Body>
CUresult about_current(const char* name, Body body) {
  return with_context(name, [&] {
    const std::scoped_lock lock(Runtime::get().mutex);  // it may be current in several threads
    return body(*vgpu::runtime::current_context());
  });
}

}  // namespace

VGPU_IN_DRIVER(cuDevicePrimaryCtxRetain, CUcontext* context, CUdevice device) {
  Context& primary = known_primary(runtime, device);
  if (context == nullptr) refuse();
  ++primary.retained;
  primary.destroyed = false;
  *context = handle_of(&primary);
}

VGPU_IN_DRIVER(cuDevicePrimaryCtxRelease_v2, CUdevice device) {
  Context& primary = known_primary(runtime, device);
  if (primary.retained == 0) refuse(cudaErrorDeviceUninitialized);
  if (--primary.retained == 0 && !primary.used) {
    clear(runtime, primary);
    primary.destroyed = true;  // until it is retained again
  }
}
VGPU_BY(cuDevicePrimaryCtxRelease, 1, cuDevicePrimaryCtxRelease_v2(a0));

VGPU_IN_DRIVER(cuDevicePrimaryCtxReset_v2, CUdevice device) {
  clear(runtime, known_primary(runtime, device));
}
VGPU_BY(cuDevicePrimaryCtxReset, 1, cuDevicePrimaryCtxReset_v2(a0));

VGPU_IN_DRIVER(cuDevicePrimaryCtxSetFlags_v2, CUdevice device, unsigned flags) {
  Context& primary = known_primary(runtime, device);
  if (!known_flags(flags)) refuse();
  primary.flags = flags;
}
VGPU_BY(cuDevicePrimaryCtxSetFlags, 2, cuDevicePrimaryCtxSetFlags_v2(a0, a1));

VGPU_IN_DRIVER(cuDevicePrimaryCtxGetState, CUdevice device, unsigned* flags, int* active) {
  const Context& primary = known_primary(runtime, device);
  if (flags == nullptr || active == nullptr) refuse();
  *flags = primary.flags;
  *active = primary.active() ? 1 : 0;
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create(__func__, context, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* affinities, int count,
                        unsigned flags, CUdevice device) {
  if (affinities != nullptr || count != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(__func__, context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* params, unsigned flags,
                        CUdevice device) {
  if (params != nullptr && params->numExecAffinityParams != 0)
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (params != nullptr && params->cigParams != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return create(__func__, context, flags, device);
}

// The context stays on the stacks of other threads, where its use is an error.
VGPU_IN_DRIVER(cuCtxDestroy_v2, CUcontext handle) {
  if (handle == nullptr) refuse();
  Context& context = known_context(runtime, handle);
  if (context.primary) refuse(cudaErrorDeviceUninitialized);
  clear(runtime, context);
  context.destroyed = true;
  if (vgpu::runtime::current_context() == &context) vgpu::runtime::pop_context();
}
VGPU_BY(cuCtxDestroy, 1, cuCtxDestroy_v2(a0));

VGPU_IN_DRIVER(cuCtxPushCurrent_v2, CUcontext handle) {
  if (handle == nullptr) refuse();
  vgpu::runtime::push_context(known_context(runtime, handle));
}
VGPU_BY(cuCtxPushCurrent, 1, cuCtxPushCurrent_v2(a0));

VGPU_IN_DRIVER(cuCtxPopCurrent_v2, CUcontext* context) {
  const Context* const current = vgpu::runtime::current_context();
  if (current == nullptr) refuse(cudaErrorDeviceUninitialized);
  if (context != nullptr) *context = handle_of(current);
  vgpu::runtime::pop_context();
}
VGPU_BY(cuCtxPopCurrent, 1, cuCtxPopCurrent_v2(a0));

VGPU_IN_DRIVER(cuCtxSetCurrent, CUcontext handle) {
  vgpu::runtime::set_context(handle == nullptr ? nullptr : &known_context(runtime, handle));
}

VGPU_WITHOUT_CONTEXT(cuCtxGetCurrent, CUcontext* context) {
  store(context, handle_of(vgpu::runtime::current_context()));
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return about_current(__func__, [&](const Context& current) { store(device, current.device); });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  if (handle == nullptr) return cuCtxGetDevice(device);
  return in_driver(__func__, [&](Runtime& runtime) {
    if (device == nullptr) refuse();
    *device = known_context(runtime, handle).device;
  });
}

VGPU_IN_DRIVER(cuCtxGetId, CUcontext handle, unsigned long long* id) {
  const Context* const context =
      handle == nullptr ? vgpu::runtime::current_context() : &known_context(runtime, handle);
  if (context == nullptr) refuse(cudaErrorDeviceUninitialized);
  store(id, context->id);
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return about_current(__func__, [&](const Context& current) { store(flags, current.flags); });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return about_current(__func__, [&](Context& current) {
    if (!known_flags(flags)) refuse();
    current.flags = flags;
  });
}

VGPU_IN_DRIVER(cuCtxGetApiVersion, CUcontext handle, unsigned* version) {
  if (handle != nullptr)
    known_context(runtime, handle);
  else if (vgpu::runtime::current_context() == nullptr)
    refuse(cudaErrorDeviceUninitialized);
  store(version, kApiVersion);
}

VGPU_WITH_CONTEXT(cuCtxSynchronize, cudaDeviceSynchronize, 0);

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  if (handle == nullptr) return cuCtxSynchronize();
  CUresult result = cuCtxPushCurrent_v2(handle);
  if (result != CUDA_SUCCESS) return result;
  result = cuCtxSynchronize();
  cuCtxPopCurrent_v2(nullptr);
  return result;
}

VGPU_WITH_CONTEXT(cuCtxSetLimit, cudaDeviceSetLimit, 2);
VGPU_WITH_CONTEXT(cuCtxGetLimit, cudaDeviceGetLimit, 2);

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return about_current(__func__,
                       [&](const Context& current) { store(config, current.cache_config); });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return about_current(__func__, [&](Context& current) {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) refuse();
    current.cache_config = config;
  });
}

// Banks are four bytes wide on every device since Maxwell, whatever width is set.
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return about_current(
      __func__, [&](const Context&) { store(config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE); });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return about_current(__func__, [&](const Context&) {
    if (!is_known(config)) refuse();
  });
}

VGPU_WITH_CONTEXT(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange, 2);
VGPU_WITH_CONTEXT(cuCtxResetPersistingL2Cache, cudaCtxResetPersistingL2Cache, 0);

// Calls body(the device of the context `peer`) in the current context.
template <class Body>
static CUresult about_peer(const char* name, CUcontext peer, Body body) {
  CUdevice device = 0;
  const CUresult found =
      peer == nullptr ? CUDA_ERROR_INVALID_CONTEXT : cuCtxGetDevice_v2(&device, peer);
  return found != CUDA_SUCCESS ? found : with_context(name, [&] { return body(device); });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return about_peer(__func__, peer,
                    [&](int device) { return cudaDeviceEnablePeerAccess(device, flags); });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return about_peer(__func__, peer, cudaDeviceDisablePeerAccess);
}
