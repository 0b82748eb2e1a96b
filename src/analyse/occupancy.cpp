// SPDX-License-Identifier: Apache-2.0
#include "analyse/occupancy.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/occupancy.hpp"

namespace ladder::analyse {
namespace {

constexpr int kRegisterUnit = 256, kSharedUnit = 128, kMostThreads = 1024;
constexpr int kNoLimit = 9999;  // limit by a resource that the block does not use

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Occupancy occupancy_of(const BlockNeeds& needs, const Machine& machine) {
  Occupancy result;
  result.warps_per_block = (needs.threads + kWarp - 1) / kWarp;
  if (result.warps_per_block == 0) return result;
  result.registers_per_warp = round_up(needs.registers * kWarp, kRegisterUnit);
  result.registers_per_block = result.registers_per_warp * result.warps_per_block;
  result.shared_per_block = round_up(needs.shared_bytes + machine.reserved_shared, kSharedUnit);

  if (machine.device == nullptr || needs.threads > kMostThreads) return result;
  const vgpu::runtime::Occupancy found = vgpu::runtime::occupancy(
      *machine.device, {.registers = static_cast<std::uint32_t>(needs.registers),
                        .threads = needs.threads,
                        .shared_bytes = static_cast<std::size_t>(needs.shared_bytes)});
  result.by_threads = found.by_warps;
  result.by_blocks = found.by_blocks;
  result.by_registers = needs.registers == 0 ? machine.blocks : found.by_registers;
  result.by_shared = std::min(found.by_shared, kNoLimit);
  result.blocks = found.blocks;
  result.warps = result.blocks * result.warps_per_block;
  result.occupancy = static_cast<double>(result.warps) / machine.warps;
  const auto name = [&](int limit, const char* what) {
    if (limit == result.blocks)
      result.binds += (result.binds.empty() ? "" : ", ") + std::string(what);
  };
  name(result.by_threads, "threads");
  name(result.by_registers, "registers");
  name(result.by_shared, "shared memory");
  name(result.by_blocks, "blocks");
  return result;
}

Waves waves_of(double blocks, int blocks_per_sm, const Machine& machine) {
  Waves result;
  result.blocks = blocks;
  result.slots = static_cast<double>(blocks_per_sm) * machine.sm_count;
  if (!(result.slots > 0)) return result;
  result.waves = blocks / result.slots;
  result.full = std::ceil(result.waves);
  result.used = result.full > 0 ? result.waves / result.full : 0;
  return result;
}

Quantisation quantisation_of(std::int64_t m, std::int64_t n, int tile_m, int tile_n) {
  Quantisation result;
  if (tile_m <= 0 || tile_n <= 0) return result;
  result.tiles_m = (m + tile_m - 1) / tile_m;
  result.tiles_n = (n + tile_n - 1) / tile_n;
  const double covered =
      static_cast<double>(result.tiles_m * tile_m) * static_cast<double>(result.tiles_n * tile_n);
  result.used = covered > 0 ? static_cast<double>(m) * static_cast<double>(n) / covered : 0;
  return result;
}

}  // namespace ladder::analyse
