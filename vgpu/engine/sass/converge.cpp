// SPDX-License-Identifier: Apache-2.0
#include "engine/sass/converge.hpp"

#include <fmt/format.h>

#include "engine/execute/fault.hpp"
#include "engine/sass/code.hpp"

namespace vgpu::sass {
namespace {

using execute::Group;
using execute::GroupState;
using execute::kAllLanes;
using execute::kNone;

u32 first_lane(u32 mask) { return static_cast<u32>(__builtin_ctz(mask)); }

// The lanes that a parked group waits for.
u32 wanted_by(const Warp& warp, const Group& group) {
  if (group.state == GroupState::kWarpBarrier) return group.wait & warp.live;
  const u32* const barrier = reinterpret_cast<const u32*>(warp.window + group.wait);
  return barrier[first_lane(group.mask)] & warp.live;
}

bool waits_with(const Group& group, GroupState state, u32 wait, u32 pc) {
  return group.state == state && group.wait == wait && (state == GroupState::kWarpBarrier || group.pc == pc);
}

u32 arrived(const Warp& warp, GroupState state, u32 wait, u32 pc) {
  u32 lanes = 0;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    if (waits_with(warp.parked[i], state, wait, pc)) lanes |= warp.parked[i].mask;
  }
  return lanes;
}

void release(Warp& warp, GroupState state, u32 wait, u32 pc) {
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& group = warp.parked[i];
    if (!waits_with(group, state, wait, pc)) continue;
    group.state = GroupState::kReady;
    group.since = warp.instructions;
    ++group.pc;
  }
  join_ready(warp);
}

void arrive(Warp& warp, GroupState state, u32 wait, u32 wanted) {
  if ((wanted & warp.live & ~warp.mask) == 0) {
    ++warp.pc;
    return;
  }
  const u32 pc = warp.pc;
  if ((wanted & warp.live & ~(warp.mask | arrived(warp, state, wait, pc))) != 0) {
    execute::park(warp, state, wait);
    return;
  }
  warp.parked[warp.parked_count++] = {pc, warp.mask, warp.frame, state, wait, warp.instructions};
  warp.mask = 0;
  release(warp, state, wait, pc);
  execute::select_group(warp);
}

}  // namespace

void part(Warp& warp, u32 mask, u32 pc) {
  warp.mask &= ~mask;
  warp.parked[warp.parked_count++] = {pc, mask, warp.frame, GroupState::kReady, 0, warp.instructions};
}

void reconverge(Warp& warp, const Insn& insn) {
  const u32* const barrier = reinterpret_cast<const u32*>(warp.window + insn.s[0]);
  arrive(warp, GroupState::kReconverge, insn.s[0], barrier[first_lane(warp.mask)]);
}

void meet(Warp& warp, const Insn&, u32 wanted) { arrive(warp, GroupState::kWarpBarrier, wanted, wanted); }

void settle(Warp& warp) {
  for (u32 i = 0; i < warp.parked_count;) {
    const Group group = warp.parked[i];
    const bool waits = group.state == GroupState::kReconverge || group.state == GroupState::kWarpBarrier;
    if (waits && (wanted_by(warp, group) & ~arrived(warp, group.state, group.wait, group.pc)) == 0) {
      release(warp, group.state, group.wait, group.pc);
      i = 0;
    } else {
      ++i;
    }
  }
}

void join_ready(Warp& warp) {
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& into = warp.parked[i];
    if (into.state != GroupState::kReady) continue;
    for (u32 k = i + 1; k < warp.parked_count;) {
      const Group& other = warp.parked[k];
      if (other.state == GroupState::kReady && other.pc == into.pc) {
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
  const execute::Program& program = warp.block->launch.program;
  const Code& code = *program.machine_code;
  const u32 index = address / 16;
  if (address % 16 == 0 && index < code.pc_at.size()) {
    const u32 pc = code.pc_at[index];
    if (program.runs[program.run_at[pc]].first == pc) return pc;
  }
  execute::fault({warp, insn, first_lane(warp.mask)}, FaultKind::kTrap,
                 "a call through a bad function pointer",
                 fmt::format("it leads to 0x{:x} of the machine code", address));
}

}  // namespace vgpu::sass
