// SPDX-License-Identifier: Apache-2.0
// Common parts of the memory checks' marks of words, and the marks of warps' accesses to global
// memory.
#pragma once
#include "machine/isa/access.hpp"

namespace vgpu::machine::VGPU_ISA {

// The words of an access without gaps between lanes: `count` words from `first`.
struct Words {
  u64 first = 0, count = 0;
};
[[gnu::always_inline]] inline Words words_of(u64 begin, u32 bytes, Pattern pattern) {
  const u64 size = pattern == Pattern::kContiguous ? u64{bytes} * kLanes : bytes;
  return {begin / 4, (begin % 4 + size + 3) / 4};
}

// Marks the words that lanes load, or store, for the check of conflicts between warps. `copies`:
// the loads are those of asynchronous copies. `window` is `stored` of watch_global.
void touch_loaded(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                  Pattern pattern, bool copies);
void touch_stored(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                  Pattern pattern, const std::byte* window);

}  // namespace vgpu::machine::VGPU_ISA
