// SPDX-License-Identifier: Apache-2.0
// The exchange of values between lanes that shfl describes.
#pragma once
#include "machine/isa/access.hpp"

namespace vgpu::machine::VGPU_ISA {

template <ShuffleMode kMode>
[[gnu::always_inline]] inline u32 shuffled(const u32* value, const u32* by, const u32* clamp,
                                           u32* result) {
  alignas(64) u32 sources[kLanes], in_range[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 segment = clamp[i] >> 8 & 31, distance = by[i] & 31;
    const i32 last = static_cast<i32>((i & segment) | (clamp[i] & 31 & ~segment));
    const u32 source = kMode == ShuffleMode::kUp          ? i - distance
                       : kMode == ShuffleMode::kDown      ? i + distance
                       : kMode == ShuffleMode::kButterfly ? i ^ distance
                                                          : (i & segment) | (distance & ~segment);
    const i32 place = static_cast<i32>(source);
    in_range[i] = static_cast<u32>(kMode == ShuffleMode::kUp ? place >= last : place <= last);
    sources[i] = in_range[i] != 0 ? source & 31 : i;
  }
  for (u32 i = 0; i < kLanes; ++i) result[i] = value[sources[i]];
  return lanes_where([&](u32 i) VGPU_INLINE { return in_range[i] != 0; });
}

// The value of each lane's source to `result`, or the lane's own where the source is out of range.
// by, clamp: the lane operand; clamp and segment. Returns the lanes whose source is in range.
[[gnu::always_inline]] inline u32 shuffled(ShuffleMode mode, const u32* value, const u32* by,
                                           const u32* clamp, u32* result) {
  switch (mode) {
    case ShuffleMode::kUp: return shuffled<ShuffleMode::kUp>(value, by, clamp, result);
    case ShuffleMode::kDown: return shuffled<ShuffleMode::kDown>(value, by, clamp, result);
    case ShuffleMode::kButterfly:
      return shuffled<ShuffleMode::kButterfly>(value, by, clamp, result);
    default: return shuffled<ShuffleMode::kIndex>(value, by, clamp, result);
  }
}

}  // namespace vgpu::machine::VGPU_ISA
