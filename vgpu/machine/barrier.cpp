// SPDX-License-Identifier: Apache-2.0
// Block barriers 0 to 15. Threads arrive in groups of lanes. A barrier with a thread count
// completes when that many have arrived; a warp counts as 32 once all its live lanes have. A
// barrier without a count completes when all threads of the block that have not exited have
// arrived. A barrier that can never complete is a fault.
#include <fmt/format.h>

#include "machine/converge.hpp"
#include "machine/fault.hpp"
#include "observer/findings.hpp"

namespace vgpu::machine {
namespace {

bool complete(const Block& block, const Block::Barrier& barrier) {
  if (barrier.expected == 0) {
    // Warps run in their order, so that the last one is mostly missing.
    for (u32 w = block.warp_count; w-- > 0;) {
      if ((block.warps[w].live & ~barrier.arrived[w]) != 0) return false;
    }
    return true;
  }
  u32 threads = 0;
  for (u32 w = 0; w < block.warp_count; ++w) {
    const u32 arrived = barrier.arrived[w];
    const bool whole = arrived != 0 && (block.warps[w].live & ~arrived) == 0;
    threads += whole ? kLanes : static_cast<u32>(__builtin_popcount(arrived));
  }
  return threads >= barrier.expected;
}

void write_result(Warp& warp, const Group& group, const Block::Barrier& barrier) {
  const Insn& insn = warp.code[group.pc];
  std::byte* const slot = group.frame->window + insn.d;
  u32 predicate = 0;
  switch (static_cast<BarrierKind>(insn.sub)) {
    case BarrierKind::kReducePopulation:
      for (const u32 lane : SetBits(group.mask)) reinterpret_cast<u32*>(slot)[lane] = barrier.ones;
      return;
    case BarrierKind::kReduceAnd: predicate = barrier.zeros == 0 ? kAllLanes : 0; break;
    case BarrierKind::kReduceOr: predicate = barrier.ones != 0 ? kAllLanes : 0; break;
    default: return;
  }
  u32& p = *reinterpret_cast<u32*>(slot);
  p = (p & ~group.mask) | (predicate & group.mask);
}

void release(Block& block, u32 number) {
  Block::Barrier& barrier = block.barriers[number];
  u32 waited = 0;  // bit mask of warps
  for (u32 w = 0; w < block.warp_count; ++w) {
    Warp& warp = block.warps[w];
    bool released = false;
    for (u32 i = 0; i < warp.parked_count; ++i) {
      Group& group = warp.parked[i];
      if (group.state != GroupState::kBarrier || group.wait != number) continue;
      write_result(warp, group, barrier);
      group.state = GroupState::kReady;
      group.wait = kReleased;
      ++group.pc;
      released = true;
    }
    if (released) waited |= 1u << w;
    if (released && warp.machine_code) join_released(warp);
    if (released && warp.status == WarpStatus::kWaiting)
      select_group(warp);
    else if (released && warp.status == WarpStatus::kReady)
      warp.limit = 0;  // look at the groups again
  }
  if (block.race != nullptr) {
    // A barrier for all threads is ordered after the accesses of warps that have exited.
    for (u32 w = 0; w < block.warp_count && barrier.expected == 0; ++w) {
      if (block.warps[w].live == 0) barrier.arrived[w] = kAllLanes;
    }
    block.race->barrier(block, barrier.arrived, waited);
  }
  barrier = {};
  block.pending_barriers &= ~(1u << number);
}

struct Arrival {
  u32 number, threads, predicate;
};

Arrival read(const Warp& warp, const Insn& insn) {
  const u32 lane = static_cast<u32>(__builtin_ctz(warp.mask));
  const auto value = [&](u32 slot) {
    return reinterpret_cast<const u32*>(warp.window + slot)[lane];
  };
  Arrival arrival{value(insn.s[0]), value(insn.s[1]), 0};
  if (insn.s[2] != kNone) {
    arrival.predicate = *reinterpret_cast<const u32*>(warp.window + insn.s[2]);
    if ((insn.flags & kFlagNegate) != 0) arrival.predicate = ~arrival.predicate;
  }
  return arrival;
}

void check(Warp& warp, const Insn& insn, const Arrival& arrival) {
  const Lane at{warp, insn, static_cast<u32>(__builtin_ctz(warp.mask))};
  if (arrival.number >= Block::kBarriers) {
    fault(at, FaultKind::kBarrierDivergence, fmt::format("there is no barrier {}", arrival.number),
          "");
  }
  if (arrival.threads % kLanes != 0) {
    fault(at, FaultKind::kBarrierDivergence,
          fmt::format("a barrier's count of threads must be a multiple of 32, not {}",
                      arrival.threads),
          "");
  }
  const Block::Barrier& barrier = warp.block->barriers[arrival.number];
  const bool pending = (warp.block->pending_barriers >> arrival.number & 1) != 0;
  if (pending && barrier.expected != arrival.threads) {
    fault(at, FaultKind::kBarrierDivergence,
          fmt::format("threads arrive at barrier {} with different counts: {} and {}",
                      arrival.number, barrier.expected, arrival.threads),
          "the first arrived at " + place(warp.block->launch.program, barrier.first_pc));
  }
  if ((barrier.arrived[warp.id] & warp.mask) != 0) {
    fault(at, FaultKind::kBarrierDivergence,
          fmt::format("a thread arrives at barrier {} again before it is complete", arrival.number),
          "");
  }
  if ((insn.flags & kFlagAligned) == 0 || !warp.block->launch.config.check_sync) return;
  for (u32 i = 0; i < warp.parked_count; ++i) {
    const Group& group = warp.parked[i];
    if (group.state == GroupState::kBarrier && group.wait == arrival.number &&
        group.pc != warp.pc) {
      observer::find(at, FaultKind::kBarrierDivergence, group.pc, [&]() -> observer::Description {
        return {"threads of one warp wait at different barriers",
                "others of the warp wait at " + place(warp.block->launch.program, group.pc)};
      });
    }
  }
}

}  // namespace

void barrier_arrive(Warp& warp, const Insn& insn) {
  const Arrival arrival = read(warp, insn);
  check(warp, insn, arrival);
  Block& block = *warp.block;
  Block::Barrier& barrier = block.barriers[arrival.number];
  const u32 bit = 1u << arrival.number;
  if ((block.pending_barriers & bit) == 0) {
    block.pending_barriers |= bit;
    barrier.expected = arrival.threads;
    barrier.first_pc = warp.pc;
  }
  barrier.arrived[warp.id] |= warp.mask;
  if (insn.s[2] != kNone) {
    barrier.ones += static_cast<u32>(__builtin_popcount(arrival.predicate & warp.mask));
    barrier.zeros += static_cast<u32>(__builtin_popcount(~arrival.predicate & warp.mask));
  }
  if (static_cast<BarrierKind>(insn.sub) == BarrierKind::kArrive) {
    ++warp.pc;
    if (complete(block, barrier)) release(block, arrival.number);
    return;
  }
  park(warp, GroupState::kBarrier, arrival.number);
  if (complete(block, barrier)) release(block, arrival.number);
}

void barrier_exit(Block& block) {
  for (const u32 n : SetBits(block.pending_barriers))
    if (complete(block, block.barriers[n])) release(block, n);
}

}  // namespace vgpu::machine
