// SPDX-License-Identifier: Apache-2.0
#include "machine/cluster.hpp"

#include <fmt/format.h>

#include "machine/bulk_check.hpp"

namespace vgpu::machine {
namespace {

// Maximum instructions that a block runs before the cluster's next block does.
constexpr i64 kTurn = 1 << 16;

}  // namespace

Cluster::Cluster(const Launch& launch, observer::Counters& counters, SiteMemo* memos,
                 DeviceClock& clock)
    : device_clock(clock) {
  const u32 count = static_cast<u32>(launch.config.cluster.count());
  if (launch.observer != nullptr) {
    const u32 warps = static_cast<u32>((launch.config.block.count() + kLanes - 1) / kLanes);
    race_ =
        launch.observer->races(launch.shared_read_end - launch.program.shared_begin, warps, count);
  }
  if (launch.config.findings != nullptr) findings_.emplace(*launch.config.findings);
  for (u32 rank = 0; rank < count; ++rank) {
    blocks_.push_back(std::make_unique<Block>(launch, counters, memos, *this, rank));
  }
  arrivals_.resize(count * blocks_[0]->warp_count);
}

Cluster::~Cluster() = default;

void Cluster::start(u64 linear_index) {
  idle_rounds = 0;
  for (Arrival& arrival : arrivals_) arrival = {};
  clock_ = {};
  if (race_ != nullptr) race_->start();
  if (size() == 1) {
    blocks_[0]->start(linear_index);
    return;
  }
  const Dim3 &grid = blocks_[0]->launch.config.grid, &of = blocks_[0]->launch.config.cluster;
  const u64 across = grid.x / of.x, down = grid.y / of.y;
  const u64 x = linear_index % across * of.x, y = linear_index / across % down * of.y,
            z = linear_index / across / down * of.z;
  for (u32 rank = 0; rank < size(); ++rank) {
    const u64 bx = x + rank % of.x, by = y + rank / of.x % of.y, bz = z + rank / of.x / of.y;
    blocks_[rank]->start((bz * grid.y + by) * grid.x + bx);
  }
}

bool Cluster::run(i64 quantum) {
  if (size() > 1) return run_together(quantum);
  Block& block = *blocks_[0];
  const bool done = block.run(quantum);
  if (block.blocked) report_stuck(block);
  idle_rounds = block.idle_rounds;
  return done;
}

bool Cluster::run_together(i64 quantum) {
  for (; quantum > 0; quantum -= kTurn) {
    bool all_done = true, any_ran = false, all_idle = true;
    for (const auto& block : blocks_) {
      if (block->done) continue;
      const bool ended = block->run(block->turn(kLanes, kTurn));
      any_ran |= ended || block->ran;
      all_done &= ended;
      all_idle &= !ended && (!block->ran || block->idle_rounds != 0);
    }
    if (all_done) return true;
    if (!any_ran) report_stuck(*blocks_[0]);
    idle_rounds = all_idle ? idle_rounds + 1 : 0;
    if (all_idle) return false;
  }
  return false;
}

std::size_t Cluster::take_output(std::map<u64, PrintFifo>& into) {
  std::size_t bytes = 0;
  for (const auto& block : blocks_) {
    if (block->output.empty()) continue;
    bytes += block->output.bytes();
    into.emplace(block->linear, std::move(block->output));
    block->output.clear();
  }
  return bytes;
}

void Cluster::arrive(Warp& warp, const Insn& insn) {
  Arrival& arrival = arrivals_[index_of(warp)];
  if ((arrival.owed & warp.mask) != 0) {
    fault({warp, insn, static_cast<u32>(__builtin_ctz(arrival.owed & warp.mask))},
          FaultKind::kBarrierDivergence,
          "a thread arrives at the cluster's barrier again before it has waited",
          "it arrived at " + place(warp.block->launch.program, arrival.pc));
  }
  arrival.arrived |= warp.mask;
  arrival.owed |= warp.mask;
  arrival.pc = warp.pc;
  const bool releases = insn.sub == 0;
  if (race_ != nullptr) {
    if (releases)
      race_->arrive(warp, clock_);
    else
      race_->arrive_relaxed(warp, clock_);
  }
  ++warp.pc;
  ++warp.progress;
  complete_if_due();
}

void Cluster::wait(Warp& warp, const Insn& insn) {
  Arrival& arrival = arrivals_[index_of(warp)];
  if ((warp.mask & ~arrival.owed) != 0) {
    fault({warp, insn, static_cast<u32>(__builtin_ctz(warp.mask & ~arrival.owed))},
          FaultKind::kBarrierDivergence,
          "a thread waits at the cluster's barrier without having arrived");
  }
  if ((arrival.arrived & warp.mask) != 0) {
    count_later(warp);
    park(warp, GroupState::kClusterBarrier, 0);
    return;
  }
  arrival.owed &= ~warp.mask;
  if (race_ != nullptr) race_->wait(warp, clock_);
  ++warp.pc;
}

void Cluster::complete_if_due() {
  bool any = false;
  for (const auto& block : blocks_) {
    for (u32 w = 0; w < block->warp_count; ++w) {
      const Warp& warp = block->warps[w];
      const u32 arrived = arrivals_[index_of(warp)].arrived;
      if ((warp.live & ~arrived) != 0) return;
      any |= arrived != 0;
    }
  }
  if (!any) return;
  if (race_ != nullptr) race_->complete(clock_);
  for (Arrival& arrival : arrivals_) arrival.arrived = 0;
  for (const auto& block : blocks_) {
    for (u32 w = 0; w < block->warp_count; ++w) {
      Warp& warp = block->warps[w];
      bool released = false;
      for (u32 i = 0; i < warp.parked_count; ++i) {
        Group& group = warp.parked[i];
        if (group.state != GroupState::kClusterBarrier) continue;
        group.state = GroupState::kReady;  // they execute the wait again
        released = true;
      }
      if (released && warp.status == WarpStatus::kWaiting)
        select_group(warp);
      else if (released && warp.status == WarpStatus::kReady)
        warp.limit = 0;  // select a group again
    }
  }
}

void Cluster::lanes_left() {
  if (size() > 1 || arrivals_[0].owed != 0) complete_if_due();
}

u64 Cluster::missing() const {
  u64 threads = 0;
  for (const auto& block : blocks_) {
    for (u32 w = 0; w < block->warp_count; ++w) {
      const Warp& warp = block->warps[w];
      threads +=
          static_cast<u64>(__builtin_popcount(warp.live & ~arrivals_[index_of(warp)].arrived));
    }
  }
  return threads;
}

u32 rank_of(const Warp& warp, u64 address) {
  const u64 window = address / kWindowBytes;
  if (warp.machine_code)
    return window < warp.block->cluster.size() ? static_cast<u32>(window) : kNone;
  if (window == 0) return warp.block->rank;
  if (window < kFirstOfCluster || window - kFirstOfCluster >= warp.block->cluster.size())
    return kNone;
  return static_cast<u32>(window - kFirstOfCluster);
}

void touch_shared_place(const Lane& lane, const SharedPlace& place, u32 bytes, bool writes,
                        observer::Access kind) {
  watch_bulk_shared(lane, place, bytes, writes);
  if (lane.warp.race == nullptr) return;
  lane.warp.race->access(lane.warp, lane.insn, lane.lane, {place.block, place.offset, bytes},
                         writes, kind);
}

SharedPlace shared_place(const Lane& lane, u64 address, u32 bytes, u32 alignment) {
  const u32 rank = rank_of(lane.warp, address);
  if (rank == kNone) fault_access(lane, AddressSpace::kShared, address, bytes);
  Block& block = lane.warp.block->cluster.block(rank);
  const u64 offset = address % kWindowBytes;
  if (offset % alignment != 0) {
    fault(lane, FaultKind::kMisaligned, "an operand in shared memory that is not aligned",
          fmt::format("shared address 0x{:x} is no multiple of {}", offset, alignment));
  }
  if (offset < lane.warp.shared_begin || offset + bytes > lane.warp.shared_end) {
    fault_access(lane, AddressSpace::kShared, offset, bytes);
  }
  // Hardware may still have that memory.
  if (block.done && lane.warp.block->launch.config.check_sync) {
    const Dim3& index = block.index;
    fault(
        lane, FaultKind::kClusterExit,
        fmt::format(
            "shared memory of block ({}, {}, {}) of the cluster is used after that block has ended",
            index.x, index.y, index.z),
        fmt::format("shared address 0x{:x} of rank {}", offset, rank));
  }
  return {&block, static_cast<u32>(offset)};
}

}  // namespace vgpu::machine
