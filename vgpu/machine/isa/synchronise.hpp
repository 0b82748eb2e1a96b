// SPDX-License-Identifier: Apache-2.0
// Convergence of a warp's lanes for instructions that need several of them.
#pragma once
#include "machine/fault.hpp"
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {

// Returns the lanes that execute now; they are the running group. 0: they wait, and another group
// runs.
[[gnu::always_inline]] inline u32 arrive(Warp& warp, const Insn& insn, u32 mask,
                                         const u32* members) {
  u32 missing = 0, unnamed = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 on = 0u - (mask >> i & 1);
    missing |= members[i] & on;
    unnamed |= ~(members[i] >> i) & on & 1;
  }
  missing &= warp.live & ~mask;
  if (__builtin_expect((missing | unnamed) == 0, 1)) return mask;
  return converge(warp, insn, members);
}

// `execute(ready)` writes the results of the lanes in `ready`.
template <class F>
[[gnu::always_inline]] inline void synchronised(Warp& warp, const Insn& insn, u32 mask,
                                                const u32* members, F execute) {
  const u32 ready = arrive(warp, insn, mask, members);
  if (ready == 0) return;
  execute(ready);
  ++warp.pc;
}

// For .sync.aligned instructions of the whole warp: returns true if all lanes have arrived.
// Otherwise the lanes wait for the others. Faults if some lanes have exited, because they can never
// arrive.
[[gnu::always_inline]] inline bool whole_warp(Warp& warp, const Insn& insn, u32 mask) {
  if (__builtin_expect(mask == kAllLanes, 1)) return true;
  if (warp.live != kAllLanes) {
    fault({warp, insn, static_cast<u32>(__builtin_ctz(mask))}, FaultKind::kBarrierDivergence,
          "an instruction for all threads of a warp, of which some have exited");
  }
  u32 members[kLanes];
  for (u32& m : members) m = kAllLanes;
  return converge(warp, insn, members) != 0;
}

}  // namespace vgpu::machine::VGPU_ISA
