// SPDX-License-Identifier: Apache-2.0
// Accesses outside the local memory that a thread's functions declare, if such accesses are
// tolerated. The words are stored separately.
#include <algorithm>

#include "machine/machine.hpp"

namespace vgpu::machine {
namespace {

constexpr u32 kNeverWritten = 0xcdcdcdcd;

// Addresses below local memory are negative, in 32 bits or in 64.
i64 distance(u64 offset) {
  return (offset >> 32) == 0 ? static_cast<i32>(static_cast<u32>(offset))
                             : static_cast<i64>(offset);
}

}  // namespace

// As measured on an H200: a thread has 576 bytes above the memory that its functions declare. Below
// it, it has the rest of the stack limit.
bool forgives_local(const Warp& warp, u64 offset, u32 bytes) {
  constexpr i64 kAbove = 576;
  const LaunchConfig& config = warp.block->launch.config;
  if (config.check_local || offset % bytes != 0) return false;
  const i64 at = distance(offset), own = warp.local_bytes;
  return at >= std::min<i64>(0, own - config.stack_bytes) &&
         at + static_cast<i64>(bytes) <= own + kAbove;
}

u8& stray_local_byte(Warp& warp, u32 lane, u64 offset) {
  const i64 at = distance(offset);
  if (at >= 0 && at < warp.local_bytes) {
    return reinterpret_cast<u8*>(warp.local)[(offset / 4 * kLanes + lane) * 4 + offset % 4];
  }
  const u64 word = static_cast<u64>(at + static_cast<i64>(kMostLocalBytes)) / 4;
  u32& value = warp.stray_local.try_emplace(word * kLanes + lane, kNeverWritten).first->second;
  return reinterpret_cast<u8*>(&value)[offset % 4];
}

}  // namespace vgpu::machine
