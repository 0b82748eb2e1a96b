// SPDX-License-Identifier: Apache-2.0
// Reports of blocks that cannot continue: the position of every warp and what it waits for.
#include <fmt/format.h>

#include <set>

#include "machine/cluster.hpp"
#include "machine/fault.hpp"
#include "machine/mbarrier.hpp"
#include "machine/wgmma.hpp"

namespace vgpu::machine {
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
    case GroupState::kClusterBarrier:
      return fmt::format("wait at the cluster's barrier, which lacks {} threads",
                         block.cluster.missing());
    case GroupState::kReconverge: return "wait at a convergence barrier";
    case GroupState::kConverge:
      return fmt::format("wait at a .sync instruction with lanes 0x{:08x}", group.wait);
    case GroupState::kReady: return "can run";
  }
  return "";
}

// Describes what the running group waits for; stores the instruction to `pc`.
std::string reason(const Warp& warp, u32& pc) {
  if (warp.wants_registers) {
    return fmt::format("wait for registers; the block's pool has {}", warp.block->free_registers);
  }
  if (warp.wants_warpgroup) return warp.block->warpgroups->describe(warp);
  if (warp.waits_for.address == kNone) return "poll memory";
  pc = warp.waits_for.pc;
  return fmt::format("wait for the mbarrier at shared address 0x{:x}", warp.waits_for.address);
}

// One line per group of lanes, then one per mbarrier that a warp waits for.
std::string positions_in(const Block& block) {
  const Program& program = block.launch.program;
  std::string text;
  std::set<u32> mbarriers;
  const auto line = [&](u32 warp, u32 mask, const std::string& why, u32 pc) {
    text += fmt::format("{}warp {} lanes 0x{:08x} {}: {}", text.empty() ? "" : "\n", warp, mask,
                        why, place(program, pc));
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

std::string positions(const Block& block) {
  const Cluster& cluster = block.cluster;
  if (cluster.size() == 1) return positions_in(block);
  std::string text;
  for (u32 rank = 0; rank < cluster.size(); ++rank) {
    const Dim3& index = cluster.block(rank).index;
    text +=
        fmt::format("{}block ({}, {}, {}), rank {} of the cluster{}", rank == 0 ? "" : "\n",
                    index.x, index.y, index.z, rank, cluster.block(rank).done ? ", has ended" : "");
    const std::string inside = positions_in(cluster.block(rank));
    if (!inside.empty()) text += "\n" + inside;
  }
  return text;
}

// Calls f(warp) for every warp of the cluster until it returns true.
template <class F>
void for_each_warp(const Block& block, F f) {
  const Cluster& cluster = block.cluster;
  for (u32 rank = 0; rank < cluster.size(); ++rank) {
    for (u32 w = 0; w < cluster.block(rank).warp_count; ++w) {
      if (f(cluster.block(rank).warps[w])) return;
    }
  }
}

}  // namespace

void report_stuck(const Block& block) {
  for_each_warp(block, [&](const Warp& warp) {
    if (warp.parked_count == 0) return false;
    const Group& at = warp.parked[0];
    fault({warp, warp.code[at.pc], static_cast<u32>(__builtin_ctz(at.mask))},
          FaultKind::kBarrierDivergence, "a barrier that the other threads can no longer reach",
          positions(block));
  });
  throw std::logic_error("a block is stuck without a waiting warp");
}

void report_waiting(const Block& block, const char* why) {
  const Warp* first = nullptr;
  for_each_warp(block, [&](const Warp& warp) {
    if (warp.status != WarpStatus::kReady) return false;
    const bool waits = warp.waits_for.address != kNone;  // this report is more specific
    if (first == nullptr || waits) first = &warp;
    return waits;
  });
  u32 pc = first->pc;
  const std::string what = reason(*first, pc);
  const char* const message =
      first->waits_for.address != kNone
          ? "a thread waits for a phase of an mbarrier that nobody will complete"
      : first->wants_registers ? "a warp waits for registers that nobody will give back"
      : first->wants_warpgroup ? "a warp waits for wgmma that its warpgroup will not begin"
                               : "a thread waits for a value in memory that nobody will write";
  fault({*first, first->code[pc], static_cast<u32>(__builtin_ctz(first->mask))},
        FaultKind::kDeadlock, message, std::string(why) + "\n" + positions(block));
}

void check_deadline(const Block& block) {
  const Deadline& deadline = *block.launch.config.deadline;
  if (std::chrono::steady_clock::now() <= deadline.time) return;
  for_each_warp(block, [&](const Warp& warp) {
    if (warp.status == WarpStatus::kReady) {
      fault({warp, warp.code[warp.pc], static_cast<u32>(__builtin_ctz(warp.mask))},
            FaultKind::kTimeout,
            fmt::format("the kernel runs longer than {} second{}", deadline.seconds,
                        deadline.seconds == 1 ? "" : "s"),
            positions(block));
    }
    return false;
  });
}

}  // namespace vgpu::machine
