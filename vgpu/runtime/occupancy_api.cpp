// SPDX-License-Identifier: Apache-2.0
// The occupancy functions of the CUDA runtime. They need the registers per thread, which only
// machine code contains.
#include <algorithm>

#include "runtime/launch.hpp"
#include "runtime/occupancy.hpp"
#include "runtime/runtime.hpp"

using namespace vgpu::runtime;

VGPU_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* blocks, const void* handle,
          int threads, size_t dynamic_shared, unsigned) {
  if (blocks == nullptr || threads < 1) refuse();
  Function& function = known_function(runtime, handle);
  const auto& attributes = vgpu::attributes(loaded_kernel(runtime, function));
  // __launch_bounds__ does not limit the result, but the limit of dynamic shared memory does.
  if (dynamic_shared > dynamic_shared_limit(runtime, function)) {
    *blocks = 0;
    return;
  }
  *blocks = blocks_per_multiprocessor(runtime.device(), known_registers(runtime, function), threads,
                                      attributes.static_shared_bytes + dynamic_shared);
}

VGPU_BY(cudaOccupancyMaxActiveBlocksPerMultiprocessor, 4,
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(a0, a1, a2, a3,
                                                               cudaOccupancyDefault));

VGPU_CALL(cudaOccupancyMaxPotentialClusterSize, int* blocks, const void* handle,
          const cudaLaunchConfig_t* config) {
  if (blocks == nullptr || config == nullptr) refuse();
  const Function& function = known_function(runtime, handle);
  *blocks = runtime.device().target() < 90 ? 1 : static_cast<int>(most_cluster_blocks(function));
}

// The number of clusters that fit on all multiprocessors together. Hardware places a cluster within
// one GPC, and may therefore fit fewer.
VGPU_CALL(cudaOccupancyMaxActiveClusters, int* clusters, const void* handle,
          const cudaLaunchConfig_t* config) {
  if (clusters == nullptr || config == nullptr ||
      (config->numAttrs != 0 && config->attrs == nullptr)) {
    refuse();
  }
  Function& function = known_function(runtime, handle);
  const auto& attributes = vgpu::attributes(loaded_kernel(runtime, function));
  std::uint64_t size = std::max<std::uint64_t>(1, attributes.cluster.count());
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
    const auto& cluster = attribute.val.clusterDim;
    size = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  }
  if (size == 0 || size > most_cluster_blocks(function)) refuse(cudaErrorInvalidClusterSize);
  const std::uint64_t threads =
      std::uint64_t{config->blockDim.x} * config->blockDim.y * config->blockDim.z;
  if (threads == 0 || threads > 1024) refuse();
  if (config->dynamicSmemBytes > dynamic_shared_limit(runtime, function)) {
    *clusters = 0;
    return;
  }
  const vgpu::Device& device = runtime.device();
  const int blocks = blocks_per_multiprocessor(
      device, known_registers(runtime, function), static_cast<int>(threads),
      attributes.static_shared_bytes + config->dynamicSmemBytes);
  *clusters = static_cast<int>(static_cast<std::uint64_t>(blocks) *
                               static_cast<std::uint64_t>(device.multiprocessors) / size);
}

VGPU_CALL(cudaOccupancyAvailableDynamicSMemPerBlock, size_t* bytes, const void* handle, int blocks,
          int threads) {
  if (bytes == nullptr || blocks < 1 || threads < 1) refuse();
  Function& function = known_function(runtime, handle);
  const auto& device = runtime.device();
  const std::size_t fixed = vgpu::attributes(loaded_kernel(runtime, function)).static_shared_bytes;
  if (blocks_per_multiprocessor(device, known_registers(runtime, function), threads, fixed) <
      blocks) {
    refuse();
  }
  *bytes = dynamic_shared_for(device, blocks, fixed);
}
