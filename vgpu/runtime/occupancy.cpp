// SPDX-License-Identifier: Apache-2.0
#include "runtime/occupancy.hpp"

#include <algorithm>
#include <utility>

namespace vgpu::runtime {
namespace {

constexpr int kWarp = 32, kLargestBlock = 1024;
// Each multiprocessor has four partitions, each with a quarter of the registers. Registers per warp
// are allocated in units of 256, shared memory per block in units of 128 bytes, of 256 before 8.0.
constexpr int kPartitions = 4;
constexpr std::size_t kRegisterUnit = 256;

std::size_t shared_unit(const Device& device) { return device.target() < 80 ? 256 : 128; }

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

int warps_of(int threads) { return (threads + kWarp - 1) / kWarp; }

int warps_by_registers(int registers_of_device, std::uint32_t registers) {
  if (registers == 0) return Occupancy::kNoLimit;
  const std::size_t of_warp = round_up(std::size_t{registers} * kWarp, kRegisterUnit);
  const std::size_t of_partition = static_cast<std::size_t>(registers_of_device) / kPartitions;
  return static_cast<int>(of_partition / of_warp) * kPartitions;
}

int blocks_by_registers(const Device& device, const BlockResources& block) {
  if (block.registers == 0) return Occupancy::kNoLimit;
  // A block fits if its registers do not exceed those of all partitions together.
  if (block.threads > largest_block(device, block.registers)) return 0;
  return warps_by_registers(device.registers_per_multiprocessor, block.registers) /
         warps_of(block.threads);
}

int blocks_by_shared(const Device& device, std::size_t bytes) {
  if (bytes > device.shared_per_block_optin) return 0;
  const std::size_t of_block =
      round_up(bytes + device.reserved_shared_per_block, shared_unit(device));
  if (of_block == 0) return Occupancy::kNoLimit;
  return static_cast<int>(device.shared_per_multiprocessor / of_block);
}

}  // namespace

const char* to_string(Resource resource) {
  switch (resource) {
    case Resource::kBlocks: return "blocks";
    case Resource::kRegisters: return "registers";
    case Resource::kShared: return "shared memory";
    case Resource::kWarps: return "warps";
    case Resource::kBarriers: return "barriers";
  }
  return "";
}

Occupancy occupancy(const Device& device, const BlockResources& block) {
  Occupancy o;
  o.by_blocks = device.blocks_per_multiprocessor;
  o.by_registers = blocks_by_registers(device, block);
  o.by_shared = blocks_by_shared(device, block.shared_bytes);
  o.by_warps = block.threads > kLargestBlock
                   ? 0
                   : device.threads_per_multiprocessor / kWarp / warps_of(block.threads);
  o.by_barriers = block.barriers == 0 || device.barriers_per_multiprocessor == 0
                      ? Occupancy::kNoLimit
                      : device.barriers_per_multiprocessor / static_cast<int>(block.barriers);
  const std::pair<int, Resource> limits[] = {{o.by_blocks, Resource::kBlocks},
                                             {o.by_registers, Resource::kRegisters},
                                             {o.by_shared, Resource::kShared},
                                             {o.by_warps, Resource::kWarps},
                                             {o.by_barriers, Resource::kBarriers}};
  const auto& least = *std::ranges::min_element(
      limits, [](const auto& a, const auto& b) { return a.first < b.first; });
  o.blocks = least.first;
  o.limiter = least.second;
  o.warps = o.blocks * warps_of(block.threads);
  return o;
}

int largest_block(const Device& device, std::uint32_t registers) {
  return std::min(kLargestBlock / kWarp,
                  warps_by_registers(device.registers_per_block, registers)) *
         kWarp;
}

int blocks_per_multiprocessor(const Device& device, std::uint32_t registers, int threads,
                              std::size_t shared_bytes) {
  return occupancy(device, {registers, threads, shared_bytes, 0}).blocks;
}

std::size_t dynamic_shared_for(const Device& device, int blocks, std::size_t static_bytes) {
  const std::size_t unit = shared_unit(device);
  const std::size_t share =
      device.shared_per_multiprocessor / static_cast<unsigned>(blocks) / unit * unit;
  return std::min(share - device.reserved_shared_per_block, device.shared_per_block_optin) -
         static_bytes;
}

}  // namespace vgpu::runtime
