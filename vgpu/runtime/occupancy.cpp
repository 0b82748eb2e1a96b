// SPDX-License-Identifier: Apache-2.0
#include "runtime/occupancy.hpp"

#include <algorithm>

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

std::size_t dynamic_shared_for(const Device& device, int blocks, std::size_t static_bytes) {
  const std::size_t share =
      device.shared_per_multiprocessor / static_cast<unsigned>(blocks) / kSharedUnit * kSharedUnit;
  return std::min(share - device.reserved_shared_per_block, device.shared_per_block_optin) - static_bytes;
}

}  // namespace vgpu::runtime
