// SPDX-License-Identifier: Apache-2.0
// Race detection on shared memory with vector clocks, which also order accesses to global memory
// (watch.hpp). A race: two agents access one word, at least
// one writes, and no synchronisation orders the accesses. Agents are the warps of a cluster and the
// asynchronous operations: cp.async copies per thread, bulk copies per mbarrier on which they
// complete, bulk groups per thread, wgmma groups per warp. An asynchronous access is ordered before
// a warp's accesses only after that warp has waited for it or synchronised with a warp that has.
// Each warp's vector clock holds, per agent, the latest clock ordered before the warp by barriers,
// mbarriers and waits. Each word records the last read of every warp and the last write. The
// asynchronous proxy observes the writes of threads only after a proxy fence; separate entries of
// the vector clock track these fences. Warps of one block that write equal values to a word do not
// conflict, and each of them may read the word: the order of these writes has no effect. Ordering
// rules: PTX ISA, "Memory Consistency Model", "Proxies", and for copies "Data Movement and
// Conversion Instructions: Asynchronous copy".
#pragma once
#include <memory>

#include "observer/races.hpp"

namespace vgpu::check {

using ir::u16;
using ir::u32;
using ir::u64;
using ir::u8;
using observer::Access;
using observer::Agent;
using observer::AgentKind;
using observer::PhaseClock;
using observer::SharedRange;

class RaceCheck final : public observer::Races {
 public:
  // For a cluster of `blocks` blocks, each with `warps` warps and `shared_bytes` bytes of shared
  // memory. `epochs`: as LaunchMarks::epochs.
  RaceCheck(const ir::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps, u32 blocks,
            u32 epochs);
  ~RaceCheck() override;

  void start() override;
  const Glance& glance(const observer::Warp& warp) override;
  void access(const observer::Warp& warp, const ir::Insn& insn, u32 mask, const u32* offsets,
              u32 bytes, bool is_write, Access kind, u32 unchanged) override;
  void access(const observer::Warp& warp, const ir::Insn& insn, u32 lane, const SharedRange& where,
              bool is_write, Access kind) override;
  void barrier(const observer::Block& block, const u32* arrived, u32 waited) override;
  void copy(const observer::Warp& warp, const ir::Insn& insn, u32 mask, const u32* offsets,
            u32 bytes, const u32* epochs) override;
  void copies_landed(const observer::Warp& warp, u32 mask, const u32* epochs) override;
  Made made(const observer::Warp& warp, const ir::Insn& insn) const override;
  void use(const observer::Warp& warp, const ir::Insn& insn, u32 lane, const SharedRange& where,
           const Made& made) override;
  void arrive(const observer::Warp& warp, PhaseClock& clock) override;
  void copies_arrive(const observer::Warp& warp, u32 mask, const u32* epochs,
                     PhaseClock& clock) override;
  void complete(PhaseClock& clock) override;
  void wait(const observer::Warp& warp, const PhaseClock& clock) override;
  void fence(const observer::Warp& warp) override;
  void strong(const observer::Warp& warp, u64 location, bool reads, bool writes) override;
  Agent agent(AgentKind kind, const observer::Warp& warp, u32 lane) override;
  Agent agent_of_barrier(const observer::Block& block, u32 address) override;
  void async_write(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                   const SharedRange& where, Agent agent, u32 epoch) override;
  void async_read(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                  const SharedRange& where, Agent agent, u32 epoch) override;
  void fence_proxy(const observer::Warp& warp) override;
  void fence_barriers(const observer::Warp& warp) override;
  void arrive_relaxed(const observer::Warp& warp, PhaseClock& clock) override;
  void knows(const observer::Warp& warp, Agent agent, u32 epoch) override;
  void tells(PhaseClock& clock, Agent agent, u32 epoch) override;
  void end_block(const observer::Warp& first) override;
  Moments moments(const observer::Warp& warp) override;
  bool is_ordered(const observer::Warp& warp, u32 moment) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vgpu::check
