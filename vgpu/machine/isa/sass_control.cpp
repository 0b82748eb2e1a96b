// SPDX-License-Identifier: Apache-2.0
// Machine code: control flow. Diverged lanes stay apart until a convergence barrier (BSSY ...
// BSYNC) or WARPSYNC reconverges them (machine/converge.cpp). Convergence barriers are
// registers whose lanes hold masks of participants.
#include <algorithm>

#include "machine/call_absolute.hpp"
#include "machine/converge.hpp"
#include "machine/fault.hpp"
#include "machine/isa/sass.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// Lanes whose guard is true and whose condition is not, so that they stay.
void count_refused(Warp& warp, const Insn& insn, u32 lanes) {
  if (lanes == 0) return;
  warp.block->counters.again[static_cast<u32>(&insn - warp.code)].refused += lane_count(lanes);
}

// s[3]: a condition in addition to the guard. sub 1: all active lanes branch if one does. Where
// lanes diverge, the side with fewer lanes runs first, as on an H200: that decides which lanes wait
// for the others at a BSYNC, and so how often it is executed.
void branch(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  u32 taken = mask & predicate(window, insn.s[3], modifiers(insn), kNegateP);
  const auto quorum = static_cast<ir::Quorum>(insn.sub);
  if (quorum != ir::Quorum::kAny) count_refused(warp, insn, mask & ~taken);
  if (quorum == ir::Quorum::kAny && taken != 0) taken = warp.mask;
  if (quorum == ir::Quorum::kAll && taken != warp.mask) taken = 0;
  if (taken == warp.mask) {
    warp.pc = insn.target;
    return;
  }
  ++warp.pc;
  if (taken == 0) return;
  ++warp.block->counters.divergent[static_cast<u32>(&insn - warp.code)];
  const u32 falls = warp.mask & ~taken;
  if (lane_count(taken) < lane_count(falls)) {
    part(warp, falls, warp.pc);
    warp.pc = insn.target;
  } else {
    part(warp, taken, insn.target);
  }
}

// BRA.DIV: taken if lanes of the mask in s[0] are not active here. sub 1: BRA.CONV, if all are.
void branch_if_apart(Warp& warp, std::byte* window, const Insn& insn, u32) {
  const u32 expected = slot<u32>(window, insn.s[0])[__builtin_ctz(warp.mask)];
  const bool apart = (expected & warp.live & ~warp.mask) != 0;
  warp.pc = apart == (insn.sub == 0) ? insn.target : warp.pc + 1;
}

// Jumps to the address in s[0] + imm. Lanes with another address execute this again. sub 1: BRX; if
// its lanes diverge in two groups, an H200 counts the larger one as executing it again. For returns
// the hardware's count is unknown.
void jump(Warp& warp, std::byte* window, const Insn& insn, u32) {
  const u32* const address = slot<u32>(window, insn.s[0]);
  const u32 first = address[__builtin_ctz(warp.mask)];
  u32 same = 0;
  for (u32 i = 0; i < kLanes; ++i) same |= static_cast<u32>(address[i] == first) << i;
  same &= warp.mask;
  if (same != warp.mask) {
    observer::Counters& counters = warp.block->counters;
    ++counters.divergent[static_cast<u32>(&insn - warp.code)];
    const u32 others = warp.mask & ~same, next = address[__builtin_ctz(others)];
    const u32 first_lanes = lane_count(same), other_lanes = lane_count(others);
    observer::Repetition& again = counters.again[static_cast<u32>(&insn - warp.code)];
    again.repeated += std::max(first_lanes, other_lanes);
    if (first_lanes > other_lanes) {
      again.lanes += first_lanes - other_lanes;
      for (u32 left = others; left != 0; left &= left - 1) {
        counters.parted |= address[__builtin_ctz(left)] != next;
      }
    }
    counters.parted |= insn.sub != 1;
    part(warp, others, warp.pc);
  }
  warp.pc = place_of_address(warp, insn, first + static_cast<u32>(insn.imm));
}

void call(Warp& warp, std::byte*, const Insn& insn, u32) { warp.pc = insn.target; }
void call_by_address(Warp& warp, std::byte*, const Insn& insn, u32) { call_absolute(warp, insn); }
void exit_thread(Warp& warp, std::byte*, const Insn&, u32) { exit_lanes(warp); }
// Of the lanes in `mask`, those of the condition s[3] exit. All others stay together.
void exit_thread_if(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const u32 leave = mask & predicate(window, insn.s[3], modifiers(insn), kNegateP);
  count_refused(warp, insn, mask & ~leave);
  if (leave == 0) {
    ++warp.pc;
    return;
  }
  if (const u32 stay = warp.mask & ~leave; stay != 0) part(warp, stay, warp.pc + 1);
  exit_lanes(warp);
}
void synchronise(Warp& warp, std::byte*, const Insn& insn, u32) { reconverge(warp, insn); }
void synchronise_warp(Warp& warp, std::byte* window, const Insn& insn, u32) {
  const u32 expected =
      insn.s[0] == kNone ? kAllLanes : slot<u32>(window, insn.s[0])[__builtin_ctz(warp.mask)];
  warpsync(warp, insn, expected);
}
void synchronise_warp_apart(Warp& warp, std::byte* window, const Insn& insn, u32) {
  meet_apart(warp, slot<u32>(window, insn.s[0]));
}

// BSSY: these lanes will reconverge.
void set_barrier(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  warp.restored[insn.sub] &= ~mask;
  write_lanes<u32>(window, insn.d, mask, [&](u32) VGPU_INLINE { return mask; });
}

// BMOV: restores a barrier as it was before a call.
void restore_barrier(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  warp.restored[insn.sub] |= mask;
  const u32* const value = slot<u32>(window, insn.s[0]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) VGPU_INLINE { return value[i]; });
}

// BREAK: those of these lanes for which the condition s[3] holds leave the barrier.
void leave_barrier(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  leave(slot<u32>(window, insn.d), mask & predicate(window, insn.s[3], modifiers(insn), kNegateP));
  warp.broke = true;
  if (warp.parked_count != 0) settle(warp, true);
}

void trap(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  fault({warp, insn, static_cast<u32>(__builtin_ctz(mask))}, FaultKind::kTrap,
        "the kernel executed a trap");
}

}  // namespace

void define_sass_control(OperationSink& sink) {
  op_special(sink, "sass.bra", &branch, true);
  op_special(sink, "sass.bra.div", &branch_if_apart, true);
  op_special(sink, "sass.jump", &jump, true);
  op_special(sink, "sass.call", &call, true);
  op_special(sink, "sass.call.absolute", &call_by_address, true);
  op_special(sink, "sass.exit", &exit_thread, true);
  op_special(sink, "sass.exit.if", &exit_thread_if, true);
  op_special(sink, "sass.bsync", &synchronise, true);
  op_special(sink, "sass.warpsync", &synchronise_warp, true);
  op_special(sink, "sass.warpsync.exclusive", &synchronise_warp_apart, true);
  op_special(sink, "sass.bssy", &set_barrier);
  op_special(sink, "sass.bmov", &restore_barrier);
  op_special(sink, "sass.break", &leave_barrier);
  op_special(sink, "sass.trap", &trap, true);
}

}  // namespace vgpu::machine::VGPU_ISA
