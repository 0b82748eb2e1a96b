// SPDX-License-Identifier: Apache-2.0
#include "machine/mbarrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine/mbarrier_lanes.hpp"

namespace vgpu::machine {
namespace {

constexpr i64 kMostBytes = (1 << 20) - 1;
// Bits of a state: pending arrivals below the shift, the phase above.
constexpr u32 kPhaseShift = 20;

// Machine code stores counts as 2^20 minus the count: the expected count from bit 1, the pending
// count from bit 43, and the phase parity in bit 63.
// kExpectedAt and kPendingAt are bit positions within the 32-bit halves.
constexpr u32 kMachineCounts = 1u << 20, kExpectedAt = 1, kPendingAt = 11;

u32 count_in_image(const Lane& lane) {
  const u32* const low = reinterpret_cast<const u32*>(lane.warp.window + lane.insn.s[1]);
  const u32 image[2] = {low[lane.lane], low[kLanes + lane.lane]};
  const u32 lacks = image[0] >> kExpectedAt;
  if (lacks << kExpectedAt != image[0] || lacks << kPendingAt != image[1] ||
      lacks > kMachineCounts) {
    bad_operand(lane,
                fmt::format("0x{:08x}{:08x} is not how an mbarrier begins", image[1], image[0]));
  }
  return kMachineCounts - lacks;
}

void check_count(const Lane& lane, u32 count) {
  if (count < 1 || count > kMostArrivals) {
    bad_operand(lane,
                fmt::format("an mbarrier counts 1 to {} arrivals, not {}", kMostArrivals, count));
  }
}

}  // namespace

u64 Mbarriers::Mbarrier::picture() const {
  return (u64{1} << 62) | (phase & 1) << 61 | (static_cast<u64>(bytes) & 0x1fffff) << 40 |
         u64{pending} << 20 | expected;
}

std::string Mbarriers::describe(u32 address) const {
  const auto found = all_.find(address);
  if (found == all_.end() || !found->second.valid) return "";
  const Mbarrier& b = found->second;
  return fmt::format(
      "mbarrier at shared address 0x{:x}: phase {} (parity {}) lacks {} of {} arrivals and {} "
      "bytes{}; "
      "initialised at "
      "{}",
      address, b.phase, b.phase & 1, b.pending, b.expected, b.bytes,
      b.events.empty() ? ""
                       : fmt::format(", {} asynchronous arrivals are to come", b.events.size()),
      place(block_.launch.program, b.made_by));
}

u64 Mbarriers::address_of(const Warp& warp, const Insn& insn, u32 lane) {
  u64 address;
  if ((insn.flags & kFlagMachine) != 0)
    address = operand<u32>(warp, insn.s[0], lane) + operand<u32>(warp, insn.s[3], lane) +
              static_cast<u32>(insn.imm);
  else if ((insn.flags & kFlagAddress32) != 0)
    address = operand<u32>(warp, insn.s[0], lane) + static_cast<u32>(insn.imm);
  else
    address = operand<u64>(warp, insn.s[0], lane) + static_cast<u64>(insn.imm);
  if ((insn.flags & kFlagGeneric) == 0) return address;
  const AddressSpace space = space_of(address, warp.shared_window);
  if (space != AddressSpace::kShared && space != AddressSpace::kCluster) {
    fault({warp, insn, lane}, FaultKind::kOutOfBounds,
          fmt::format("the generic address 0x{:x} of an mbarrier lies outside shared memory",
                      address),
          "");
  }
  return address - warp.cluster_window;
}

// Resolves the addresses of mbarriers that must belong to this block.
void Mbarriers::addresses(const Warp& warp, const Insn& insn, u32 mask, u32* to) const {
  for (const u32 index : SetBits(mask)) {
    const Lane lane{warp, insn, index};
    const SharedPlace place = shared_place(lane, address_of(warp, insn, lane.lane), kBytes, kBytes);
    if (place.block != &block_)
      bad_operand(lane, "only an arrival or a count of bytes may go to another block's mbarrier");
    to[lane.lane] = place.offset;
  }
}

void Mbarriers::store(u32 address, u64 picture) const {
  std::memcpy(block_.warps[0].shared + address, &picture, sizeof(picture));
}

Mbarriers::Mbarrier& Mbarriers::at(const Lane& lane, u32 address) {
  const auto found = all_.find(address);
  if (found == all_.end()) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("no mbarrier has been initialised at shared address 0x{:x}", address), "");
  }
  Mbarrier& barrier = found->second;
  const std::string maker = place(block_.launch.program, barrier.made_by);
  if (!barrier.valid) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("the mbarrier at shared address 0x{:x} was invalidated", address),
          "by " + maker);
  }
  u64 found_there;
  std::memcpy(&found_there, block_.warps[0].shared + address, sizeof(found_there));
  if (found_there != barrier.picture()) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("a store has overwritten the mbarrier at shared address 0x{:x}", address),
          "initialised at " + maker);
  }
  if (lane.warp.race != nullptr) {
    lane.warp.race->use(lane.warp, lane.insn, lane.lane, {&block_, address, kBytes}, barrier.made);
  }
  return barrier;
}

void Mbarriers::initialise(const Lane& lane, u32 address, u32 count) {
  check_count(lane, count);
  Mbarrier& barrier = all_[address];
  if (barrier.valid) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("there is an mbarrier at shared address 0x{:x} already", address),
          "initialised at " + place(block_.launch.program, barrier.made_by));
  }
  barrier = {};
  barrier.valid = true;
  barrier.expected = barrier.pending = count;
  barrier.made_by = static_cast<u32>(&lane.insn - lane.warp.code);
  if (lane.warp.race != nullptr) barrier.made = lane.warp.race->made(lane.warp, lane.insn);
  store(address, barrier.picture());
}

void Mbarriers::invalidate(const Lane& lane, u32 address) {
  Mbarrier& barrier = at(lane, address);
  if (!barrier.events.empty() || !barrier.bulk.empty()) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("the mbarrier at shared address 0x{:x} is invalidated while asynchronous "
                      "arrivals are to come",
                      address),
          describe(address));
  }
  barrier.valid = false;
  barrier.made_by = static_cast<u32>(&lane.insn - lane.warp.code);
}

void Mbarriers::expect(const Lane& lane, Mbarrier& barrier, i64 bytes) const {
  barrier.bytes += bytes;
  if (barrier.bytes > kMostBytes || barrier.bytes < -kMostBytes) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("the bytes of an mbarrier's phase are beyond {}", kMostBytes),
          "initialised at " + place(block_.launch.program, barrier.made_by));
  }
}

void Mbarriers::arrive(const Lane& lane, Mbarrier& barrier, u32 count) const {
  check_count(lane, count);
  if (count > barrier.pending) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("{} arrivals at an mbarrier whose phase {} lacks {} of {}", count,
                      barrier.phase, barrier.pending, barrier.expected),
          "initialised at " + place(block_.launch.program, barrier.made_by));
  }
  barrier.pending -= count;
}

void Mbarriers::complete_if_due(Warp& warp, Mbarrier& barrier) const {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  if (warp.race != nullptr) warp.race->complete(barrier.clock);
}

// Executes an operation that changes an mbarrier's counts, for one lane.
void Mbarriers::change(Warp& warp, const Lane& lane, u32 address) {
  const Insn& insn = lane.insn;
  Mbarrier& barrier = at(lane, address);
  const MbarrierKind kind = static_cast<MbarrierKind>(insn.sub);
  const u64 state = barrier.phase << kPhaseShift | barrier.pending;
  const u32 expected = barrier.expected;
  const u32 count = operand<u32>(warp, insn.s[1], lane.lane);
  const u32 bytes = operand<u32>(warp, insn.s[2], lane.lane);
  switch (kind) {
    case MbarrierKind::kExpect: expect(lane, barrier, bytes); break;
    case MbarrierKind::kComplete: expect(lane, barrier, -i64{bytes}); break;
    case MbarrierKind::kArriveExpect:
    case MbarrierKind::kDropExpect: expect(lane, barrier, bytes); [[fallthrough]];
    default:
      arrive(lane, barrier, count);
      if ((insn.flags & kFlagStrong) != 0 && warp.race != nullptr)
        warp.race->arrive(warp, barrier.clock);
  }
  const bool drops = kind == MbarrierKind::kDrop || kind == MbarrierKind::kDropExpect ||
                     kind == MbarrierKind::kDropNoComplete;
  if (drops) barrier.expected -= std::min(barrier.expected, count);
  if ((kind == MbarrierKind::kArriveNoComplete || kind == MbarrierKind::kDropNoComplete) &&
      barrier.pending == 0 && barrier.bytes == 0) {
    fault(lane, FaultKind::kMbarrier,
          "an arrival with .noComplete completes the phase of its mbarrier",
          "initialised at " + place(block_.launch.program, barrier.made_by));
  }
  complete_if_due(warp, barrier);
  store(address, barrier.picture());
  if (insn.d == kNone) return;
  if ((insn.flags & kFlagMachine) != 0) {
    u32* const low = reinterpret_cast<u32*>(warp.window + insn.d);
    low[lane.lane] = (kMachineCounts - expected) << kExpectedAt;
    low[kLanes + lane.lane] = static_cast<u32>(state >> kPhaseShift & 1) << 31 |
                              (kMachineCounts - static_cast<u32>(state & kMostArrivals))
                                  << kPendingAt;
  } else {
    reinterpret_cast<u64*>(warp.window + insn.d)[lane.lane] = state;
  }
}

bool Mbarriers::is_complete(const Lane& lane, const Mbarrier& barrier, u64 asked) const {
  if (static_cast<MbarrierKind>(lane.insn.sub) == MbarrierKind::kWaitParity) {
    if (asked > 1) bad_operand(lane, fmt::format("the parity of a phase is 0 or 1, not {}", asked));
    return (barrier.phase & 1) != asked;
  }
  const u64 phase = asked >> kPhaseShift;
  if (phase != barrier.phase && phase + 1 != barrier.phase) {
    fault(lane, FaultKind::kMbarrier,
          fmt::format("a wait by a state of phase {} of an mbarrier in phase {}", phase,
                      barrier.phase),
          "the state must be of the current phase or of the one before\ninitialised at " +
              place(block_.launch.program, barrier.made_by));
  }
  return phase != barrier.phase;
}

bool Mbarriers::refuses(Mbarrier& barrier, u32 pc) {
  if (barrier.refused_phase != barrier.phase) {
    barrier.refused_phase = barrier.phase;
    barrier.refused.clear();
  }
  if (std::find(barrier.refused.begin(), barrier.refused.end(), pc) != barrier.refused.end())
    return false;
  barrier.refused.push_back(pc);
  return true;
}

void Mbarriers::test(Warp& warp, const Insn& insn, u32 mask, const u32* addresses) {
  u32 done = 0;
  for_each_address(mask, addresses, [&](u32 address, u32 lanes) {
    Mbarrier& barrier = at({warp, insn, static_cast<u32>(__builtin_ctz(lanes))}, address);
    const auto complete = [&] {
      u32 result = 0;
      for (const u32 lane : SetBits(lanes)) {
        const u64 asked = (insn.flags & kFlagMachine) != 0
                              ? operand<u32>(warp, insn.s[1], lane) >> 31
                          : static_cast<MbarrierKind>(insn.sub) == MbarrierKind::kWaitParity
                              ? operand<u32>(warp, insn.s[1], lane)
                              : operand<u64>(warp, insn.s[1], lane);
        result |= static_cast<u32>(is_complete({warp, insn, lane}, barrier, asked)) << lane;
      }
      return result;
    };
    if (!barrier.bulk.empty()) let_some_come(warp, barrier, address);
    u32 here = complete();
    if (here != lanes && !(barrier.events.empty() && barrier.bulk.empty())) {
      // Each wait fails once per phase, to detect code that continues regardless. After that no
      // thread can continue without the pending copies, so they complete now.
      if (!refuses(barrier, static_cast<u32>(&insn - warp.code))) {
        for (const auto& event : std::exchange(barrier.events, {})) event();
        for (const BulkEvent& event : std::exchange(barrier.bulk, {}))
          come(barrier, address, event);
        store(address, barrier.picture());
      }
      ++warp.progress;
      here = complete();
    }
    if (here != 0 && (insn.flags & kFlagStrong) != 0 && warp.race != nullptr) {
      warp.race->wait(warp, barrier.clock);
    }
    if (here != lanes) warp.waits_for = {address, static_cast<u32>(&insn - warp.code)};
    done |= here;
  });
  u32& predicate = *reinterpret_cast<u32*>(warp.window + insn.d);
  predicate = (predicate & ~mask) | done;
  if (done != 0) {
    ++warp.progress;
    if (done == mask) warp.waits_for = {};
  } else {
    ++warp.polls;
  }
  if (done == mask) return;
  ++warp.site_counts[insn.site].failed_waits;
  warp.budget = 0;  // let other warps run
}

void Mbarriers::execute(Warp& warp, const Insn& insn, u32 mask) {
  const MbarrierKind kind = static_cast<MbarrierKind>(insn.sub);
  if (kind == MbarrierKind::kPending) {
    for (const u32 lane : SetBits(mask)) {
      reinterpret_cast<u32*>(warp.window + insn.d)[lane] =
          static_cast<u32>(operand<u64>(warp, insn.s[1], lane) & kMostArrivals);
    }
    return;
  }
  const bool tests = kind == MbarrierKind::kWaitState || kind == MbarrierKind::kWaitParity;
  const bool makes = kind == MbarrierKind::kInit || kind == MbarrierKind::kInvalidate;
  const bool machine = (insn.flags & kFlagMachine) != 0;
  if (machine && kind == MbarrierKind::kInit) mask &= 0u - mask;  // executed once per warp
  if (!tests && !makes) {
    change_all(warp, insn, mask);
    return;
  }
  u32 to[kLanes];
  addresses(warp, insn, mask, to);
  if (warp.race != nullptr) {
    warp.race->access(warp, insn, mask, to, kBytes, !tests,
                      makes ? observer::Access::kPlain : observer::Access::kStrong, 0);
  }
  if (tests) {
    test(warp, insn, mask, to);
    return;
  }
  ++warp.progress;
  for (const u32 lane : SetBits(mask)) {
    const Lane at_lane{warp, insn, lane};
    if (kind == MbarrierKind::kInit)
      initialise(at_lane, to[lane],
                 machine ? count_in_image(at_lane) : operand<u32>(warp, insn.s[1], lane));
    else
      invalidate(at_lane, to[lane]);
  }
}

// Arrivals and transaction counts, at mbarriers of this block or of others of the cluster.
void Mbarriers::change_all(Warp& warp, const Insn& insn, u32 mask) {
  ++warp.progress;
  for (const u32 index : SetBits(mask)) {
    const Lane lane{warp, insn, index};
    const SharedPlace place = shared_place(lane, address_of(warp, insn, lane.lane), kBytes, kBytes);
    if (place.block != &block_ && insn.d != kNone) {
      bad_operand(lane, "an arrival at another block's mbarrier has no state to return");
    }
    if (warp.race != nullptr) {
      warp.race->access(warp, insn, lane.lane, {place.block, place.offset, kBytes}, true,
                        observer::Access::kStrong);
    }
    place.block->mbarriers->change(warp, lane, place.offset);
  }
}

}  // namespace vgpu::machine
