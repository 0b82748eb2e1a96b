// SPDX-License-Identifier: Apache-2.0
#include "machine/converge.hpp"

#include <fmt/format.h>

#include "ir/operations.hpp"
#include "machine/fault.hpp"

namespace vgpu::machine {
namespace {

u32 first_lane(u32 mask) { return static_cast<u32>(__builtin_ctz(mask)); }

// The lanes that a parked group waits for, including exited ones.
u32 expected_by(const Warp& warp, const Group& group) {
  if (group.state == GroupState::kWarpBarrier) return group.wait;
  const u32* const barrier = reinterpret_cast<const u32*>(warp.window + group.wait);
  return barrier[first_lane(group.mask)];
}

// Identifies groups that wait together. In a recursive function, lanes of several activations may
// wait at the same instruction; `expected`, the lanes that they wait for, distinguishes them.
struct Convergence {
  GroupState state;
  u32 wait, pc, expected;

  bool has(const Warp& warp, const Group& group) const {
    if (group.state != state || group.wait != wait) return false;
    return state == GroupState::kWarpBarrier ||
           (group.pc == pc && expected_by(warp, group) == expected);
  }
};

u32 arrived(const Warp& warp, const Convergence& convergence) {
  u32 lanes = 0;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    if (convergence.has(warp, warp.parked[i])) lanes |= warp.parked[i].mask;
  }
  return lanes;
}

// Counts the BSYNC that releases `lanes` once more if hardware executes it again with all lanes: a
// call has saved the barrier in a register and restored it, lanes in `early` have arrived without
// executing it, or (`left`) the lanes that were missing have left by BREAK or EXIT.
void count_again(const Warp& warp, u32 pc, u32 lanes, u32 early, bool left) {
  if (!left && early == 0 && (warp.restored[warp.code[pc].sub] & lanes) == 0) return;
  // Where a BREAK and early arrivals coincide, some measured patterns are counted otherwise.
  warp.block->counters.broke |= early != 0 && warp.broke;
  observer::Repetition& again = warp.block->counters.again[pc];
  ++again.executions;
  again.lanes += lane_count(lanes);
  again.repeated += lane_count(lanes & ~early);
}

// Counts WARPSYNC.ALL once more: all lanes execute it again after some have waited there. They do
// not execute a WARPSYNC with a mask again.
void count_warpsync_again(const Warp& warp, u32 pc, u32 lanes) {
  static const u16 kWarpsync = *ir::find_operation("sass.warpsync");
  if (warp.code[pc].op != kWarpsync || warp.code[pc].s[0] != kNone) return;
  observer::Repetition& again = warp.block->counters.again[pc];
  ++again.executions;
  again.lanes += lane_count(lanes);
  again.repeated += lane_count(lanes);
}

void release(Warp& warp, const Convergence& convergence, bool left = false) {
  if (convergence.state == GroupState::kWarpBarrier)
    count_warpsync_again(warp, convergence.pc, arrived(warp, convergence));
  if (convergence.state == GroupState::kReconverge) {
    u32 early = 0;
    for (u32 i = 0; i < warp.parked_count; ++i) {
      const Group& group = warp.parked[i];
      if (group.early && convergence.has(warp, group)) early |= group.mask;
    }
    count_again(warp, convergence.pc, arrived(warp, convergence), early, left);
  }
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& group = warp.parked[i];
    if (!convergence.has(warp, group)) continue;
    group.state = GroupState::kReady;
    group.early = false;
    group.wait = kReleased;
    group.since = warp.instructions;
    ++group.pc;
  }
  join_released(warp);
}

void arrive(Warp& warp, GroupState state, u32 wait, u32 expected) {
  if ((expected & warp.live & ~warp.mask) == 0) {
    if (state == GroupState::kReconverge) count_again(warp, warp.pc, warp.mask, 0, false);
    ++warp.pc;
    return;
  }
  const Convergence convergence{state, wait, warp.pc, expected};
  if ((expected & warp.live & ~(warp.mask | arrived(warp, convergence))) != 0) {
    park(warp, state, wait);
    return;
  }
  warp.parked[warp.parked_count++] = {warp.pc, warp.mask, warp.frame,
                                      state,   wait,      warp.instructions};
  warp.mask = 0;
  release(warp, convergence);
  select_group(warp);
}

}  // namespace

void part(Warp& warp, u32 mask, u32 pc) {
  warp.mask &= ~mask;
  warp.parked[warp.parked_count++] = {
      pc, mask, warp.frame, GroupState::kReady, 0, warp.instructions};
}

void reconverge(Warp& warp, const Insn& insn) {
  const u32* const barrier = reinterpret_cast<const u32*>(warp.window + insn.s[0]);
  arrive(warp, GroupState::kReconverge, insn.s[0], barrier[first_lane(warp.mask)]);
}

void arrive_early(Warp& warp) {
  static const u16 kBsync = *ir::find_operation("sass.bsync");
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& group = warp.parked[i];
    if (group.state != GroupState::kReady) continue;
    const Insn& insn = warp.code[group.pc];
    if (insn.op != kBsync || insn.guard != kNone) continue;
    Group waiting = group;
    waiting.state = GroupState::kReconverge;
    waiting.wait = insn.s[0];
    const u32 expected = expected_by(warp, waiting);
    const Convergence convergence{waiting.state, waiting.wait, waiting.pc, expected};
    if ((expected & warp.live & ~(group.mask | arrived(warp, convergence))) == 0) continue;
    waiting.early = true;
    group = waiting;
  }
}

void warpsync(Warp& warp, const Insn&, u32 expected) {
  arrive(warp, GroupState::kWarpBarrier, expected, expected);
}

void meet_apart(Warp& warp, const u32* masks) {
  const u32 expected = masks[first_lane(warp.mask)];
  bool one = (expected & warp.live & ~warp.mask) == 0;
  for (u32 left = warp.mask; left != 0; left &= left - 1)
    one &= masks[first_lane(left)] == expected;
  if (one) {
    ++warp.pc;
    return;
  }
  warp.block->counters.broke = true;
  for (u32 left = warp.mask; left != 0;) {
    const u32 members = masks[first_lane(left)],
              lanes = (members & left) | (1u << first_lane(left));
    warp.parked[warp.parked_count++] = {
        warp.pc, lanes, warp.frame, GroupState::kWarpBarrier, members, warp.instructions};
    left &= ~lanes;
  }
  warp.mask = 0;
  settle(warp);
  select_group(warp);
}

// In a recursive function the row may hold barriers of several activations. Lanes of one barrier
// have equal masks. Barriers of other activations have other masks: lanes that wait in a caller
// take part in theirs and not in this one.
void leave(u32* row, u32 mask) {
  for (u32 left = mask; left != 0; left &= left - 1) {
    const u32 members = row[first_lane(left)];
    if ((members & mask) == 0) continue;
    for (u32 lane = 0; lane < kLanes; ++lane) {
      if (row[lane] == members) row[lane] &= ~mask;
    }
  }
}

namespace {

// The group continues behind the BSYNC at which it waits.
void let_go(Warp& warp, Group& group) {
  leave(reinterpret_cast<u32*>(warp.window + group.wait), group.mask);
  group.state = GroupState::kReady;
  group.early = false;
  group.since = 0;
  ++group.pc;
}

}  // namespace

void settle(Warp& warp, bool left) {
  for (u32 i = 0; i < warp.parked_count;) {
    const Group group = warp.parked[i];
    const bool waits =
        group.state == GroupState::kReconverge || group.state == GroupState::kWarpBarrier;
    const Convergence convergence{group.state, group.wait, group.pc,
                                  waits ? expected_by(warp, group) : 0};
    if (waits && (convergence.expected & warp.live & ~arrived(warp, convergence)) == 0) {
      release(warp, convergence, left);
      i = 0;
    } else {
      ++i;
    }
  }
}

bool stop_waiting(Warp& warp) {
  for (u32 i = 0; i < warp.parked_count; ++i) {
    if (warp.parked[i].state != GroupState::kReconverge) continue;
    let_go(warp, warp.parked[i]);
    return true;
  }
  return false;
}

bool skip_for_warpsync(Warp& warp) {
  u32 at_warpsync = 0;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    if (warp.parked[i].state == GroupState::kWarpBarrier) at_warpsync |= warp.parked[i].mask;
  }
  for (u32 i = 0; at_warpsync != 0 && i < warp.parked_count; ++i) {
    Group& group = warp.parked[i];
    if (group.state != GroupState::kReconverge) continue;
    const u32 expected = expected_by(warp, group);
    const u32 missing =
        expected & warp.live & ~arrived(warp, {group.state, group.wait, group.pc, expected});
    if (missing == 0 || (missing & ~at_warpsync) != 0) continue;
    let_go(warp, group);
    return true;
  }
  return false;
}

void join_released(Warp& warp) {
  const auto released = [](const Group& group) {
    return group.state == GroupState::kReady && group.wait == kReleased;
  };
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& into = warp.parked[i];
    if (!released(into)) continue;
    into.wait = 0;
    for (u32 k = i + 1; k < warp.parked_count;) {
      const Group& other = warp.parked[k];
      if (released(other) && other.pc == into.pc) {
        into.mask |= other.mask;
        warp.parked[k] = warp.parked[--warp.parked_count];
      } else {
        ++k;
      }
    }
  }
}

u32 newest_ready(const Warp& warp) {
  u32 best = kNone;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    const Group& group = warp.parked[i];
    if (group.state != GroupState::kReady) continue;
    if (best == kNone || group.since >= warp.parked[best].since) best = i;
  }
  return best;
}

u32 place_of_address(const Warp& warp, const Insn& insn, u32 address) {
  const Program& program = warp.block->launch.program;
  const MachineCode& code = *program.machine_code;
  const u32 index = address / 16;
  if (address % 16 == 0 && index < code.pc_at.size()) {
    const u32 pc = code.pc_at[index];
    if (program.runs[program.run_at[pc]].first == pc) return pc;
  }
  fault({warp, insn, first_lane(warp.mask)}, FaultKind::kTrap,
        "a call through a bad function pointer",
        fmt::format("it leads to 0x{:x} of the machine code", address));
}

}  // namespace vgpu::machine
