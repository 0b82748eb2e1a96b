// SPDX-License-Identifier: Apache-2.0
// The exchange of values between lanes that shfl describes.
#pragma once
#include "machine/isa/access.hpp"

namespace vgpu::machine::VGPU_ISA {

// result[i] = value[sources[i]] for all lanes.
[[gnu::always_inline]] inline void pick_lanes(const u32* value, const u32* sources, u32* result) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_load_si512(value), high = _mm512_load_si512(value + 16);
  for (u32 i = 0; i < kLanes; i += 16) {
    const __m512i from = _mm512_load_si512(sources + i);
    _mm512_store_si512(result + i, _mm512_permutex2var_epi32(low, from, high));
  }
#else
  for (u32 i = 0; i < kLanes; ++i) result[i] = value[sources[i]];
#endif
}

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
  pick_lanes(value, sources, result);
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
