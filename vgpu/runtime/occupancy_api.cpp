// SPDX-License-Identifier: Apache-2.0
// The occupancy questions of the CUDA runtime. They need a kernel's registers, which only machine code has.
#include "runtime/launch.hpp"
#include "runtime/occupancy.hpp"
#include "runtime/runtime.hpp"

using namespace vgpu::runtime;

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* handle,
                                                                   int threads, size_t dynamic_shared,
                                                                   unsigned) {
  return call([&](Runtime& runtime) {
    if (blocks == nullptr || threads < 1) return cudaErrorInvalidValue;
    Function& function = known_function(runtime, handle);
    const auto& attributes = vgpu::attributes(loaded_kernel(runtime, function));
    // __launch_bounds__ does not limit the answer; what may be asked of shared memory does.
    if (dynamic_shared > dynamic_shared_limit(runtime, function)) {
      *blocks = 0;
      return cudaSuccess;
    }
    *blocks = blocks_per_multiprocessor(runtime.device(), known_registers(runtime, function), threads,
                                        attributes.static_shared_bytes + dynamic_shared);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared,
                                                                cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* handle, int blocks,
                                                      int threads) {
  return call([&](Runtime& runtime) {
    if (bytes == nullptr || blocks < 1 || threads < 1) return cudaErrorInvalidValue;
    Function& function = known_function(runtime, handle);
    const auto& device = runtime.device();
    const std::size_t fixed = vgpu::attributes(loaded_kernel(runtime, function)).static_shared_bytes;
    if (blocks_per_multiprocessor(device, known_registers(runtime, function), threads, fixed) < blocks) {
      return cudaErrorInvalidValue;
    }
    *bytes = dynamic_shared_for(device, blocks, fixed);
    return cudaSuccess;
  });
}
