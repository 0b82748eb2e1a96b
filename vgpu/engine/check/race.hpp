// SPDX-License-Identifier: Apache-2.0
// Races on shared memory: two agents touch one word, one of them writes, and nothing orders them.
// Agents are the warps of a cluster, and what runs beside them: the asynchronous copies of each
// thread, the bulk copies that complete on an mbarrier, the bulk groups of a thread. These belong
// to nobody until somebody has waited for them. Every warp has a vector clock (how much of each
// agent's past it has seen through barriers, mbarriers and waits), every word remembers when each
// warp read it last and who wrote it last, so that named barriers and producers that only arrive
// are judged rightly. The asynchronous proxy sees what threads wrote only behind a proxy fence; a
// second clock says how much of each warp's past lies behind one. What happens before what: PTX
// ISA, "Memory Consistency Model", "Proxies", and for copies "Data Movement and Conversion
// Instructions: Asynchronous copy".
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

// What an mbarrier hands from those that arrive to those that wait: clocks of all agents.
struct PhaseClock {
  std::vector<u32> arriving;   // of the current phase
  std::vector<u32> completed;  // of all phases before it
};

// Agents beside the warps, and what somebody waits for to know them: an epoch, all up to which are
// over.
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
  // Of `blocks` blocks with `warps` warps and so many bytes of shared memory each.
  RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps,
            u32 blocks);
  ~RaceCheck();
  RaceCheck(const RaceCheck&) = delete;
  RaceCheck& operator=(const RaceCheck&) = delete;

  void start();  // other blocks begin

  // What a warp's accesses to its block's shared memory are judged by at a glance
  // (execute/isa/race.hpp), by word but for what stands last. Valid until anything else is called.
  struct Glance {
    u32 *write_clock, *write_info;
    u16* writer;
    u32 *read_clock, *read_info;               // the warp's own reads
    u32* last_read;                            // any warp's
    const u32 *async_write, *last_async_read;  // clocks; null where there are none
    u32 begin;                                 // shared address of word 0
    u32 me, now;                               // the warp in the cluster, its clock
    u32 oldest,
        oldest_async;  // what it has seen of every other warp, and of everything asynchronous
  };
  Glance glance(const execute::Warp& warp);
  // Throws Fault (kRace) at the first conflict, as all that touch memory do. Of lanes' own block.
  void access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
              u32 bytes, bool is_write, Access kind);
  // One lane's, in any block of the cluster.
  void access(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
              const SharedRange& where, bool is_write, Access kind);
  // The warps of the block with arrived lanes have released their past; those of `waited` have seen
  // what all of them did.
  void barrier(const execute::Block& block, const u32* arrived, u32 waited);

  // Copies that the lanes begin, in the given epochs of theirs (CopyQueue): they write whenever
  // they like, until somebody knows that the epoch's copies have landed.
  void copy(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
            u32 bytes, const u32* epochs);
  void copies_landed(const execute::Warp& warp, u32 mask, const u32* epochs);  // the warp knows

  // An mbarrier was made, and is used: by a warp that has seen as much of its maker. What is
  // written to it later tells no more of that.
  struct Made {
    u32 warp = 0, clock = 0;  // of the cluster
    u32 pc = 0;
  };
  Made made(const execute::Warp& warp, const execute::Insn& insn) const;
  void use(const execute::Warp& warp, const execute::Insn& insn, u32 lane, const SharedRange& where,
           const Made& made);
  void arrive(const execute::Warp& warp, PhaseClock& clock);  // release
  // Copies up to these epochs arrive. They hand on what the warp knew of others, not what it did
  // itself.
  void copies_arrive(const execute::Warp& warp, u32 mask, const u32* epochs, PhaseClock& clock);
  void complete(PhaseClock& clock);
  void wait(const execute::Warp& warp, const PhaseClock& clock);  // acquire

  // The asynchronous proxy. A warp's lane begins something that reads or writes shared memory
  // whenever it likes, until somebody knows that the agent's epoch is over.
  Agent agent(AgentKind kind, const execute::Warp& warp, u32 lane);
  Agent agent_of_barrier(const execute::Block& block, u32 address);
  void async_write(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
                   const SharedRange& where, Agent agent, u32 epoch);
  // Faults also where a thread wrote a word and no proxy fence lies between.
  void async_read(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
                  const SharedRange& where, Agent agent, u32 epoch);
  void fence_proxy(const execute::Warp& warp);  // fence.proxy.async
  // fence.mbarrier_init: barriers that the warp made before may be used behind what it does next,
  // even by those who learn of nothing else through that.
  void fence_barriers(const execute::Warp& warp);
  void arrive_relaxed(const execute::Warp& warp,
                      PhaseClock& clock);  // hands on barriers that were fenced, no more
  void knows(const execute::Warp& warp, Agent agent, u32 epoch);  // the warp has waited
  void tells(PhaseClock& clock, Agent agent, u32 epoch);  // who waits for the phase will know
  // The block has ended. Faults where what others, or something asynchronous, did to its memory may
  // come later still.
  void end_block(const execute::Block& block);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vgpu::check
