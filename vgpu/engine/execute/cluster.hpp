// SPDX-License-Identifier: Apache-2.0
// The blocks of a cluster, which run together and reach each other's shared memory; every block of
// a launch is in one, if only by itself. PTX ISA, "Cluster of Cooperative Thread Arrays", "Parallel
// Synchronization and Communication Instructions: barrier.cluster", "mapa", "getctarank".
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/check/race.hpp"
#include "engine/execute/fault.hpp"
#include "engine/execute/machine.hpp"

namespace vgpu::execute {

class Cluster {
 public:
  Cluster(const Launch& launch, count::Counters& counters, SiteMemo* memos);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // The cluster's linear index in the grid of clusters.
  void start(u64 linear_index);
  // Runs until all blocks are done (true), nothing but polling goes on, or each has run `quantum`
  // instructions.
  bool run(i64 quantum);

  u32 size() const { return static_cast<u32>(blocks_.size()); }
  Block& block(u32 rank) { return *blocks_[rank]; }
  const Block& block(u32 rank) const { return *blocks_[rank]; }
  // What the blocks printed, by their linear indices. Returns its bytes.
  std::size_t take_output(std::map<u64, PrintFifo>& into);

  // barrier.cluster, by the running group: these set the warp's program counter.
  void arrive(Warp& warp, const Insn& insn);
  void wait(Warp& warp, const Insn& insn);
  void lanes_left();  // lanes have exited: the barrier may be complete
  // How many threads the barrier still lacks.
  u64 missing() const;

  check::RaceCheck* race() { return race_.get(); }  // null where it is not checked

  u64 idle_rounds = 0;  // without a break, in which all warps that can run only polled memory

 private:
  struct Arrival {
    u32 arrived = 0;  // lanes, in the barrier's current phase
    u32 owed = 0;     // lanes that have arrived, in this phase or before, and not waited
    u32 pc = 0;
  };
  u32 index_of(const Warp& warp) const {
    return warp.block->rank * warp.block->warp_count + warp.id;
  }
  void complete_if_due();
  bool run_together(i64 quantum);

  std::unique_ptr<check::RaceCheck> race_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Arrival> arrivals_;  // by rank and warp
  check::PhaseClock clock_;
};

// A place in the shared memory of one of the cluster's blocks.
struct SharedPlace {
  Block* block = nullptr;
  u32 offset = 0;  // shared address in it
  std::byte* host() const { return block->warps[0].shared + offset; }
};

// What an address of shared::cluster means for a thread. Faults where there are no such `bytes`
// bytes, where they are not aligned to `alignment`, or where the block has ended.
SharedPlace shared_place(const Lane& lane, u64 address, u32 bytes, u32 alignment);

// A lane's own access there: what the checks say of it.
void touch_shared_place(const Lane& lane, const SharedPlace& place, u32 bytes, bool writes,
                        check::Access kind);

// Of a lane's shared::cluster address: the rank of its block; kNone if it is none.
u32 rank_of(const Warp& warp, u64 address);

}  // namespace vgpu::execute
