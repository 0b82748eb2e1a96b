// SPDX-License-Identifier: Apache-2.0
// A block's mbarriers: objects in shared memory that count a phase's arrivals and transaction
// bytes. PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". Their state
// is kept here. The 64 bits in shared memory hold an encoding of it, which detects stores that
// overwrite an mbarrier.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "machine/cluster.hpp"
#include "machine/fault.hpp"
#include "machine/machine.hpp"

namespace vgpu::machine {

class Mbarriers {
 public:
  explicit Mbarriers(Block& block) : block_(block) {}

  static constexpr u32 kBytes = 8;  // size and alignment of an mbarrier

  void start_block() { all_.clear(); }
  void finish();  // called when the block ends; reports bulk copies that are incomplete
  // Executes mbarrier.* of the kind Insn::sub (MbarrierKind). s[0]: address; s[1]: count, state or
  // parity; s[2]: transaction bytes.
  void execute(Warp& warp, const Insn& insn, u32 mask);
  // cp.async.mbarrier.arrive: arrives when the lanes' previous copies are complete. s[0]: address.
  void copies_arrive(Warp& warp, const Insn& insn, u32 mask);
  // Registers a bulk copy to the range `to` that signals `bytes` bytes at this block's mbarrier at
  // `address`. `copy` performs it, either now or when a thread waits.
  void bulk_lands(Warp& warp, const Lane& lane, u32 address, const observer::SharedRange& to,
                  u32 bytes, std::function<void()> copy);
  // Records the source of such a copy for the race check; it must not change until the copy
  // completes.
  void bulk_reads(Warp& warp, const Lane& lane, u32 address, const SharedPlace& from, u32 bytes);
  // The state of the mbarrier in words; "" if there is none.
  std::string describe(u32 address) const;

 private:
  struct BulkEvent {
    Warp* warp = nullptr;
    const Insn* insn = nullptr;
    u32 lane = 0, bytes = 0, epoch = 0;  // epoch: phase in which the copy began, from 1
    std::function<void()> copy;
  };
  struct Mbarrier {
    bool valid = false;
    u32 expected = 0;  // arrivals per phase
    u32 pending = 0;   // arrivals that the current phase lacks
    i64 bytes = 0;     // tx-count
    u64 phase = 0;
    u32 made_by = 0;             // the instruction that initialised or invalidated it
    observer::Races::Made made;  // who initialised it, for the race check
    u64 refused_phase = 0;
    // Instructions whose wait failed in that phase while copies were incomplete.
    std::vector<u32> refused;
    std::vector<std::function<void()>> events;  // pending asynchronous arrivals
    std::vector<BulkEvent> bulk;                // pending bulk copies
    observer::PhaseClock clock;
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
  static bool refuses(Mbarrier& barrier, u32 pc);  // true once per instruction and phase
  void test(Warp& warp, const Insn& insn, u32 mask, const u32* addresses);
  void change_all(Warp& warp, const Insn& insn, u32 mask);
  void change(Warp& warp, const Lane& lane, u32 address);
  void come(Mbarrier& barrier, u32 address, const BulkEvent& event);
  void let_some_come(Warp& warp, Mbarrier& barrier, u32 address);
  void store(u32 address, u64 picture) const;

  Block& block_;
  std::map<u32, Mbarrier> all_;  // by shared address
};

}  // namespace vgpu::machine
