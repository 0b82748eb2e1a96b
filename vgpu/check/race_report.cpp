// SPDX-License-Identifier: Apache-2.0
// The texts of race reports, and the check at the end of a block.
#include <fmt/format.h>

#include "check/race_state.hpp"
#include "observer/findings.hpp"

namespace vgpu::check {
namespace {

const char* verb(bool writes) { return writes ? "writes" : "reads"; }

// By AgentKind.
constexpr const char* kNames[] = {"an asynchronous copy", "a bulk copy", "a bulk store", "wgmma"};
constexpr const char* kMissingWaits[] = {
    "but nothing has waited for the copy",
    "but nothing has waited for the mbarrier that the copy completes on",
    "but nothing has waited until the store had read it (cp.async.bulk.wait_group.read)",
    "but nothing has waited for the product (wgmma.wait_group)",
};
const char* name_of(AgentKind kind) { return kNames[static_cast<unsigned>(kind)]; }
const char* awaited(AgentKind kind) { return kMissingWaits[static_cast<unsigned>(kind)]; }

}  // namespace

// `rank`: of the block that the report is about; warps of other blocks are named with their rank.
std::string RaceCheck::State::who(u32 agent, u32 rank) const {
  const auto warp = [&](u32 index) {
    const std::string name = fmt::format("warp {}", index % block_warps);
    return index / block_warps == rank
               ? name
               : fmt::format("{} of the cluster's rank {}", name, index / block_warps);
  };
  if (agent < warps) return warp(agent);
  const AgentName& name = *kind_of(agent);
  if (name.kind == AgentKind::kBarrier) return name_of(name.kind);
  return fmt::format("{} of {}", name_of(name.kind), warp(name.owner));
}

void RaceCheck::State::report(const Attempt& attempt, u32 agent, const Mark& other,
                              bool other_writes, u32 word, u32 words) const {
  const u32 lane = attempt.lane_bytes < 4
                       ? attempt.lane
                       : attempt.lane + (word - attempt.first) / (attempt.lane_bytes / 4);
  const observer::Lane at{attempt.warp, attempt.insn, lane};
  const u64 times = u64{words} * attempt.alike;
  observer::find(at, FaultKind::kRace, other.pc(), times, [&]() -> observer::Description {
    const u32 rank = attempt.warp.home->rank;
    std::string here = who(attempt.me, rank);
    if (attempt.async != nullptr)
      here = fmt::format("{} of {}", name_of(attempt.async->kind), here);
    std::string why = "with no barrier between";
    if (agent >= warps) {
      const AgentName& name = *kind_of(agent);
      why = awaited(name.kind);
      if (name.kind == AgentKind::kBarrier || name.owner != attempt.me)
        why += " and told this warp";
    }
    return {fmt::format("{} {} and {} {} one word of shared memory, {}", who(agent, rank),
                        verb(other_writes), here, verb(attempt.is_write), why),
            fmt::format(
                "shared address 0x{:x}{}\nthe other access is {}", begin + 4 * word,
                attempt.rank == rank ? "" : fmt::format(" of the cluster's rank {}", attempt.rank),
                observer::place(program, other.pc()))};
  });
}

void RaceCheck::State::report_fence(const Attempt& attempt, u32 word) const {
  const BlockMemory& memory = memories[attempt.rank];
  const observer::Lane at{attempt.warp, attempt.insn, attempt.lane};
  const u32 pc = memory.writes.at(word).pc();
  observer::find(at, FaultKind::kRace, pc, [&]() -> observer::Description {
    const u32 rank = attempt.warp.home->rank;
    return {fmt::format("{} writes a word of shared memory and {} of {} reads it, with no "
                        "fence.proxy.async between",
                        who(memory.writer[word], rank), name_of(attempt.async->kind),
                        who(attempt.me, rank)),
            fmt::format("shared address 0x{:x}\nthe write is {}", begin + 4 * word,
                        observer::place(program, pc))};
  });
}

void RaceCheck::end_block(const observer::Warp& first) {
  const observer::Block& block = *first.home;
  const State& s = *state_;
  if (s.agents.empty() && s.memories.size() == 1) return;
  const BlockMemory& memory = s.memories[block.rank];
  const u32 base = block.rank * s.block_warps;
  // Whether the access is by the block itself or ordered before one of its warps.
  const auto seen = [&](u32 agent, const Mark& mark) {
    if (mark.clock <= s.past || (agent >= base && agent < base + s.block_warps)) return true;
    for (u32 w = base; w < base + s.block_warps; ++w) {
      if (s.known[w][agent] >= mark.clock) return true;
    }
    return false;
  };
  const auto look = [&](u32 agent, const Mark& mark, bool writes, u32 word) {
    if (seen(agent, mark)) return;
    const observer::Lane at{first, first.code[mark.pc()], 0};
    observer::find(at, FaultKind::kRace, ir::kNone, [&]() -> observer::Description {
      return {fmt::format("the block ends while {} may still {} its shared memory",
                          s.who(agent, block.rank), writes ? "write" : "read"),
              fmt::format("shared address 0x{:x}", s.begin + 4 * word)};
    });
  };
  const u32 words = static_cast<u32>(memory.writer.size());
  for (u32 word = 0; word < words; ++word) {
    look(memory.writer[word], memory.writes.at(word), true, word);
    const bool thread_copy = !memory.copier.empty() && memory.copies.clock[word] > s.past &&
                             s.kind_of(memory.copier[word])->kind == AgentKind::kCopies;
    if (!memory.copier.empty() && !thread_copy)
      look(memory.copier[word], memory.copies.at(word), true, word);
  }
  for (const auto* readers : {&memory.remote_reads, &memory.async_reads}) {
    for (const Reader& reader : *readers) {
      for (u32 word = 0; word < words; ++word)
        look(reader.agent, reader.marks.at(word), false, word);
    }
  }
}

}  // namespace vgpu::check
