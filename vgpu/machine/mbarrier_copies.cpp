// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies and mbarriers: bulk copies signal their bytes (complete-tx), cp.async copies
// arrive when complete.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "machine/async.hpp"
#include "machine/mbarrier.hpp"
#include "machine/mbarrier_lanes.hpp"
#include "observer/findings.hpp"

namespace vgpu::machine {

// Completes a bulk copy: complete-tx on the mbarrier.
void Mbarriers::come(Mbarrier& barrier, u32 address, const BulkEvent& event) {
  event.copy();
  if (block_.race != nullptr)
    block_.race->tells(barrier.clock, block_.race->agent_of_barrier(block_, address), event.epoch);
  expect({*event.warp, *event.insn, event.lane}, barrier, -i64{event.bytes});
  complete_if_due(*event.warp, barrier);
  store(address, barrier.picture());
}

// Under a random schedule, completes the bulk copies that the schedule does not delay further.
void Mbarriers::let_some_come(Warp& warp, Mbarrier& barrier, u32 address) {
  if (block_.launch.config.schedule.kind != CopySchedule::Kind::kRandom) return;
  std::vector<BulkEvent> later;
  for (BulkEvent& event : std::exchange(barrier.bulk, {})) {
    if (warp.copies->delays())
      later.push_back(std::move(event));
    else
      come(barrier, address, event);
  }
  barrier.bulk = std::move(later);
}

void Mbarriers::bulk_lands(Warp& warp, const Lane& lane, u32 address,
                           const observer::SharedRange& to, u32 bytes, std::function<void()> copy) {
  Mbarrier& barrier = at(lane, address);
  const BulkEvent event{
      &warp, &lane.insn, lane.lane, bytes, static_cast<u32>(barrier.phase) + 1, std::move(copy)};
  if (block_.race != nullptr && to.bytes != 0) {
    block_.race->async_write(warp, lane.insn, lane.lane, to,
                             block_.race->agent_of_barrier(block_, address), event.epoch);
  }
  if (warp.copies->delays())
    barrier.bulk.push_back(event);
  else
    come(barrier, address, event);
}

void Mbarriers::bulk_reads(Warp& warp, const Lane& lane, u32 address, const SharedPlace& from,
                           u32 bytes) {
  block_.race->async_read(warp, lane.insn, lane.lane, {from.block, from.offset, bytes},
                          block_.race->agent_of_barrier(block_, address),
                          static_cast<u32>(at(lane, address).phase) + 1);
}

void Mbarriers::finish() {
  for (const auto& [address, barrier] : all_) {
    if (barrier.bulk.empty()) continue;
    const BulkEvent& event = barrier.bulk.front();
    const Lane at{*event.warp, *event.insn, event.lane};
    observer::find(at, FaultKind::kRace, kNone, [&, of = address]() -> observer::Description {
      return {"the block ends while a bulk copy may still write its shared memory", describe(of)};
    });
  }
}

void Mbarriers::copies_arrive(Warp& warp, const Insn& insn, u32 mask) {
  u32 to[kLanes];
  addresses(warp, insn, mask, to);
  ++warp.progress;
  if (warp.race != nullptr) {
    warp.race->access(warp, insn, mask, to, kBytes, true, observer::Access::kStrong, 0);
  }
  std::array<u32, kLanes> epochs{};
  warp.copies->end_epoch(mask, epochs.data());
  // Insn::sub 0: the phase does not expect the lanes' arrivals, so the pending count is raised. 1:
  // the phase expects them. 2: machine code has added one byte per lane to the transaction count,
  // and the copy completes that byte instead of arriving.
  const bool adds = insn.sub == 0, bytes = insn.sub == 2;
  for_each_address(mask, to, [&](u32 address, u32 lanes) {
    const u32 first = static_cast<u32>(__builtin_ctz(lanes)),
              count = static_cast<u32>(__builtin_popcount(lanes));
    Mbarrier& barrier = at({warp, insn, first}, address);
    if (warp.race != nullptr) warp.race->copies_arrive(warp, lanes, epochs.data(), barrier.clock);
    if (adds) {
      if (barrier.pending + count > kMostArrivals) {
        bad_operand({warp, insn, first},
                    fmt::format("an mbarrier counts no more than {} arrivals", kMostArrivals));
      }
      barrier.pending += count;
    }
    const auto come = [this, &warp, &insn, address, lanes, epochs, bytes] {
      Mbarrier& then = all_.at(address);
      warp.copies->land(lanes, epochs.data());
      for (const u32 index : SetBits(lanes)) {
        const Lane lane{warp, insn, index};
        if (bytes)
          expect(lane, then, -1);
        else
          arrive(lane, then, 1);
        complete_if_due(warp, then);
      }
    };
    if (warp.copies->delays())
      barrier.events.emplace_back(come);
    else
      come();
    store(address, barrier.picture());
  });
}

}  // namespace vgpu::machine
