// SPDX-License-Identifier: Apache-2.0
// Divergence. The lanes of a warp form groups, one per instruction and frame. The group in the
// deepest call runs first, and among equals the one at the lowest instruction. Groups that reach
// the same instruction are merged. Compilers lay out code so that this reconverges lanes where
// hardware does.
#include <fmt/format.h>

#include "machine/cluster.hpp"
#include "machine/converge.hpp"
#include "machine/fault.hpp"
#include "machine/operations.hpp"
#include "observer/findings.hpp"

namespace vgpu::machine {
namespace {

void load(Warp& warp, const Group& group) {
  warp.pc = group.pc;
  warp.mask = group.mask;
  warp.frame = group.frame;
  warp.window = group.frame->window;
  warp.status = WarpStatus::kReady;
}

void add(Warp& warp, const Group& group) { warp.parked[warp.parked_count++] = group; }

void remove(Warp& warp, u32 index) { warp.parked[index] = warp.parked[--warp.parked_count]; }

// Merges ready groups at the same place. There are rarely more than two or three groups.
void merge(Warp& warp) {
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& into = warp.parked[i];
    if (into.state != GroupState::kReady) continue;
    for (u32 k = i + 1; k < warp.parked_count;) {
      const Group& other = warp.parked[k];
      if (other.state == GroupState::kReady && other.pc == into.pc && other.frame == into.frame) {
        into.mask |= other.mask;
        remove(warp, k);
      } else {
        ++k;
      }
    }
  }
}

bool runs_before(const Group& a, const Group& b) {
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  return a.pc < b.pc;
}

void set_limit(Warp& warp) {
  warp.limit = kNone;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    const Group& group = warp.parked[i];
    if (group.state == GroupState::kReady && group.frame == warp.frame && group.pc < warp.limit) {
      warp.limit = group.pc;
    }
  }
}

u32 count_ready(const Warp& warp) {
  u32 ready = 0;
  for (u32 i = 0; i < warp.parked_count; ++i)
    ready += warp.parked[i].state == GroupState::kReady ? 1 : 0;
  return ready;
}

void put_back(Warp& warp) {
  if (warp.mask != 0)
    add(warp, {warp.pc, warp.mask, warp.frame, GroupState::kReady, 0, warp.instructions});
  warp.mask = 0;
}

}  // namespace

void start_warp(Warp& warp, const FunctionCode& kernel, u32 lanes) {
  warp.live = warp.mask = lanes;
  warp.pc = kernel.entry;
  warp.limit = kNone;
  warp.parked_count = 0;
  warp.broke = false;
  warp.roles = 0;
  warp.instructions = warp.progress = warp.polls = 0;
  warp.clock_lead = warp.block->cluster.device_clock.latest;
  warp.clock_polls = warp.clock_read = 0;
  std::fill(std::begin(warp.polled), std::end(warp.polled), 0);
  std::fill(std::begin(warp.polled_at), std::end(warp.polled_at), 0);
  warp.status = lanes == 0 ? WarpStatus::kDone : WarpStatus::kReady;
  warp.root.lanes = lanes;
  warp.frame = &warp.root;
  warp.window = warp.root.window;
}

void select_group(Warp& warp) {
  put_back(warp);
  u32 best = kNone;
  if (warp.machine_code) {
    best = newest_ready(warp);
    if (best == kNone && skip_for_warpsync(warp)) best = newest_ready(warp);
  } else {
    merge(warp);
  }
  for (u32 i = 0; i < warp.parked_count && !warp.machine_code; ++i) {
    if (warp.parked[i].state != GroupState::kReady) continue;
    if (best == kNone || runs_before(warp.parked[i], warp.parked[best])) best = i;
  }
  if (best == kNone) {
    warp.status = warp.parked_count == 0 ? WarpStatus::kDone : WarpStatus::kWaiting;
    return;
  }
  const Group group = warp.parked[best];
  remove(warp, best);
  load(warp, group);
  if (warp.machine_code) {
    warp.limit = kNone;
    if (warp.parked_count != 0) arrive_early(warp);
  } else {
    set_limit(warp);
  }
}

void rotate_groups(Warp& warp) {
  put_back(warp);
  if (!warp.machine_code)
    merge(warp);
  else if (count_ready(warp) == 1)
    stop_waiting(warp);
  u32 best = kNone;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    if (warp.parked[i].state != GroupState::kReady) continue;
    if (best == kNone || warp.parked[i].since < warp.parked[best].since) best = i;
  }
  if (best == kNone) return;
  const Group group = warp.parked[best];
  remove(warp, best);
  load(warp, group);
  warp.limit = kNone;
}

void split(Warp& warp, u32 mask, u32 pc) {
  warp.mask &= ~mask;
  add(warp, {pc, mask, warp.frame, GroupState::kReady, 0, warp.instructions});
  if (pc < warp.limit && !warp.machine_code) warp.limit = pc;
}

void park(Warp& warp, GroupState state, u32 wait) {
  add(warp, {warp.pc, warp.mask, warp.frame, state, wait, warp.instructions});
  warp.mask = 0;
  select_group(warp);
}

void count_later(const Warp& warp) {
  observer::RunCount& count = warp.run_counts[warp.run_at[warp.pc]];
  --count.executions;
  count.lanes -= lane_count(warp.mask);
  const Insn& insn = warp.code[warp.pc];
  if (insn.guard_site == kNone) return;
  observer::GuardCount& guarded = warp.guard_counts[insn.guard_site];
  --guarded.executions;
  guarded.lanes -= lane_count(warp.mask);
}

void exit_lanes(Warp& warp) {
  const u32 mask = warp.mask;
  warp.live &= ~mask;
  warp.mask = 0;
  for (Frame* frame = warp.frame; frame != nullptr;) {
    Frame* const parent = frame->parent;
    frame->lanes &= ~mask;
    if (frame->lanes == 0 && parent != nullptr) free_frame(warp, frame);
    frame = parent;
  }
  // Lanes that have exited are no longer waited for.
  if (warp.machine_code) settle(warp, true);
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& group = warp.parked[i];
    const bool waits =
        group.state == GroupState::kConverge || group.state == GroupState::kWarpBarrier;
    if (waits && !warp.machine_code) group.state = GroupState::kReady;
  }
  select_group(warp);
  barrier_exit(*warp.block);
  warp.block->cluster.lanes_left();
}

namespace {

// The thread then waits for the others as if the mask named it, too.
void find_unnamed(const Lane& at, const char* instruction, u32 mask) {
  observer::find(at, FaultKind::kBarrierDivergence, kNone, [&]() -> observer::Description {
    return {fmt::format("a thread executes {} whose mask 0x{:08x} does not name it", instruction,
                        mask)};
  });
}

}  // namespace

u32 converge(Warp& warp, const Insn& insn, const u32* members) {
  for (u32 i = 0; i < warp.parked_count;) {
    const Group& group = warp.parked[i];
    const bool here = group.pc == warp.pc && group.frame == warp.frame;
    if (here && (group.state == GroupState::kConverge || group.state == GroupState::kReady)) {
      warp.mask |= group.mask;
      remove(warp, i);
    } else {
      ++i;
    }
  }
  u32 ready = 0, needed = 0;
  for (const u32 i : SetBits(warp.mask)) {
    if ((members[i] >> i & 1) == 0) {
      find_unnamed({warp, insn, i}, "a .sync instruction", members[i]);
    }
    if ((members[i] & warp.live & ~warp.mask) == 0)
      ready |= 1u << i;
    else
      needed |= members[i] & warp.live;
  }
  if (ready == 0) {
    park(warp, GroupState::kConverge, needed);
    return 0;
  }
  if (const u32 rest = warp.mask & ~ready; rest != 0) {
    add(warp, {warp.pc, rest, warp.frame, GroupState::kConverge, needed, warp.instructions});
    warp.mask = ready;
  }
  set_limit(warp);
  return ready;
}

void warp_barrier(Warp& warp, const Insn& insn, const u32* members) {
  const u32 wait = members[__builtin_ctz(warp.mask)];
  for (const u32 i : SetBits(warp.mask)) {
    if ((members[i] >> i & 1) == 0) {
      find_unnamed({warp, insn, i}, "bar.warp.sync", members[i]);
    }
    if (members[i] != wait) {  // lanes with another mask execute this again
      u32 other = 0;
      for (u32 k = warp.mask; k != 0; k &= k - 1) {
        if (members[__builtin_ctz(k)] != wait) other |= k & (~k + 1);
      }
      split(warp, other, warp.pc);
      break;
    }
  }
  u32 arrived = warp.mask;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    const Group& group = warp.parked[i];
    if (group.state == GroupState::kWarpBarrier && group.wait == wait) arrived |= group.mask;
  }
  if ((wait & warp.live & ~arrived) != 0) {
    park(warp, GroupState::kWarpBarrier, wait);
    return;
  }
  for (u32 i = 0; i < warp.parked_count; ++i) {
    Group& group = warp.parked[i];
    if (group.state == GroupState::kWarpBarrier && group.wait == wait) {
      group.state = GroupState::kReady;
      ++group.pc;
    }
  }
  ++warp.pc;
  select_group(warp);
}

namespace {

void sample(const Warp& warp, const Insn& insn, u32 mask, const auto* addresses, u32 bytes,
            bool shared) {
  AccessSample& into = warp.samples[insn.site];
  if (into.mask != 0) return;  // blocks of a worker are in ascending order
  into.block = warp.block->linear;
  into.warp = warp.id;
  into.mask = mask;
  into.bytes = bytes;
  into.shared = shared;
  for (u32 lane = 0; lane < kLanes; ++lane)
    into.addresses[lane] = (mask >> lane & 1) != 0 ? addresses[lane] : 0;
}

}  // namespace

void sample_global(Warp& warp, const Insn& insn, u32 mask, const u64* addresses, u32 bytes) {
  sample(warp, insn, mask, addresses, bytes, false);
}

void sample_shared(Warp& warp, const Insn& insn, u32 mask, const u32* offsets, u32 bytes) {
  sample(warp, insn, mask, offsets, bytes, true);
}

}  // namespace vgpu::machine
