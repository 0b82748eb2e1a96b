// SPDX-License-Identifier: Apache-2.0
// Race detection on shared memory with vector clocks. A race: two agents access one word, at least
// one writes, and no synchronisation orders the accesses. Agents are the warps of a cluster and the
// asynchronous operations: cp.async copies per thread, bulk copies per mbarrier on which they
// complete, bulk groups per thread, wgmma groups per warp. An asynchronous access is ordered before
// a warp's accesses only after that warp has waited for it or synchronised with a warp that has.
// Each warp's vector clock holds, per agent, the latest clock ordered before the warp by barriers,
// mbarriers and waits. Each word records the last read of every warp and the last write. The
// asynchronous proxy observes the writes of threads only after a proxy fence; separate entries of
// the vector clock track these fences. Ordering rules: PTX ISA, "Memory Consistency Model",
// "Proxies", and for copies "Data Movement and Conversion Instructions: Asynchronous copy".
#pragma once
#include <memory>
#include <vector>

#include "engine/execute/machine.hpp"

namespace vgpu::check {

using execute::u16;
using execute::u32;
using execute::u64;
using execute::u8;

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
  const execute::Block* block = nullptr;
  u32 offset = 0, bytes = 0;
};

class RaceCheck {
 public:
  // For a cluster of `blocks` blocks, each with `warps` warps and `shared_bytes` bytes of shared
  // memory.
  RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps,
            u32 blocks);
  ~RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  void start();  // call before the blocks of the next cluster start

  // Pointers to the state that the fast path needs (execute/isa/race.hpp) for a warp's accesses to
  // its own block's shared memory. Arrays are indexed by word. Valid until the next call of any
  // other member.
  struct Glance {
    u32 *write_clock, *write_info;
    u16* writer;
    u32 *read_clock, *read_info;               // the warp's own reads
    u32* last_read;                            // any warp's
    const u32 *async_write, *last_async_read;  // clocks; null if there are none
    u32 begin;                                 // shared address of word 0
    u32 me, now;                               // the warp's index in the cluster, its clock
    // Accesses with clocks up to these values are ordered before the warp: oldest holds for every
    // other warp, oldest_async for every asynchronous agent.
    u32 oldest, oldest_async;
  };
  Glance glance(const execute::Warp& warp);
  // Checks accesses of the lanes in `mask` to their own block's shared memory. This and all other
  // access functions throw Fault (kRace) at the first conflict.
  void access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
              u32 bytes, bool is_write, Access kind);
  // Checks one lane's access to the shared memory of any block of the cluster.
  void access(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
              const SharedRange& where, bool is_write, Access kind);
  // A block barrier completed. arrived[w]: lanes of warp w that arrived (release); waited: bit mask
  // of the warps that waited (acquire).
  void barrier(const execute::Block& block, const u32* arrived, u32 waited);

  // The lanes issue cp.async copies in the given epochs, one per lane (CopyQueue). The copies may
  // write at any time until a wait for the epoch (copies_landed).
  void copy(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
            u32 bytes, const u32* epochs);
  // The warp has waited for the lanes' copies up to the given epochs.
  void copies_landed(const execute::Warp& warp, u32 mask, const u32* epochs);

  // made() records an mbarrier.init; use() faults unless that init is ordered before the warp's use
  // of the mbarrier.
  struct Made {
    u32 warp = 0, clock = 0;  // warp: index in the cluster
    u32 pc = 0;
  };
  Made made(const execute::Warp& warp, const execute::Insn& insn) const;
  void use(const execute::Warp& warp, const execute::Insn& insn, u32 lane, const SharedRange& where,
           const Made& made);
  void arrive(const execute::Warp& warp, PhaseClock& clock);  // release
  // cp.async.mbarrier.arrive: the copies up to these epochs arrive. Transfers the warp's clocks
  // of other agents, but not its own clock: the warp's own accesses stay unordered.
  void copies_arrive(const execute::Warp& warp, u32 mask, const u32* epochs, PhaseClock& clock);
  void complete(PhaseClock& clock);
  void wait(const execute::Warp& warp, const PhaseClock& clock);  // acquire

  // membar and fence. Orders what the warp did before its later strong writes, and its earlier
  // strong reads before what it does next: PTX ISA, "Release and Acquire Patterns".
  void fence(const execute::Warp& warp);
  // A strong access to a word, after its conflicts are checked. What another warp did before a fence
  // and a strong write is ordered before this warp once it has read that value and executed a
  // fence. Machine code has no instruction for an acquiring load: there every strong read acquires.
  void strong(const execute::Warp& warp, u64 location, bool reads, bool writes);
  // Identifies a word: its address in global memory, or its place in the cluster's shared memory.
  static u64 location(u64 address) { return address / 4; }
  static u64 location(u32 rank, u32 offset) { return u64{1} << 63 | u64{rank} << 32 | offset / 4; }
  // Whether a fence was executed in this cluster. Until then strong() has no effect.
  bool fenced() const;

  // The asynchronous proxy. A lane issues an operation that may access shared memory at any time
  // until a wait for the agent's epoch.
  Agent agent(AgentKind kind, const execute::Warp& warp, u32 lane);
  Agent agent_of_barrier(const execute::Block& block, u32 address);
  void async_write(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
                   const SharedRange& where, Agent agent, u32 epoch);
  // Also faults if a thread wrote a word and no proxy fence orders that write before the read.
  void async_read(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
                  const SharedRange& where, Agent agent, u32 epoch);
  void fence_proxy(const execute::Warp& warp);  // fence.proxy.async
  // fence.mbarrier_init: orders the warp's earlier mbarrier.init before its later arrivals, even
  // relaxed ones (arrive_relaxed).
  void fence_barriers(const execute::Warp& warp);
  // Transfers the fenced mbarrier.init operations, and what a fence orders before.
  void arrive_relaxed(const execute::Warp& warp, PhaseClock& clock);
  // The warp has waited for the agent's operations up to the epoch.
  void knows(const execute::Warp& warp, Agent agent, u32 epoch);
  // A wait for the phase also waits for the agent's operations up to the epoch.
  void tells(PhaseClock& clock, Agent agent, u32 epoch);
  // The block has ended. Faults if accesses by other blocks or asynchronous agents to its shared
  // memory are not ordered before its end.
  void end_block(const execute::Block& block);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vgpu::check
