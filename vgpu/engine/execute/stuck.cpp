// SPDX-License-Identifier: Apache-2.0
// Reports of blocks that cannot go on: where every warp stands and what it waits for.
#include <fmt/format.h>

#include <set>

#include "engine/execute/fault.hpp"
#include "engine/execute/mbarrier.hpp"
#include "engine/execute/wgmma.hpp"

namespace vgpu::execute {
namespace {

std::string reason(const Block& block, const Group& group) {
  switch (group.state) {
    case GroupState::kBarrier: {
      const u32 expected = block.barriers[group.wait].expected;
      return fmt::format("wait at barrier {}{}", group.wait,
                         expected == 0 ? "" : fmt::format(" for {} threads", expected));
    }
    case GroupState::kWarpBarrier:
      return fmt::format("wait at bar.warp.sync of lanes 0x{:08x}", group.wait);
    case GroupState::kReconverge:
      return "wait at a convergence barrier";
    case GroupState::kConverge:
      return fmt::format("wait at a .sync instruction with lanes 0x{:08x}", group.wait);
    case GroupState::kReady:
      return "can run";
  }
  return "";
}

// What the lanes of the running group do, at which instruction.
std::string reason(const Warp& warp, u32& pc) {
  if (warp.wants_registers) {
    return fmt::format("wait for registers; the block's pool has {}", warp.block->free_registers);
  }
  if (warp.wants_warpgroup) return warp.block->warpgroups->describe(warp);
  if (warp.waits_for.address == kNone) return "poll memory";
  pc = warp.waits_for.pc;
  return fmt::format("wait for the mbarrier at shared address 0x{:x}", warp.waits_for.address);
}

// A line for each group of lanes, then one for each mbarrier that somebody waits for.
std::string positions(const Block& block) {
  const Program& program = block.launch.program;
  std::string text;
  std::set<u32> mbarriers;
  const auto line = [&](u32 warp, u32 mask, const std::string& why, u32 pc) {
    text += fmt::format("{}warp {} lanes 0x{:08x} {}: {}", text.empty() ? "" : "\n", warp, mask, why,
                        place(program, pc));
  };
  for (u32 w = 0; w < block.warp_count; ++w) {
    const Warp& warp = block.warps[w];
    if (warp.status == WarpStatus::kReady) {
      u32 pc = warp.pc;
      const std::string why = reason(warp, pc);
      line(w, warp.mask, why, pc);
      if (warp.waits_for.address != kNone) mbarriers.insert(warp.waits_for.address);
    }
    for (u32 i = 0; i < warp.parked_count; ++i) {
      line(w, warp.parked[i].mask, reason(block, warp.parked[i]), warp.parked[i].pc);
    }
  }
  for (const u32 address : mbarriers) text += "\n" + block.mbarriers->describe(address);
  return text;
}

}  // namespace

void report_stuck(const Block& block) {
  for (u32 w = 0; w < block.warp_count; ++w) {
    const Warp& warp = block.warps[w];
    if (warp.parked_count == 0) continue;
    const Group& at = warp.parked[0];
    fault({warp, warp.code[at.pc], static_cast<u32>(__builtin_ctz(at.mask))}, FaultKind::kBarrierDivergence,
          "a barrier that the other threads can no longer reach", positions(block));
  }
  throw std::logic_error("a block is stuck without a waiting warp");
}

void report_waiting(const Block& block, const char* why) {
  const Warp* first = nullptr;
  for (u32 w = 0; w < block.warp_count; ++w) {
    const Warp& warp = block.warps[w];
    if (warp.status != WarpStatus::kReady) continue;
    if (first == nullptr) first = &warp;
    if (warp.waits_for.address != kNone) {  // this says more
      first = &warp;
      break;
    }
  }
  u32 pc = first->pc;
  const std::string what = reason(*first, pc);
  const char* const message =
      first->waits_for.address != kNone
          ? "a thread waits for a phase of an mbarrier that nobody will complete"
      : first->wants_registers ? "a warp waits for registers that nobody will give back"
      : first->wants_warpgroup ? "a warp waits for wgmma that its warpgroup will not begin"
                               : "a thread waits for a value in memory that nobody will write";
  fault({*first, first->code[pc], static_cast<u32>(__builtin_ctz(first->mask))}, FaultKind::kDeadlock,
        message, std::string(why) + "\n" + positions(block));
}

}  // namespace vgpu::execute
