// SPDX-License-Identifier: Apache-2.0
// What the race check remembers: private to it.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/check/race.hpp"

namespace vgpu::check {

// An access: when, and which instruction, with the bytes of the word (a bit each) and whether it
// was strong.
struct Mark {
  u32 clock = 0;
  u32 info = 0;
  u32 pc() const { return info >> 5; }
  u32 bytes() const { return info & 15; }
  bool strong() const { return (info & 16) != 0; }
};

// An array for each field: an access of neighbouring words is a loop over neighbours.
struct Marks {
  Marks() = default;
  explicit Marks(u64 words) : clock(words), info(words) {}
  std::vector<u32> clock, info;
  Mark at(u32 word) const { return {clock[word], info[word]}; }
};

struct Reader {
  u32 agent = 0;
  Marks marks;
};

// By word of a block's shared memory.
struct BlockMemory {
  Marks writes;                      // by threads
  std::vector<u16> writer;           // warp of the cluster
  Marks copies;                      // asynchronous writes; empty until there is one
  std::vector<u16> copier;           // agent
  std::vector<Marks> reads;          // by warp of the block
  std::vector<Reader> remote_reads;  // by warps of other blocks
  std::vector<Reader> async_reads;   // by agents
  std::vector<u32> last_read;        // greatest clock of all warps' reads
  std::vector<u32> last_async_read;  // of asynchronous ones; empty until there is one

  void forget() {
    const auto clear = [](std::vector<u32>& clocks) { std::fill(clocks.begin(), clocks.end(), 0); };
    clear(writes.clock);
    clear(copies.clock);
    for (Marks& marks : reads) clear(marks.clock);
    for (Reader& reader : remote_reads) clear(reader.marks.clock);
    clear(last_read);
    clear(last_async_read);
  }
};

// How reports name an agent: its owner is a warp of the cluster (of kBarrier: a block's rank), its
// place a lane (the mbarrier's address).
struct AgentName {
  AgentKind kind{};
  u32 owner = 0, place = 0;
};

struct Attempt {
  const execute::Warp& warp;
  const execute::Insn& insn;
  u32 lane;
  u32 me;  // the warp in the cluster
  Mark mark;
  u32 rank;  // of the block whose memory is meant
  bool is_write;
  const AgentName* async;  // null: the threads' own
};

struct RaceCheck::State {
  State(const execute::Program& of, u32 shared_begin, u64 shared_bytes, u32 warps_of_block,
        u32 blocks);

  // Agents: the warps' clocks, what of them lies behind a proxy fence, what behind one of barriers
  // that were made, then those made as they are met.
  u32 first_agent() const { return 3 * warps; }
  u32 index_of(const execute::Warp& warp) const { return warp.block->rank * block_warps + warp.id; }
  u32 agent_of(const AgentName& name);
  const AgentName* kind_of(u32 agent) const { return &agents[agent - first_agent()]; }
  Attempt attempt_of(const execute::Warp& warp, const execute::Insn& insn, u32 lane,
                     const SharedRange& where, Agent agent, u32 epoch, bool writes);

  void update_oldest(u32 warp);
  void join(u32 warp, const std::vector<u32>& clocks);
  void touch(const Attempt& attempt, u32 first, u32 bytes);
  Marks& reads_of(BlockMemory& memory, const Attempt& attempt);
  bool is_ordered(u32 me, const BlockMemory& memory, u32 first, u32 last, bool is_write) const;
  bool reads_are_ordered(u32 me, const BlockMemory& memory, u32 first, u32 last) const;
  bool knows_barrier(const Attempt& attempt, u32 agent, const Mark& other) const;
  bool conflicts(const Attempt& attempt, u32 agent, const Mark& other) const;
  void check(const Attempt& attempt, u32 word) const;
  void check_fence(const Attempt& attempt, u32 word) const;

  // race_report.cpp
  std::string who(u32 agent, u32 rank) const;
  [[noreturn]] void report(const Attempt& attempt, u32 agent, const Mark& other, bool other_writes,
                           u32 word) const;
  [[noreturn]] void report_fence(const Attempt& attempt, u32 word) const;

  const execute::Program& program;
  u32 begin, block_warps, warps;
  std::vector<BlockMemory> memories;    // by rank
  std::vector<std::vector<u32>> known;  // [warp][agent]
  std::vector<u32> oldest,
      oldest_async;  // by warp: what it has seen of every other one, of every agent, at least
  std::vector<AgentName> agents;
  std::map<std::tuple<u32, u32, u32>, u32> by_key;
  u32 past = 0;        // clocks up to this one are of earlier blocks
  u32 last_epoch = 0;  // of anything asynchronous since
};

}  // namespace vgpu::check
