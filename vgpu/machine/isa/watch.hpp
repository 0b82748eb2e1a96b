// SPDX-License-Identifier: Apache-2.0
// Hooks of the memory checks (check/watch.hpp describes them). Call them after the bounds check and
// before the access. They do nothing if warp.watch is null.
#pragma once
#include "machine/isa/access.hpp"

namespace vgpu::machine::VGPU_ISA {

// kUpdate: atomics; kCopy: loads of asynchronous copies
enum class Touch : u8 { kLoad, kCopy, kStore, kUpdate };

// `ordered`: the access is strong or atomic and does not conflict with other blocks' accesses.
// `stored`: the window with the registers that `st` stores; null for other instructions.
void watch_global_access(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes,
                         Pattern pattern, Touch touch, bool ordered, const std::byte* stored);
void watch_shared_access(Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes,
                         Pattern pattern, Touch touch);
// `in_row`: all lanes access the same offset.
void watch_local_access(Warp& warp, const Insn& insn, u32 mask, const u64* offsets, u32 bytes,
                        u32 vector, Touch touch, bool in_row);

[[gnu::always_inline]] inline void watch_global(Warp& warp, const Insn& insn, u32 mask,
                                                const u64* addresses, u32 bytes, Pattern pattern,
                                                Touch touch, bool ordered,
                                                const std::byte* stored = nullptr) {
  if (__builtin_expect(warp.watch != nullptr, 0))
    watch_global_access(warp, insn, mask, addresses, bytes, pattern, touch, ordered, stored);
}
[[gnu::always_inline]] inline void watch_shared(Warp& warp, const Insn& insn, u32 mask,
                                                const u32* offsets, u32 bytes, Pattern pattern,
                                                Touch touch) {
  if (__builtin_expect(warp.watch != nullptr, 0) && warp.watch->shared_unwritten != 0)
    watch_shared_access(warp, insn, mask, offsets, bytes, pattern, touch);
}
[[gnu::always_inline]] inline void watch_local(Warp& warp, const Insn& insn, u32 mask,
                                               const u64* offsets, u32 bytes, u32 vector,
                                               Touch touch, bool in_row) {
  if (__builtin_expect(warp.local_written != nullptr, 0) && mask != 0)
    watch_local_access(warp, insn, mask, offsets, bytes, vector, touch, in_row);
}

}  // namespace vgpu::machine::VGPU_ISA
