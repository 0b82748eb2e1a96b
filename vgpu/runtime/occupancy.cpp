// SPDX-License-Identifier: Apache-2.0
#include "runtime/occupancy.hpp"

#include <algorithm>

#include "runtime/launch.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

constexpr int kWarp = 32, kLargestBlock = 1024;
// Each multiprocessor is four partitions with a quarter of the registers; a warp's come in units of 256, a
// block's shared memory in units of 128 bytes.
constexpr int kPartitions = 4;
constexpr std::size_t kRegisterUnit = 256, kSharedUnit = 128;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

int warps_by_registers(int registers_of_device, std::uint32_t registers) {
  if (registers == 0) return kLargestBlock;  // no limit
  const std::size_t of_warp = round_up(std::size_t{registers} * kWarp, kRegisterUnit);
  const std::size_t of_partition = static_cast<std::size_t>(registers_of_device) / kPartitions;
  return static_cast<int>(of_partition / of_warp) * kPartitions;
}

}  // namespace

int largest_block(const Device& device, std::uint32_t registers) {
  return std::min(kLargestBlock, warps_by_registers(device.registers_per_block, registers) * kWarp);
}

int blocks_per_multiprocessor(const Device& device, std::uint32_t registers, int threads,
                              std::size_t shared_bytes) {
  if (threads > largest_block(device, registers) || shared_bytes > device.shared_per_block_optin) return 0;
  const int warps = (threads + kWarp - 1) / kWarp;
  const std::size_t shared = round_up(shared_bytes + device.reserved_shared_per_block, kSharedUnit);
  return std::min({device.blocks_per_multiprocessor, device.threads_per_multiprocessor / kWarp / warps,
                   warps_by_registers(device.registers_per_multiprocessor, registers) / warps,
                   static_cast<int>(device.shared_per_multiprocessor / shared)});
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* handle,
                                                                   int threads, size_t dynamic_shared,
                                                                   unsigned) {
  return call([&](Runtime& runtime) {
    if (blocks == nullptr || threads < 1) return cudaErrorInvalidValue;
    Function& function = known_function(runtime, handle);
    const auto& attributes = vgpu::attributes(loaded_kernel(runtime, function));
    if (threads > thread_limit(runtime, function)) {
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
    const std::size_t share =
        device.shared_per_multiprocessor / static_cast<unsigned>(blocks) / kSharedUnit * kSharedUnit;
    *bytes = std::min(share - device.reserved_shared_per_block, device.shared_per_block_optin) - fixed;
    return cudaSuccess;
  });
}
