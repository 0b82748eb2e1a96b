// SPDX-License-Identifier: Apache-2.0
// Launches. CUDA Driver API, "Execution Control".
#include "driver/structures.hpp"

#include <span>

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
