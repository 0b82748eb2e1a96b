// SPDX-License-Identifier: Apache-2.0
// A cluster's blocks, which run together and access each other's shared memory. Every block belongs
// to a cluster, possibly of one block. PTX ISA, "Cluster of Cooperative Thread Arrays", "Parallel
// Synchronization and Communication Instructions: barrier.cluster", "mapa", "getctarank".
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "machine/fault.hpp"
#include "machine/machine.hpp"
#include "observer/findings.hpp"

namespace vgpu::machine {

class Cluster {
 public:
  Cluster(const Launch& launch, observer::Counters& counters, SiteMemo* memos, DeviceClock& clock);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // `linear_index`: in the grid of clusters.
  void start(u64 linear_index);
  // Runs until all blocks are done (returns true), until all warps only poll memory, or until each
  // block has run `quantum` instructions.
  bool run(i64 quantum);

  u32 size() const { return static_cast<u32>(blocks_.size()); }
  Block& block(u32 rank) { return *blocks_[rank]; }
  const Block& block(u32 rank) const { return *blocks_[rank]; }
  // Moves what the blocks printed to `into`, keyed by linear block index. Returns its size in
  // bytes.
  std::size_t take_output(std::map<u64, PrintFifo>& into);

  // barrier.cluster for the warp's running group. These set the warp's program counter.
  void arrive(Warp& warp, const Insn& insn);
  void wait(Warp& warp, const Insn& insn);
  void lanes_left();  // completes the barrier if only exited lanes were missing
  // Number of threads that have not arrived at the barrier.
  u64 missing() const;

  observer::Races* race() { return race_.get(); }  // null if races are not checked
  // Null if the first finding ends the launch.
  observer::FindingLog* findings() { return findings_ ? &*findings_ : nullptr; }

  // Consecutive rounds in which all warps that could run only polled memory.
  u64 idle_rounds = 0;
  DeviceClock& device_clock;

 private:
  struct Arrival {
    u32 arrived = 0;  // lanes that arrived in the barrier's current phase
    u32 owed = 0;     // lanes that arrived, in this phase or before, and have not waited
    u32 pc = 0;
  };
  u32 index_of(const Warp& warp) const {
    return warp.block->rank * warp.block->warp_count + warp.id;
  }
  void complete_if_due();
  bool run_together(i64 quantum);

  std::unique_ptr<observer::Races> race_;
  std::optional<observer::FindingLog> findings_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Arrival> arrivals_;  // by rank and warp
  observer::PhaseClock clock_;
};

// A location in the shared memory of one of the cluster's blocks.
struct SharedPlace {
  Block* block = nullptr;
  u32 offset = 0;  // shared address
  std::byte* host() const { return block->warps[0].shared + offset; }
};

// Resolves a thread's shared::cluster address. Faults if `bytes` bytes do not exist there, if the
// address is not aligned to `alignment`, or if the block has exited.
SharedPlace shared_place(const Lane& lane, u64 address, u32 bytes, u32 alignment);

// Applies the enabled checks to a lane's access there.
void touch_shared_place(const Lane& lane, const SharedPlace& place, u32 bytes, bool writes,
                        observer::Access kind);

// The rank of the block that a shared::cluster address belongs to; kNone if it is not such an
// address.
u32 rank_of(const Warp& warp, u64 address);
// The shared::cluster address of an offset in the shared memory of the block with this rank.
inline u64 cluster_address(const Warp& warp, u32 rank, u64 offset) {
  return (warp.machine_code ? rank : kFirstOfCluster + rank) * kWindowBytes + offset;
}

}  // namespace vgpu::machine
