// SPDX-License-Identifier: Apache-2.0
// Private state of the race check (race.hpp).
#pragma once
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/race.hpp"
#include "ir/set_bits.hpp"

namespace vgpu::check {

// One access to a word: the agent's clock, and packed in `info` the instruction's index, whether
// the access was strong, and a 4-bit mask of the bytes accessed.
struct Mark {
  static constexpr u32 kStrong = 16;
  u32 clock = 0;
  u32 info = 0;
  u32 pc() const { return info >> 5; }
  u32 bytes() const { return info & 15; }
  bool strong() const { return (info & kStrong) != 0; }
};

inline constexpr u32 kWholeMark = 15;  // bytes of a word

// Structure of arrays, indexed by word, so that loops over neighbouring words vectorise.
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

// The warps of the block that wrote one value to a word, in any order: valid while the word's last
// write is this one.
struct Agreement {
  u32 clock = 0, writer = 0;  // of the last write
  u32 warps = 0;              // mask
};

// Access history of one block's shared memory, indexed by word.
struct BlockMemory {
  Marks writes;                      // by threads
  std::vector<u32> writer;           // index of the warp in the cluster
  Marks copies;                      // asynchronous writes; empty until there is one
  std::vector<u16> copier;           // agent
  std::vector<Marks> reads;          // by warp of the block
  std::vector<Reader> remote_reads;  // by warps of other blocks
  std::vector<Reader> async_reads;   // by agents
  std::vector<u32> last_read;        // greatest clock of all warps' reads
  // The warp whose last read is ordered after all reads by other warps, or Races::kSeveral.
  std::vector<u32> reader;
  std::vector<u32> last_async_read;  // greatest clock of asynchronous reads; may be empty
  std::unordered_map<u32, Agreement> agreements;  // by word

  void start_copies() {
    if (!copier.empty()) return;
    copies = Marks(writer.size());
    copier.resize(writer.size());
  }
  void note_copy(u32 first, u32 words, Mark mark, Agent agent) {
    for (u32 w = first; w < first + words; ++w) {
      copies.clock[w] = mark.clock;
      copies.info[w] = mark.info;
      copier[w] = static_cast<u16>(agent.index);
    }
  }
  void forget() {
    const auto clear = [](std::vector<u32>& clocks) { std::ranges::fill(clocks, 0); };
    clear(writes.clock);
    clear(copies.clock);
    for (Marks& marks : reads) clear(marks.clock);
    for (Reader& remote : remote_reads) clear(remote.marks.clock);
    clear(last_read);
    clear(last_async_read);
    agreements.clear();
  }
};

// Identifies an asynchronous agent in reports. owner: warp index in the cluster (kBarrier: rank of
// the block); place: lane (kBarrier: address of the mbarrier).
struct AgentName {
  AgentKind kind{};
  u32 owner = 0, place = 0;
};

// An access to be checked.
struct Attempt {
  const observer::Warp& warp;
  const ir::Insn& insn;
  u32 lane;
  u32 me;  // the warp's index in the cluster
  Mark mark;
  u32 rank;  // of the block that owns the memory
  bool is_write;
  const AgentName* async;  // null: an access by a thread
  bool unchanged = false;  // writes what memory holds already
  u32 alike = 1;           // lanes, from this one on, that access the same
  // Where the lanes from this one on access places next to each other: each one's bytes, and the
  // first word. 0: the access is reported as this lane's.
  u32 lane_bytes = 0, first = 0;
};

struct RaceCheck::State {
  State(const ir::Program& of, u32 shared_begin, u64 shared_bytes, u32 warps_of_block, u32 blocks);

  // Indices into the vector clocks, in this order: one per warp; one per warp for its accesses
  // ordered by a proxy fence; one per warp for its mbarrier.init ordered by fence.mbarrier_init;
  // then one per asynchronous agent, created on first use.
  u32 first_agent() const { return 3 * warps; }
  u32 index_of(const observer::Warp& warp) const { return warp.home->rank * block_warps + warp.id; }
  u32 agent_of(const AgentName& name);
  u32 new_agent(const AgentName& name);
  const AgentName* kind_of(u32 agent) const { return &agents[agent - first_agent()]; }
  static u32 whole_mark(const observer::Warp& warp, const ir::Insn& insn) {
    return static_cast<u32>(&insn - warp.code) << 5 | kWholeMark;
  }
  Attempt attempt_of(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                     const SharedRange& where, Agent agent, u32 epoch, bool writes);

  void tick(u32 warp) {
    ++known[warp][warp];
    ++ticks;
  }
  void update_oldest(u32 warp);
  u32 oldest_agent(const std::vector<u32>& row) const;
  void join(u32 warp, const std::vector<u32>& clocks);
  void touch(const Attempt& attempt, u32 first, u32 bytes);
  Marks& reads_of(BlockMemory& memory, const Attempt& attempt);
  bool is_ordered(const Attempt& attempt, u32 first, u32 last) const;
  // Whether clocks alone show that all accesses to the words happened before what the warp does.
  bool clocks_show_order(u32 warp, const BlockMemory& memory, u32 first, u32 words) const;
  bool reads_are_ordered(const Attempt& attempt, u32 first, u32 last) const;
  bool knows_barrier(const Attempt& attempt, u32 agent, const Mark& other) const;
  bool conflicts(const Attempt& attempt, u32 agent, const Mark& other) const;
  // The warps that wrote the value that the word holds, as bits; 0 unless they are of its block.
  u32 writers_of(const BlockMemory& memory, u32 rank, u32 word) const;
  u32 bit_of(u32 agent, u32 rank) const;
  // Reports the words of [first, last) whose recorded accesses conflict with this one.
  void check(const Attempt& attempt, u32 first, u32 last);
  void check_threads(const Attempt& attempt, u32 word);  // those by threads and reads by others
  void check_fence(const Attempt& attempt, u32 word) const;

  // race_report.cpp
  std::string who(u32 agent, u32 rank) const;
  // `words`: how many from this one on are alike.
  void report(const Attempt& attempt, u32 agent, const Mark& other, bool other_writes, u32 word,
              u32 words = 1) const;
  void report_fence(const Attempt& attempt, u32 word) const;

  const ir::Program& program;
  u32 begin, block_warps, warps;
  std::vector<BlockMemory> memories;    // by rank
  std::vector<std::vector<u32>> known;  // [warp][agent]
  // Indexed by warp: minimum of its `known` over the other warps, and over asynchronous agents.
  std::vector<u32> oldest, oldest_async;
  std::vector<u32> joined;  // of a barrier; kept for its storage
  std::vector<Glance> glances;
  // Vector clocks. By warp: those that its strong writes transfer since its last fence, and those
  // that its next fence will acquire. By location: those of its last strong write.
  std::vector<std::vector<u32>> released, acquired;
  std::unordered_map<u64, std::vector<u32>> transferred;
  std::vector<AgentName> agents;
  std::vector<u32> copiers;              // agents of kCopies, by warp and lane; 0: none yet
  std::unordered_map<u64, u32> by_name;  // the others, by kind, owner and place
  // Moments of accesses to global memory. An epoch is a time in which no warp's clock changes, and
  // begins with the first access in it; moment 1 + e * warps + w is warp w's in epoch e. There is
  // none behind the last of `most_epochs`, and accesses have moment 0 then.
  u32 most_epochs = 0;
  std::vector<u32> epochs;         // the clock of every moment but 0
  std::vector<u32> seen_epochs;    // by warp: as many are ordered before it
  u64 ticks = 0, epoch_ticks = 0;  // changes of clocks, and those before the last epoch
  u32 past = 0;                    // clocks up to this value belong to earlier blocks
  u32 last_epoch = 0;              // greatest epoch of an asynchronous agent since start()
};

}  // namespace vgpu::check
