// SPDX-License-Identifier: Apache-2.0
// mbarriers of a block: objects in shared memory that count the arrivals and the bytes of a phase.
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". Their state is kept
// here; the 64 bits in shared memory hold a picture of it, so that a store to them is found.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/check/race.hpp"
#include "engine/execute/cluster.hpp"
#include "engine/execute/fault.hpp"
#include "engine/execute/machine.hpp"

namespace vgpu::execute {

class Mbarriers {
 public:
  explicit Mbarriers(Block& block) : block_(block) {}

  static constexpr u32 kBytes = 8;  // of one, and its alignment

  void start_block() { all_.clear(); }
  void finish();  // the block ends: what still comes is a fault
  // mbarrier.*, as MbarrierKind says. s: address; count, state or parity; bytes of a transaction.
  void execute(Warp& warp, const Insn& insn, u32 mask);
  // cp.async.mbarrier.arrive: arrivals that come when the lanes' copies so far have landed. s:
  // address.
  void copies_arrive(Warp& warp, const Insn& insn, u32 mask);
  // A bulk copy to a range in this block, of which the mbarrier at `address` counts so many bytes,
  // completes there: `copy` does it, now or when somebody waits.
  void bulk_lands(Warp& warp, const Lane& lane, u32 address, const check::SharedRange& to,
                  u32 bytes, std::function<void()> copy);
  // Such a copy's source, which must stay as it is until then; for the race check.
  void bulk_reads(Warp& warp, const Lane& lane, u32 address, const SharedPlace& from, u32 bytes);
  // "" where there is no mbarrier.
  std::string describe(u32 address) const;

 private:
  struct BulkEvent {
    Warp* warp = nullptr;
    const Insn* insn = nullptr;
    u32 lane = 0, bytes = 0, epoch = 0;  // the phase that it began in, from 1
    std::function<void()> copy;
  };
  struct Mbarrier {
    bool valid = false;
    u32 expected = 0;  // arrivals a phase
    u32 pending = 0;   // ... that the current one still lacks
    i64 bytes = 0;     // tx-count
    u64 phase = 0;
    u32 made_by = 0;              // the instruction that initialised or invalidated it
    check::RaceCheck::Made made;  // by whom, for the race check
    u64 refused_phase = 0;
    std::vector<u32>
        refused;  // instructions that have been told no in that phase while copies were to come
    std::vector<std::function<void()>> events;  // asynchronous ones that have not happened yet
    std::vector<BulkEvent> bulk;                // likewise
    check::PhaseClock clock;
    u64 picture() const;
  };

  static u64 address_of(const Warp& warp, const Insn& insn, u32 lane);
  void addresses(const Warp& warp, const Insn& insn, u32 mask, u32* to) const;
  Mbarrier& at(const Lane& lane, u32 address);
  void initialise(const Lane& lane, u32 address, u32 count);
  void invalidate(const Lane& lane, u32 address);
  void expect(const Lane& lane, Mbarrier& barrier, i64 bytes) const;
  void arrive(const Lane& lane, Mbarrier& barrier, u32 count) const;
  void complete_if_due(Warp& warp, Mbarrier& barrier) const;
  bool is_complete(const Lane& lane, const Mbarrier& barrier, u64 operand) const;
  static bool refuses(Mbarrier& barrier, u32 pc);  // the first time in a phase
  void test(Warp& warp, const Insn& insn, u32 mask, const u32* addresses);
  void change_all(Warp& warp, const Insn& insn, u32 mask);
  void change(Warp& warp, const Lane& lane, u32 address);
  void come(Mbarrier& barrier, u32 address, const BulkEvent& event);
  void let_some_come(Warp& warp, Mbarrier& barrier, u32 address);
  void store(u32 address, u64 picture) const;

  Block& block_;
  std::map<u32, Mbarrier> all_;  // by shared address
};

}  // namespace vgpu::execute
