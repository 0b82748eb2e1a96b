// SPDX-License-Identifier: Apache-2.0
// Kernels and their launch: a CUkernel and its CUfunction are one object. CUDA Driver API, "Library
// Management", "Execution Control", "Occupancy".
#include <algorithm>
#include <span>

#include "driver/structures.hpp"
#include "runtime/library.hpp"

namespace vgpu::driver {

runtime::Function& kernel_of(Runtime& runtime, const void* handle) {
  runtime::Function* const function = runtime.modules.function(handle);
  if (function == nullptr || function != handle) refuse(cudaErrorInvalidResourceHandle);
  return *function;
}

cudaLaunchConfig_t launch_of(const CUlaunchConfig& config) {
  cudaLaunchConfig_t launch{};
  launch.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
  launch.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
  launch.dynamicSmemBytes = config.sharedMemBytes;
  launch.stream = config.hStream;
  launch.attrs = same<cudaLaunchAttribute>(config.attrs);
  launch.numAttrs = config.numAttrs;
  return launch;
}

namespace {

// What `extra` says: CU_LAUNCH_PARAM_BUFFER_POINTER and _BUFFER_SIZE, each followed by its value,
// then CU_LAUNCH_PARAM_END. Throws Failure.
std::span<std::byte> buffer_of(void** extra) {
  void* buffer = nullptr;
  const std::size_t* bytes = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = static_cast<const std::size_t*>(extra[1]);
    } else {
      refuse();
    }
  }
  if (buffer == nullptr || bytes == nullptr) refuse();
  return {static_cast<std::byte*>(buffer), *bytes};
}

}  // namespace

Arguments::Arguments(const void* function, void** params, void** extra) : given_(params) {
  require(runtime::call([&](Runtime& runtime) {
    const auto& attributes =
        vgpu::attributes(runtime::loaded_kernel(runtime, kernel_of(runtime, function)));
    if (params != nullptr && extra != nullptr) refuse();
    if (extra == nullptr) return;
    const std::span<std::byte> buffer = buffer_of(extra);
    if (const Param* last = attributes.params.empty() ? nullptr : &attributes.params.back();
        buffer.size() > (last == nullptr ? 0 : std::size_t{last->offset} + last->size))
      refuse(cudaErrorLaunchOutOfResources);
    for (const Param& param : attributes.params) {
      if (param.offset > buffer.size() || param.size > buffer.size() - param.offset) refuse();
      in_buffer_.push_back(buffer.data() + param.offset);
    }
  }));
}

}  // namespace vgpu::driver

using namespace vgpu::driver;
using vgpu::runtime::Function;

namespace {

template <class Handle>
Handle handle_of(Function& function) {
  return reinterpret_cast<Handle>(&function);
}

void put_attribute(Runtime& runtime, const char* name, int* value, CUfunction_attribute attribute,
                   const void* handle) {
  if (value == nullptr) refuse();
  Function& function = kernel_of(runtime, handle);
  const cudaFuncAttributes all = vgpu::runtime::attributes_of(runtime, function);
  if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS && all.numRegs == 0)
    vgpu::runtime::say_unknown_registers(runtime, name, function);
  switch (attribute) {
#define VGPU_ATTRIBUTE(name, field) \
  case CU_FUNC_ATTRIBUTE_##name: *value = static_cast<int>(all.field); break;
    VGPU_ATTRIBUTE(MAX_THREADS_PER_BLOCK, maxThreadsPerBlock)
    VGPU_ATTRIBUTE(SHARED_SIZE_BYTES, sharedSizeBytes)
    VGPU_ATTRIBUTE(CONST_SIZE_BYTES, constSizeBytes)
    VGPU_ATTRIBUTE(LOCAL_SIZE_BYTES, localSizeBytes)
    VGPU_ATTRIBUTE(NUM_REGS, numRegs)
    VGPU_ATTRIBUTE(PTX_VERSION, ptxVersion)
    VGPU_ATTRIBUTE(BINARY_VERSION, binaryVersion)
    VGPU_ATTRIBUTE(CACHE_MODE_CA, cacheModeCA)
    VGPU_ATTRIBUTE(MAX_DYNAMIC_SHARED_SIZE_BYTES, maxDynamicSharedSizeBytes)
    VGPU_ATTRIBUTE(PREFERRED_SHARED_MEMORY_CARVEOUT, preferredShmemCarveout)
    VGPU_ATTRIBUTE(CLUSTER_SIZE_MUST_BE_SET, clusterDimMustBeSet)
    VGPU_ATTRIBUTE(REQUIRED_CLUSTER_WIDTH, requiredClusterWidth)
    VGPU_ATTRIBUTE(REQUIRED_CLUSTER_HEIGHT, requiredClusterHeight)
    VGPU_ATTRIBUTE(REQUIRED_CLUSTER_DEPTH, requiredClusterDepth)
    VGPU_ATTRIBUTE(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, nonPortableClusterSizeAllowed)
    VGPU_ATTRIBUTE(CLUSTER_SCHEDULING_POLICY_PREFERENCE, clusterSchedulingPolicyPreference)
#undef VGPU_ATTRIBUTE
    default: refuse();
  }
}

// Only some attributes can be set.
void set_attribute(CUfunction_attribute attribute, int value, const void* handle) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return require(
          cudaFuncSetAttribute(handle, static_cast<cudaFuncAttribute>(attribute), value));
    default: refuse();
  }
}

CUresult get_parameter(const char* name, const void* handle, size_t index, size_t* offset,
                       size_t* size) {
  return in_driver(name, [&](Runtime& runtime) {
    Function& function = kernel_of(runtime, handle);
    const auto& params = vgpu::attributes(vgpu::runtime::loaded_kernel(runtime, function)).params;
    if (index >= params.size() || offset == nullptr) refuse();
    *offset = params[index].offset;
    if (size != nullptr) *size = params[index].size;
  });
}

}  // namespace

VGPU_IN_CONTEXT(cuFuncGetAttribute, int* value, CUfunction_attribute attribute,
                CUfunction function) {
  put_attribute(runtime, "cuFuncGetAttribute", value, attribute, function);
}

VGPU_WITHOUT_LOCK(cuFuncSetAttribute, CUfunction function, CUfunction_attribute attribute,
                  int value) {
  set_attribute(attribute, value, function);
}

VGPU_IN_DRIVER(cuKernelGetAttribute, int* value, CUfunction_attribute attribute, CUkernel kernel,
               CUdevice device) {
  runtime.known_device(device);
  put_attribute(runtime, "cuKernelGetAttribute", value, attribute, kernel);
}

VGPU_WITHOUT_CONTEXT(cuKernelSetAttribute, CUfunction_attribute attribute, int value,
                     CUkernel kernel, CUdevice device) {
  runtime.known_device(device);
  set_attribute(attribute, value, kernel);
}

VGPU_IN_DRIVER(cuFuncGetName, const char** name, CUfunction function) {
  const Function& known = kernel_of(runtime, function);
  store(name, known.name.c_str());
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel));
}

VGPU_BY(cuFuncGetParamInfo, 4, get_parameter(__func__, a0, a1, a2, a3));
VGPU_BY(cuKernelGetParamInfo, 4, get_parameter(__func__, a0, a1, a2, a3));

VGPU_IN_DRIVER(cuFuncGetModule, CUmodule* module, CUfunction function) {
  const Function& known = kernel_of(runtime, function);
  store(module, reinterpret_cast<CUmodule>(&vgpu::runtime::library_of(*known.binary)));
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return cuFuncGetModule(reinterpret_cast<CUmodule*>(library),
                         reinterpret_cast<CUfunction>(kernel));
}

VGPU_IN_DRIVER(cuKernelGetFunction, CUfunction* function, CUkernel kernel) {
  Function& known = kernel_of(runtime, kernel);
  store(function, handle_of<CUfunction>(known));
}

VGPU_IN_DRIVER(cuFuncIsLoaded, CUfunctionLoadingState* state, CUfunction function) {
  kernel_of(runtime, function);
  store(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

VGPU_IN_DRIVER(cuFuncLoad, CUfunction function) {
  Function& known = kernel_of(runtime, function);
  vgpu::runtime::loaded_kernel(runtime, known);
}

// Without effect: the virtual GPU has only one configuration of caches and banks.
VGPU_IN_DRIVER(cuFuncSetCacheConfig, CUfunction function, CUfunc_cache config) {
  kernel_of(runtime, function);
  if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) refuse();
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  if (!Runtime::get().has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config);
}

VGPU_IN_DRIVER(cuFuncSetSharedMemConfig, CUfunction function, CUsharedconfig config) {
  kernel_of(runtime, function);
  if (!is_known(config)) refuse();
}

VGPU_WITH_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 5);

VGPU_BY(cuOccupancyMaxActiveBlocksPerMultiprocessor, 4,
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(a0, a1, a2, a3, CU_OCCUPANCY_DEFAULT));

// The largest block of those with the most resident threads, and a grid that fills the device.
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared,
                                                   int limit, unsigned) {
  constexpr int kWarp = 32;
  return with_context(__func__, [&] {
    if (grid == nullptr || block == nullptr || limit < 0) refuse();
    int most = 0, best_block = 0, best_blocks = 0, multiprocessors = 0;
    require(vgpu::runtime::call([&](Runtime& runtime) {
      most = vgpu::runtime::thread_limit(runtime, kernel_of(runtime, function));
      multiprocessors = runtime.device().multiprocessors;
    }));
    if (limit != 0) most = std::min(most, limit);
    for (int threads = most; threads > 0; threads = (threads - 1) / kWarp * kWarp) {
      const size_t dynamic = shared_of != nullptr ? shared_of(threads) : shared;
      int blocks = 0;
      require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, dynamic));
      if (blocks * threads <= best_blocks * best_block) continue;
      best_block = threads;
      best_blocks = blocks;
    }
    *block = best_block;
    *grid = best_blocks * multiprocessors;
  });
}
VGPU_BY(cuOccupancyMaxPotentialBlockSize, 6,
        cuOccupancyMaxPotentialBlockSizeWithFlags(a0, a1, a2, a3, a4, a5, CU_OCCUPANCY_DEFAULT));

VGPU_WITH_CONTEXT(cuOccupancyAvailableDynamicSMemPerBlock,
                  cudaOccupancyAvailableDynamicSMemPerBlock, 4);

VGPU_WITHOUT_LOCK(cuOccupancyMaxPotentialClusterSize, int* blocks, CUfunction function,
                  const CUlaunchConfig* config) {
  if (config == nullptr) refuse();
  const cudaLaunchConfig_t launch = launch_of(*config);
  require(cudaOccupancyMaxPotentialClusterSize(blocks, function, &launch));
}

VGPU_WITHOUT_LOCK(cuOccupancyMaxActiveClusters, int* clusters, CUfunction function,
                  const CUlaunchConfig* config) {
  if (config == nullptr) refuse();
  const cudaLaunchConfig_t launch = launch_of(*config);
  require(cudaOccupancyMaxActiveClusters(clusters, function, &launch));
}

VGPU_WITHOUT_LOCK_PTSZ(cuLaunchKernel, CUfunction function, unsigned grid_x, unsigned grid_y,
                       unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                       unsigned shared, CUstream stream, void** params, void** extra) {
  Arguments arguments(function, params, extra);
  require(cudaLaunchKernel(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z},
                           arguments.pointers(), shared, stream));
}

VGPU_WITHOUT_LOCK_PTSZ(cuLaunchCooperativeKernel, CUfunction function, unsigned grid_x,
                       unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                       unsigned block_z, unsigned shared, CUstream stream, void** params) {
  Arguments arguments(function, params, nullptr);
  require(cudaLaunchCooperativeKernel(function, {grid_x, grid_y, grid_z},
                                      {block_x, block_y, block_z}, arguments.pointers(), shared,
                                      stream));
}

VGPU_WITHOUT_LOCK_PTSZ(cuLaunchKernelEx, const CUlaunchConfig* config, CUfunction function,
                       void** params, void** extra) {
  if (config == nullptr) refuse();
  const cudaLaunchConfig_t launch = launch_of(*config);
  Arguments arguments(function, params, extra);
  require(cudaLaunchKernelExC(&launch, function, arguments.pointers()));
}
