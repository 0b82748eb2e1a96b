// SPDX-License-Identifier: Apache-2.0
// The interface through which the machine tells a check of races what happens to a cluster's shared
// memory, and what orders its warps. Agents: the cluster's warps and the asynchronous operations:
// cp.async copies per thread, bulk copies per mbarrier on which they complete, bulk groups per
// thread, wgmma groups per warp. check/race.hpp has the rules.
#pragma once
#include <vector>

#include "observer/fault.hpp"

namespace vgpu::observer {

// Strong accesses (atomic, volatile, relaxed, acquire, release) do not race with each other.
enum class Access : u8 { kPlain, kStrong };

// Vector clocks that an mbarrier transfers from arriving threads to waiting threads.
struct PhaseClock {
  std::vector<u32> arriving;   // of the current phase
  std::vector<u32> completed;  // of all phases before it
};

// Kinds of asynchronous agents. Their clock is an epoch; a wait for an epoch covers all operations
// up to and including it.
enum class AgentKind : u8 {
  kCopies,   // of a thread: cp.async
  kBarrier,  // bulk copies that complete on one mbarrier; the epoch is its phase, counted from 1
  kGroups,   // of a thread: bulk stores, by bulk groups
  kMatrix,   // of a warp: wgmma, by its groups
};
struct Agent {
  u32 index = 0;
};

// A range of bytes in the shared memory of a block.
struct SharedRange {
  const Block* block = nullptr;
  u32 offset = 0, bytes = 0;
};

class Races {
 public:
  Races() = default;
  virtual ~Races() = default;
  Races(const Races&) = delete;
  Races& operator=(const Races&) = delete;

  virtual void start() = 0;  // call before the blocks of the next cluster start

  // Pointers to the state that the fast path needs (machine/isa/race.hpp) for a warp's accesses to
  // its own block's shared memory. Arrays are indexed by word. Valid until the next call of any
  // other member.
  struct Glance {
    u32 *write_clock, *write_info, *writer;
    u32 *read_clock, *read_info;               // the warp's own reads
    u32 *last_read, *reader;                   // any warp's
    const u32 *async_write, *last_async_read;  // clocks; null if there are none
    u32 begin;                                 // shared address of word 0
    u32 me, now;                               // the warp's index in the cluster, its clock
    // Accesses with clocks up to these values are ordered before the warp: oldest holds for every
    // other warp, oldest_async for every asynchronous agent.
    u32 oldest, oldest_async;
  };
  virtual const Glance& glance(const Warp& warp) = 0;
  // Glance::reader of a word whose recorded reads are not all ordered before those of one warp.
  static constexpr u32 kSeveral = ~u32{0};
  // Checks accesses of the lanes in `mask` to their own block's shared memory. This and all other
  // access functions throw Fault (kRace) at the first conflict. The stores of the lanes in
  // `unchanged` write what memory holds already.
  virtual void access(const Warp& warp, const ir::Insn& insn, u32 mask, const u32* offsets,
                      u32 bytes, bool is_write, Access kind, u32 unchanged) = 0;
  // Checks one lane's access to the shared memory of any block of the cluster.
  virtual void access(const Warp& warp, const ir::Insn& insn, u32 lane, const SharedRange& where,
                      bool is_write, Access kind) = 0;
  // A block barrier completed. arrived[w]: lanes of warp w that arrived (release); waited: bit mask
  // of the warps that waited (acquire).
  virtual void barrier(const Block& block, const u32* arrived, u32 waited) = 0;

  // The lanes issue cp.async copies in the given epochs, one per lane (CopyQueue). The copies may
  // write at any time until a wait for the epoch (copies_landed).
  virtual void copy(const Warp& warp, const ir::Insn& insn, u32 mask, const u32* offsets, u32 bytes,
                    const u32* epochs) = 0;
  // The warp has waited for the lanes' copies up to the given epochs.
  virtual void copies_landed(const Warp& warp, u32 mask, const u32* epochs) = 0;

  // made() records an mbarrier.init; use() faults unless that init is ordered before the warp's use
  // of the mbarrier.
  struct Made {
    u32 warp = 0, clock = 0;  // warp: index in the cluster
    u32 pc = 0;
  };
  virtual Made made(const Warp& warp, const ir::Insn& insn) const = 0;
  virtual void use(const Warp& warp, const ir::Insn& insn, u32 lane, const SharedRange& where,
                   const Made& made) = 0;
  virtual void arrive(const Warp& warp, PhaseClock& clock) = 0;  // release
  // cp.async.mbarrier.arrive: the copies up to these epochs arrive. Transfers the warp's clocks
  // of other agents, but not its own clock: the warp's own accesses stay unordered.
  virtual void copies_arrive(const Warp& warp, u32 mask, const u32* epochs, PhaseClock& clock) = 0;
  virtual void complete(PhaseClock& clock) = 0;
  virtual void wait(const Warp& warp, const PhaseClock& clock) = 0;  // acquire

  // membar and fence. Orders what the warp did before its later strong writes, and its earlier
  // strong reads before what it does next: PTX ISA, "Release and Acquire Patterns".
  virtual void fence(const Warp& warp) = 0;
  // A strong access to a word, after its conflicts are checked. What another warp did before a
  // fence and a strong write is ordered before this warp once it has read that value and executed a
  // fence. Machine code has no instruction for an acquiring load: there every strong read acquires.
  virtual void strong(const Warp& warp, u64 location, bool reads, bool writes) = 0;
  // The moments of a warp's accesses to global memory, in the numbers that its cluster has for them
  // (LaunchMarks). Number 0 is a moment that all warps of the cluster are ordered behind.
  struct Moments {
    u32 seen = 1;  // all moments below are ordered before the warp
    u32 now = 0;   // the warp's own
  };
  virtual Moments moments(const Warp& warp) = 0;
  // Counts what may have changed the moments of the cluster's warps.
  u64 changes() const { return changes_; }
  // Whether what happened at this moment of the cluster is ordered before the warp.
  virtual bool is_ordered(const Warp& warp, u32 moment) const = 0;

  // Identifies a word: its address in global memory, or its place in the cluster's shared memory.
  static u64 location(u64 address) { return address / 4; }
  static u64 location(u32 rank, u32 offset) { return u64{1} << 63 | u64{rank} << 32 | offset / 4; }
  // Whether a fence was executed in this cluster. Until then strong() has no effect.
  bool fenced() const { return fenced_; }

  // The asynchronous proxy. A lane issues an operation that may access shared memory at any time
  // until a wait for the agent's epoch.
  virtual Agent agent(AgentKind kind, const Warp& warp, u32 lane) = 0;
  virtual Agent agent_of_barrier(const Block& block, u32 address) = 0;
  virtual void async_write(const Warp& warp, const ir::Insn& insn, u32 lane,
                           const SharedRange& where, Agent agent, u32 epoch) = 0;
  // Also faults if a thread wrote a word and no proxy fence orders that write before the read.
  virtual void async_read(const Warp& warp, const ir::Insn& insn, u32 lane,
                          const SharedRange& where, Agent agent, u32 epoch) = 0;
  virtual void fence_proxy(const Warp& warp) = 0;  // fence.proxy.async
  // fence.mbarrier_init: orders the warp's earlier mbarrier.init before its later arrivals, even
  // relaxed ones (arrive_relaxed).
  virtual void fence_barriers(const Warp& warp) = 0;
  // Transfers the fenced mbarrier.init operations, and what a fence orders before.
  virtual void arrive_relaxed(const Warp& warp, PhaseClock& clock) = 0;
  // The warp has waited for the agent's operations up to the epoch.
  virtual void knows(const Warp& warp, Agent agent, u32 epoch) = 0;
  // A wait for the phase also waits for the agent's operations up to the epoch.
  virtual void tells(PhaseClock& clock, Agent agent, u32 epoch) = 0;
  // The block of this first warp has ended. Faults if accesses by other blocks or asynchronous
  // agents to its shared memory are not ordered before its end.
  virtual void end_block(const Warp& first) = 0;

 protected:
  bool fenced_ = false;
  u64 changes_ = 1;
};

}  // namespace vgpu::observer
