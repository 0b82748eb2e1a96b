// SPDX-License-Identifier: Apache-2.0
#include "check/race.hpp"

#include <algorithm>

#include "check/race_state.hpp"
#include "ir/bulk.hpp"

namespace vgpu::check {
namespace {

// By Mark::info of two accesses to a word, in any order.
bool may_conflict(u32 one, u32 other) {
  const u32 both = one & other;
  return (both & kWholeMark) != 0 && (both & Mark::kStrong) == 0;
}

}  // namespace

RaceCheck::RaceCheck(const ir::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps,
                     u32 blocks, u32 epochs)
    : state_(std::make_unique<State>(program, shared_begin, shared_bytes, warps, blocks)) {
  state_->most_epochs = epochs;
}

RaceCheck::~RaceCheck() = default;

RaceCheck::State::State(const ir::Program& of, u32 shared_begin, u64 shared_bytes,
                        u32 warps_of_block, u32 blocks)
    : program(of),
      begin(shared_begin / 4 * 4),
      block_warps(warps_of_block),
      warps(warps_of_block * blocks) {
  const u64 words = (shared_bytes + 7) / 4;
  memories.resize(blocks);
  for (BlockMemory& memory : memories) {
    memory.writes = Marks(words);
    memory.writer.resize(words);
    memory.reads.assign(warps_of_block, Marks(words));
    memory.last_read.resize(words);
    memory.reader.resize(words);
  }
  known.resize(warps);
  oldest.resize(warps);
  oldest_async.resize(warps);
  released.resize(warps);
  acquired.resize(warps);
  for (u32 w = 0; w < warps; ++w) {
    BlockMemory& memory = memories[w / block_warps];
    Marks& reads = memory.reads[w % block_warps];
    glances.push_back({memory.writes.clock.data(), memory.writes.info.data(), memory.writer.data(),
                       reads.clock.data(), reads.info.data(), memory.last_read.data(),
                       memory.reader.data(), nullptr, nullptr, begin, w, 0, 0, 0});
  }
}

const RaceCheck::Glance& RaceCheck::glance(const observer::Warp& warp) {
  State& s = *state_;
  const BlockMemory& memory = s.memories[warp.home->rank];
  const u32 me = s.index_of(warp);
  Glance& found = s.glances[me];
  found.async_write = memory.copier.empty() ? nullptr : memory.copies.clock.data();
  found.last_async_read = memory.last_async_read.empty() ? nullptr : memory.last_async_read.data();
  found.now = s.known[me][me];
  found.oldest = s.oldest[me];
  found.oldest_async = s.oldest_async[me];
  return found;
}

void RaceCheck::access(const observer::Warp& warp, const ir::Insn& insn, u32 mask,
                       const u32* offsets, u32 bytes, bool is_write, Access kind, u32 unchanged) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  const u32 info = static_cast<u32>(&insn - warp.code) << 5 | (kind == Access::kStrong ? 16 : 0);
  Attempt attempt{warp, insn, 0, me, {s.known[me][me], info}, warp.home->rank, is_write, {}};
  if (mask == ir::kAllLanes && bytes >= 4 && (unchanged == 0 || unchanged == mask)) {
    attempt.unchanged = unchanged != 0;
    u32 gaps = 0, spread = 0;
    for (u32 i = 0; i < ir::kLanes; ++i) {
      gaps |= offsets[i] - offsets[0] - i * bytes;
      spread |= offsets[i] - offsets[0];
    }
    if (gaps == 0 || spread == 0) {
      s.touch(attempt, offsets[0] - s.begin, gaps == 0 ? ir::kLanes * bytes : bytes);
      return;
    }
  }
  for (u32 m = mask; m != 0;) {
    attempt.lane = static_cast<u32>(__builtin_ctz(m));
    attempt.unchanged = (unchanged >> attempt.lane & 1) != 0;
    const u32 first = offsets[attempt.lane];
    // Lanes that follow each other and read one place, or places next to each other.
    const auto lanes_by = [&](u32 step) {
      u32 lane = attempt.lane + 1;
      while (lane < ir::kLanes && (m >> lane & 1) != 0 &&
             offsets[lane] == first + (lane - attempt.lane) * step)
        ++lane;
      return lane - attempt.lane;
    };
    const bool joins = !is_write && bytes >= 4;
    const u32 alike = joins ? lanes_by(0) : 1, next = joins && alike == 1 ? lanes_by(bytes) : 1;
    attempt.alike = alike;
    attempt.lane_bytes = bytes;
    s.touch(attempt, first - s.begin, next * bytes);
    const u32 end = attempt.lane + alike * next;
    m = end == ir::kLanes ? 0 : m >> end << end;
  }
}

void RaceCheck::access(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                       const SharedRange& where, bool is_write, Access kind) {
  State& s = *state_;
  const u32 me = s.index_of(warp);
  const u32 info = static_cast<u32>(&insn - warp.code) << 5 | (kind == Access::kStrong ? 16 : 0);
  s.touch({warp, insn, lane, me, {s.known[me][me], info}, where.block->rank, is_write, {}},
          where.offset - s.begin, where.bytes);
}

// `first`: byte offset from the beginning of shared memory.
void RaceCheck::State::touch(const Attempt& attempt, u32 first, u32 bytes) {
  Attempt whole = attempt;
  whole.first = first / 4;
  BlockMemory& memory = memories[attempt.rank];
  const u32 word = first / 4, end = (first + bytes + 3) / 4;
  whole.mark.info |= bytes >= 4 ? kWholeMark : ((1u << bytes) - 1) << first % 4;
  if (!is_ordered(whole, word, end)) check(whole, word, end);
  Marks& marks = attempt.is_write ? memory.writes : reads_of(memory, attempt);
  std::fill(marks.clock.begin() + word, marks.clock.begin() + end, whole.mark.clock);
  std::fill(marks.info.begin() + word, marks.info.begin() + end, whole.mark.info);
  if (attempt.is_write) {
    std::fill(memory.writer.begin() + word, memory.writer.begin() + end, attempt.me);
    return;
  }
  // Local copies: the compiler must assume that the stores below change the originals.
  const u32 me = attempt.me, seen = oldest[me], now = whole.mark.clock;
  u32 *const reader = memory.reader.data(), *const last = memory.last_read.data();
#pragma GCC ivdep
  for (u32 w = word; w < end; ++w) {
    reader[w] = reader[w] == me || last[w] <= seen ? me : kSeveral;
    last[w] = std::max(last[w], now);
  }
}

Marks& RaceCheck::State::reads_of(BlockMemory& memory, const Attempt& attempt) {
  if (attempt.warp.home->rank == attempt.rank) return memory.reads[attempt.warp.id];
  for (Reader& reader : memory.remote_reads) {
    if (reader.agent == attempt.me) return reader.marks;
  }
  return memory.remote_reads.emplace_back(Reader{attempt.me, Marks(memory.writer.size())}).marks;
}

void RaceCheck::copy(const observer::Warp& warp, const ir::Insn& insn, u32 mask, const u32* offsets,
                     u32 bytes, const u32* epochs) {
  State& s = *state_;
  BlockMemory& memory = s.memories[warp.home->rank];
  memory.start_copies();
  const auto word_of = [&](u32 lane) { return (offsets[lane] - s.begin) / 4; };
  const u32 words = (bytes + 3) / 4, me = s.index_of(warp);
  bool ordered = true;
  for (const u32 lane : ir::SetBits(mask))
    ordered &= s.clocks_show_order(me, memory, word_of(lane), words);
  for (const u32 lane : ir::SetBits(mask)) {
    const Agent by{s.agent_of({AgentKind::kCopies, me, lane})};
    if (!ordered) {
      async_write(warp, insn, lane, {warp.home, offsets[lane], bytes}, by, epochs[lane]);
      continue;
    }
    s.last_epoch = std::max(s.last_epoch, epochs[lane]);
    memory.note_copy(word_of(lane), words, {s.past + epochs[lane], s.whole_mark(warp, insn)}, by);
  }
}

// An access by `agent` in `epoch`.
Attempt RaceCheck::State::attempt_of(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                                     const SharedRange& where, Agent agent, u32 epoch,
                                     bool writes) {
  last_epoch = std::max(last_epoch, epoch);
  return {warp,
          insn,
          lane,
          index_of(warp),
          {0, whole_mark(warp, insn)},
          where.block->rank,
          writes,
          kind_of(agent.index)};
}

void RaceCheck::async_write(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                            const SharedRange& where, Agent agent, u32 epoch) {
  State& s = *state_;
  Attempt attempt = s.attempt_of(warp, insn, lane, where, agent, epoch, true);
  if (ir::reduces_shared(insn)) attempt.mark.info |= Mark::kStrong;
  BlockMemory& memory = s.memories[attempt.rank];
  memory.start_copies();
  const u32 word = (where.offset - s.begin) / 4,
            end = (where.offset - s.begin + where.bytes + 3) / 4;
  if (!s.is_ordered(attempt, word, end)) s.check(attempt, word, end);
  memory.note_copy(word, end - word, {s.past + epoch, attempt.mark.info}, agent);
}

void RaceCheck::async_read(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                           const SharedRange& where, Agent agent, u32 epoch) {
  State& s = *state_;
  const Attempt attempt = s.attempt_of(warp, insn, lane, where, agent, epoch, false);
  BlockMemory& memory = s.memories[attempt.rank];
  const u32 info = attempt.mark.info;
  const u32 word = (where.offset - s.begin) / 4,
            end = (where.offset - s.begin + where.bytes + 3) / 4;
  if (!s.is_ordered(attempt, word, end)) s.check(attempt, word, end);
  for (u32 w = word; w < end; ++w) s.check_fence(attempt, w);
  if (memory.last_async_read.empty()) memory.last_async_read.resize(memory.writer.size());
  auto reader = std::ranges::find(memory.async_reads, agent.index, &Reader::agent);
  if (reader == memory.async_reads.end()) {
    reader = memory.async_reads.insert(reader, Reader{agent.index, Marks(memory.writer.size())});
  }
  const u32 clock = s.past + epoch;
  for (u32 w = word; w < end; ++w) {
    reader->marks.clock[w] = clock;
    reader->marks.info[w] = info;
    memory.last_async_read[w] = std::max(memory.last_async_read[w], clock);
  }
}

bool RaceCheck::State::clocks_show_order(u32 warp, const BlockMemory& memory, u32 first,
                                         u32 words) const {
  const u32 seen = oldest[warp], seen_async = oldest_async[warp];
  const auto later = [&](const std::vector<u32>& clocks, u32 than) {
    u32 late = 0;
    for (u32 w = first; w < first + words; ++w) late |= u32{clocks[w] > than};
    return late;
  };
  u32 late = later(memory.writes.clock, seen) | later(memory.last_read, seen);
  if (!memory.copier.empty()) late |= later(memory.copies.clock, seen_async);
  if (!memory.last_async_read.empty()) late |= later(memory.last_async_read, seen_async);
  return late == 0;
}

// Conservative test with the minimum over all other agents: true if all recorded accesses to the
// words that could conflict are the warp's own or ordered before it.
bool RaceCheck::State::is_ordered(const Attempt& attempt, u32 first, u32 last) const {
  const BlockMemory& memory = memories[attempt.rank];
  const u32 me = attempt.me;
  const u32 seen = oldest[me], seen_async = oldest_async[me];
  u32 late = 0;
  for (u32 w = first; w < last; ++w) {
    late |= u32{memory.writes.clock[w] > seen} & u32{memory.writer[w] != me} &
            u32{may_conflict(attempt.mark.info, memory.writes.info[w])};
  }
  if (!memory.copier.empty()) {
    for (u32 w = first; w < last; ++w) late |= u32{memory.copies.clock[w] > seen_async};
  }
  if (!attempt.is_write || late != 0) return late == 0;
  if (!memory.last_async_read.empty()) {
    for (u32 w = first; w < last; ++w) late |= u32{memory.last_async_read[w] > seen_async};
    if (late != 0) return false;
  }
  for (u32 w = first; w < last; ++w)
    late |= u32{memory.last_read[w] > seen} & u32{memory.reader[w] != me};
  return late == 0 || reads_are_ordered(attempt, first, last);
}

// The same for reads by warps, with the warp's clock of each reader instead of the minimum.
bool RaceCheck::State::reads_are_ordered(const Attempt& attempt, u32 first, u32 last) const {
  const BlockMemory& memory = memories[attempt.rank];
  const std::vector<u32>& row = known[attempt.me];
  const u32 base = attempt.rank * block_warps;
  u32 late = 0;
  const auto look = [&](u32 agent, const Marks& marks) {
    if (agent == attempt.me) return;
    const u32 seen = row[agent];
    for (u32 w = first; w < last; ++w)
      late |= u32{marks.clock[w] > seen} & u32{may_conflict(attempt.mark.info, marks.info[w])};
  };
  for (u32 v = 0; v < block_warps; ++v) look(base + v, memory.reads[v]);
  for (const Reader& reader : memory.remote_reads) look(reader.agent, reader.marks);
  return late == 0;
}

// Whether `other` is an mbarrier.init, the attempt uses an mbarrier, and a fence.mbarrier_init
// orders the init before it.
bool RaceCheck::State::knows_barrier(const Attempt& attempt, u32 agent, const Mark& other) const {
  if (!attempt.mark.strong() || agent >= warps) return false;
  const ir::Insn& made_by = attempt.warp.code[other.pc()];
  return made_by.op == attempt.insn.op && made_by.sub == static_cast<u8>(ir::MbarrierKind::kInit) &&
         other.clock <= known[attempt.me][2 * warps + agent];
}

[[gnu::always_inline]] inline bool RaceCheck::State::conflicts(const Attempt& attempt, u32 agent,
                                                               const Mark& other) const {
  return other.clock > past && agent != attempt.me && (other.bytes() & attempt.mark.bytes()) != 0 &&
         !(other.strong() && attempt.mark.strong()) && other.clock > known[attempt.me][agent] &&
         !knows_barrier(attempt, agent, other);
}

u32 RaceCheck::State::bit_of(u32 agent, u32 rank) const {
  return agent / block_warps == rank ? 1u << agent % block_warps : 0;
}

u32 RaceCheck::State::writers_of(const BlockMemory& memory, u32 rank, u32 word) const {
  const u32 clock = memory.writes.clock[word], writer = memory.writer[word];
  const auto found = memory.agreements.find(word);
  const bool valid = found != memory.agreements.end() && found->second.clock == clock &&
                     found->second.writer == writer;
  return valid ? found->second.warps : bit_of(writer, rank);
}

void RaceCheck::State::check(const Attempt& attempt, u32 first, u32 last) {
  const BlockMemory& memory = memories[attempt.rank];
  const bool goes_on = attempt.warp.home->findings != nullptr;
  u32 from = first, words = 0;  // that conflict with copies by one instruction, and the first one
  const auto report_words = [&] {
    if (words != 0) report(attempt, memory.copier[from], memory.copies.at(from), true, from, words);
    words = 0;
  };
  for (u32 word = first; word < last; ++word) {
    if (attempt.is_write || memory.writes.clock[word] > past) check_threads(attempt, word);
    if (memory.copier.empty()) continue;
    const Mark copied = memory.copies.at(word);
    if (!conflicts(attempt, memory.copier[word], copied)) continue;
    if (copied.pc() != memory.copies.at(from).pc()) report_words();
    if (words++ == 0) from = word;
    if (!goes_on) report_words();
  }
  report_words();
}

void RaceCheck::State::check_threads(const Attempt& attempt, u32 word) {
  BlockMemory& memory = memories[attempt.rank];
  const Mark write = memory.writes.at(word);
  u32 agreeing = 0;  // warps whose accesses the order of this one does not affect
  if (conflicts(attempt, memory.writer[word], write)) {
    const u32 me = bit_of(attempt.me, attempt.rank);
    agreeing = attempt.async == nullptr ? writers_of(memory, attempt.rank, word) : 0;
    if (attempt.is_write ? !attempt.unchanged || me == 0 || agreeing == 0 : (agreeing & me) == 0)
      report(attempt, memory.writer[word], write, true, word);
    if (attempt.is_write) memory.agreements[word] = {attempt.mark.clock, attempt.me, agreeing | me};
  }
  if (!attempt.is_write) return;
  const u32 base = attempt.rank * block_warps;
  for (u32 v = 0; v < block_warps; ++v) {
    if ((agreeing >> v & 1) != 0) continue;
    const Mark read = memory.reads[v].at(word);
    if (conflicts(attempt, base + v, read)) report(attempt, base + v, read, false, word);
  }
  for (const auto* readers : {&memory.remote_reads, &memory.async_reads}) {
    for (const Reader& reader : *readers) {
      const Mark read = reader.marks.at(word);
      if (conflicts(attempt, reader.agent, read)) report(attempt, reader.agent, read, false, word);
    }
  }
}

void RaceCheck::State::check_fence(const Attempt& attempt, u32 word) const {
  const BlockMemory& memory = memories[attempt.rank];
  const u32 clock = memory.writes.clock[word], writer = memory.writer[word];
  if (clock > past && clock > known[attempt.me][warps + writer]) report_fence(attempt, word);
}

}  // namespace vgpu::check
