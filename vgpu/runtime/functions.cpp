// SPDX-License-Identifier: Apache-2.0
// Kernel handles, attributes and occupancy, for which the registers per thread are needed: only
// machine code contains them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/image_module.hpp"
#include "runtime/launch.hpp"
#include "runtime/occupancy.hpp"

namespace vgpu::runtime {

Function& known_function(Runtime& runtime, const void* handle) {
  Function* function = runtime.modules.function(handle);
  if (function == nullptr) refuse(cudaErrorInvalidResourceHandle);
  return *function;
}

namespace {

// A managed variable is shared by all devices, but here the module of each device would have its
// own.
void refuse_managed_elsewhere(const Runtime& runtime, const Function& function) {
  if (Runtime::ordinal() == 0) return;
  for (const Variable& variable : runtime.modules.managed_variables()) {
    if (variable.binary != function.binary) continue;
    refuse(cudaErrorNotSupported,
           fmt::format(
               "{}: managed variables are not implemented on other devices than the first ({})",
               function.shown, variable.name));
  }
}

}  // namespace

const Kernel& loaded_kernel(Runtime& runtime, Function& function) {
  try {
    refuse_managed_elsewhere(runtime, function);
    const Module& module = function.binary->module(
        runtime.device(), runtime.memory, runtime.settings.engine, "kernel " + function.shown);
    const Kernel* const kernel = module.find_kernel(function.name);
    if (kernel == nullptr) {
      refuse(cudaErrorInvalidDeviceFunction,
             fmt::format("the code in the fat binary has no kernel {}", function.shown));
    }
    return *kernel;
  } catch (Failure& failure) {
    if (std::exchange(function.refusal_said, true)) failure.message.clear();
    throw;
  }
}

std::uint64_t most_cluster_blocks(const Function& function) {
  return function.non_portable_cluster ? 16 : 8;
}

std::uint32_t known_registers(Runtime& runtime, Function& function) {
  const auto registers = function.binary->registers(runtime.device(), function.name);
  if (!registers && !std::exchange(function.registers_said, true)) {
    say(fmt::format(
        "the registers of {} are not known, and taken not to limit how many blocks fit: "
        "there is no machine code for {} (-gencode arch=compute_{},code=sm_{})",
        function.shown, runtime.device().id, runtime.device().target(), runtime.device().target()));
  }
  return registers.value_or(0);
}

int thread_limit(Runtime& runtime, Function& function) {
  const auto& attributes = vgpu::attributes(loaded_kernel(runtime, function));
  const auto registers = function.binary->registers(runtime.device(), function.name);
  const int by_registers = largest_block(runtime.device(), registers.value_or(0));
  const int by_bounds =
      attributes.max_threads == 0 ? kMostThreads : static_cast<int>(attributes.max_threads);
  return std::min({kMostThreads, by_registers, by_bounds});
}

std::size_t dynamic_shared_limit(Runtime& runtime, Function& function) {
  const std::size_t by_default = runtime.device().shared_per_block;
  const std::size_t fixed = vgpu::attributes(loaded_kernel(runtime, function)).static_shared_bytes;
  const std::size_t set =
      function.max_dynamic_shared < 0 ? 0 : static_cast<std::size_t>(function.max_dynamic_shared);
  return std::max(by_default - std::min(by_default, fixed), set);
}

cudaFuncAttributes attributes_of(Runtime& runtime, Function& function) {
  const auto& attributes = vgpu::attributes(loaded_kernel(runtime, function));
  cudaFuncAttributes all{};
  all.sharedSizeBytes = attributes.static_shared_bytes;
  all.constSizeBytes = attributes.constant_bytes;
  all.localSizeBytes = attributes.local_bytes;
  all.maxThreadsPerBlock = thread_limit(runtime, function);
  const auto registers = function.binary->registers(runtime.device(), function.name);
  all.numRegs = static_cast<int>(registers.value_or(0));
  all.ptxVersion = attributes.target;
  all.binaryVersion = runtime.device().target();
  all.maxDynamicSharedSizeBytes = function.max_dynamic_shared >= 0
                                      ? function.max_dynamic_shared
                                      : static_cast<int>(runtime.device().shared_per_block);
  all.preferredShmemCarveout = function.shared_carveout;
  all.nonPortableClusterSizeAllowed = function.non_portable_cluster ? 1 : 0;
  all.clusterDimMustBeSet = attributes.cluster.count() != 0 ? 1 : 0;
  all.requiredClusterWidth = static_cast<int>(attributes.cluster.x);
  all.requiredClusterHeight = static_cast<int>(attributes.cluster.y);
  all.requiredClusterDepth = static_cast<int>(attributes.cluster.z);
  return all;
}

void say_unknown_registers(Runtime& runtime, const char* call, const Function& function) {
  if (std::exchange(runtime.registers_said, true)) return;
  say(
      fmt::format("{}: numRegs of {} is given as 0: the fat binary has no machine code for {} "
                  "(said once, not for every kernel)",
                  call, function.shown, runtime.device().id));
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

static void set_attribute(Runtime& runtime, const void* handle, cudaFuncAttribute attribute,
                          int value) {
  Function& function = known_function(runtime, handle);
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
      const std::size_t fixed =
          vgpu::attributes(loaded_kernel(runtime, function)).static_shared_bytes;
      const std::size_t most = runtime.device().shared_per_block_optin;
      if (value < 0 || static_cast<std::size_t>(value) + fixed > most) {
        refuse(
            cudaErrorInvalidValue,
            fmt::format(
                "{}: cudaFuncAttributeMaxDynamicSharedMemorySize of {} bytes; with {} static bytes "
                "a block may have {} in all",
                function.shown, value, fixed, most));
      }
      function.max_dynamic_shared = value;
      return;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) refuse();
      function.shared_carveout = value;
      return;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      if (value != 0 && value != 1) refuse();
      function.non_portable_cluster = value != 0;
      return;
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return;
    default:
      refuse(cudaErrorNotSupported, fmt::format("{}: function attribute {} is not implemented",
                                                function.shown, static_cast<int>(attribute)));
  }
}

static cudaError_t find_kernel(const void* host_function, void** kernel) {
  return query_for(kernel,
                   [&](Runtime& runtime) { return &known_function(runtime, host_function); });
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return find_kernel(host_function, reinterpret_cast<void**>(kernel));
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  return find_kernel(host_function, reinterpret_cast<void**>(kernel));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host_function) {
  return find_kernel(host_function, reinterpret_cast<void**>(function));
}

cudaError_t cudaFuncGetName(const char** name, const void* handle) {
  return query_for(name,
                   [&](Runtime& runtime) { return known_function(runtime, handle).name.c_str(); });
}

VGPU_CALL(cudaFuncGetParamInfo, const void* handle, size_t index, size_t* offset, size_t* size) {
  const auto& params =
      vgpu::attributes(loaded_kernel(runtime, known_function(runtime, handle))).params;
  if (index >= params.size() || offset == nullptr) refuse();
  *offset = params[index].offset;
  if (size != nullptr) *size = params[index].size;
}

VGPU_CALL(cudaFuncGetAttributes, cudaFuncAttributes* out, const void* handle) {
  if (out == nullptr) refuse();
  Function& function = known_function(runtime, handle);
  *out = attributes_of(runtime, function);
  if (out->numRegs == 0) say_unknown_registers(runtime, "cudaFuncGetAttributes", function);
}

VGPU_CALL(cudaFuncSetAttribute, const void* handle, cudaFuncAttribute attribute, int value) {
  return set_attribute(runtime, handle, attribute, value);
}

VGPU_CALL(cudaKernelSetAttributeForDevice, cudaKernel_t kernel, cudaFuncAttribute attribute,
          int value, int device) {
  runtime.known_device(device);
  set_attribute(runtime, kernel, attribute, value);
}

// Without effect: the virtual GPU has only one cache configuration.
VGPU_CALL(cudaFuncSetCacheConfig, const void* handle, cudaFuncCache config) {
  known_function(runtime, handle);
  if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) refuse();
}

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
