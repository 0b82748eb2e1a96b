// SPDX-License-Identifier: Apache-2.0
#include "engine/check/race.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/execute/fault.hpp"

namespace vgpu::check {
namespace {

constexpr u32 kLastClock = 1u << 31;  // of a block's beginning; then all is forgotten and clocks begin anew

void raise(u32* to, const u32* from, u32 count) {
  for (u32 i = 0; i < count; ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

RaceCheck::RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps,
                     bool copies)
    : program_(program),
      begin_(shared_begin / 4 * 4),
      warps_(warps),
      agents_(copies ? warps + warps * execute::kLanes : warps) {
  const u64 words = (shared_bytes + 7) / 4;
  writes_ = {std::vector<u32>(words), std::vector<u32>(words)};
  if (copies) {
    copies_ = writes_;
    copier_.resize(words);
  }
  writer_.resize(words);
  reads_.assign(warps, writes_);
  last_read_.resize(words);
  known_.resize(u64{warps} * agents_);
  idle_.resize(agents_);
}

void RaceCheck::start_block() {
  u32 past = past_ + last_epoch_;
  for (u32 w = 0; w < warps_; ++w) past = std::max(past, known(w)[w]);
  past_ = past;
  last_epoch_ = 0;
  if (past_ > kLastClock) {
    past_ = 0;
    std::fill(writes_.clock.begin(), writes_.clock.end(), 0);
    std::fill(copies_.clock.begin(), copies_.clock.end(), 0);
    for (Marks& marks : reads_) std::fill(marks.clock.begin(), marks.clock.end(), 0);
    std::fill(last_read_.begin(), last_read_.end(), 0);
  }
  std::fill(known_.begin(), known_.end(), past_);
  std::fill(idle_.begin(), idle_.end(), ~0u);
  for (u32 w = 0; w < warps_; ++w) {
    known(w)[w] = past_ + 1;
    update_oldest(w);
  }
}

void RaceCheck::update_oldest(u32 warp) {
  const u32* const row = known(warp);
  u32 oldest = row[warp];
  for (u32 v = 0; v < warps_; ++v) oldest = std::min(oldest, v == warp ? oldest : row[v]);
  oldest_[warp] = oldest;
  u32 copy = ~0u;
  for (u32 a = warps_; a < agents_; ++a) copy = std::min(copy, row[a] | idle_[a]);
  oldest_copy_[warp] = copy;
}

void RaceCheck::access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
                       u32 bytes, bool is_write, Access kind) {
  const u32 info = static_cast<u32>(&insn - warp.code) << 5 | (kind == Access::kStrong ? 16 : 0);
  Attempt attempt{warp, insn, 0, {known(warp.id)[warp.id], info}, is_write, false};
  if (mask == execute::kAllLanes && bytes >= 4) {
    u32 gaps = 0, spread = 0;
    for (u32 i = 0; i < execute::kLanes; ++i) {
      gaps |= offsets[i] - offsets[0] - i * bytes;
      spread |= offsets[i] - offsets[0];
    }
    if (gaps == 0 || spread == 0) {
      touch(attempt, offsets[0] - begin_, gaps == 0 ? execute::kLanes * bytes : bytes);
      return;
    }
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    attempt.lane = static_cast<u32>(__builtin_ctz(m));
    touch(attempt, offsets[attempt.lane] - begin_, bytes);
  }
}

// Bytes from `first`, counted from the beginning of shared memory.
void RaceCheck::touch(const Attempt& attempt, u32 first, u32 bytes) {
  Attempt whole = attempt;
  const u32 word = first / 4, end = (first + bytes + 3) / 4;
  whole.mark.info |= bytes >= 4 ? 15 : ((1u << bytes) - 1) << first % 4;
  if (!is_ordered(attempt.warp.id, word, end, attempt.is_write)) {
    for (u32 w = word; w < end; ++w) check(whole, w);
  }
  Marks& marks = attempt.is_write ? writes_ : reads_[attempt.warp.id];
  for (u32 w = word; w < end; ++w) {
    marks.clock[w] = whole.mark.clock;
    marks.info[w] = whole.mark.info;
  }
  if (attempt.is_write) {
    for (u32 w = word; w < end; ++w) writer_[w] = static_cast<u8>(attempt.warp.id);
  } else {
    for (u32 w = word; w < end; ++w) last_read_[w] = std::max(last_read_[w], whole.mark.clock);
  }
}

void RaceCheck::copy(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
                     u32 bytes, const u32* epochs) {
  const u32 info = static_cast<u32>(&insn - warp.code) << 5 | 15;
  Attempt attempt{warp, insn, 0, {0, info}, true, true};
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(m));
    const u32 agent = copier(warp.id, lane);
    if (idle_[agent] != 0) {
      idle_[agent] = 0;
      oldest_copy_.fill(past_);
    }
    last_epoch_ = std::max(last_epoch_, epochs[lane]);
    attempt.lane = lane;
    const u32 word = (offsets[lane] - begin_) / 4, end = word + bytes / 4;
    if (!is_ordered(warp.id, word, end, true)) {
      for (u32 w = word; w < end; ++w) check(attempt, w);
    }
    for (u32 w = word; w < end; ++w) {
      copies_.clock[w] = past_ + epochs[lane];
      copies_.info[w] = info;
      copier_[w] = static_cast<u16>(agent);
    }
  }
}

// Everything that happened to these words lies before what the warp has seen of all others.
bool RaceCheck::is_ordered(u32 warp, u32 first, u32 last, bool is_write) const {
  const u32 seen = oldest_[warp];
  u32 late = 0;
  for (u32 w = first; w < last; ++w) late |= static_cast<u32>(writes_.clock[w] > seen);
  if (agents_ != warps_) {
    const u32 landed = oldest_copy_[warp];
    for (u32 w = first; w < last; ++w) late |= static_cast<u32>(copies_.clock[w] > landed);
  }
  if (is_write && late == 0) {
    for (u32 w = first; w < last; ++w) late |= static_cast<u32>(last_read_[w] > seen);
    if (late != 0) return reads_are_ordered(warp, first, last);
  }
  return late == 0;
}

// The same of reads, with what the warp has seen of each other one.
bool RaceCheck::reads_are_ordered(u32 warp, u32 first, u32 last) const {
  u32 late = 0;
  for (u32 v = 0; v < warps_; ++v) {
    if (v == warp) continue;
    const u32 seen = known(warp)[v];
    const u32* const clock = reads_[v].clock.data();
    for (u32 w = first; w < last; ++w) late |= static_cast<u32>(clock[w] > seen);
  }
  return late == 0;
}

bool RaceCheck::conflicts(const Attempt& attempt, u32 agent, const Mark& other) const {
  return agent != attempt.warp.id && (other.bytes() & attempt.mark.bytes()) != 0 &&
         !(other.strong() && attempt.mark.strong()) && other.clock > known(attempt.warp.id)[agent];
}

void RaceCheck::check(const Attempt& attempt, u32 word) const {
  const Mark write = writes_.at(word);
  if (conflicts(attempt, writer_[word], write)) report(attempt, writer_[word], write, Other::kWrite, word);
  if (agents_ != warps_) {
    const Mark copied = copies_.at(word);
    if (conflicts(attempt, copier_[word], copied)) {
      report(attempt, copier_[word], copied, Other::kCopy, word);
    }
  }
  if (!attempt.is_write) return;
  for (u32 v = 0; v < warps_; ++v) {
    const Mark read = reads_[v].at(word);
    if (conflicts(attempt, v, read)) report(attempt, v, read, Other::kRead, word);
  }
}

void RaceCheck::join(u32 warp, const std::vector<u32>& clocks) {
  if (clocks.empty()) return;
  raise(known(warp), clocks.data(), agents_);
  update_oldest(warp);
}

void RaceCheck::barrier(const u32* arrived, u32 waited) {
  joined_.assign(agents_, 0);
  for (u32 w = 0; w < warps_; ++w) {
    if (arrived[w] != 0) raise(joined_.data(), known(w), agents_);
  }
  for (u32 w = 0; w < warps_; ++w) {
    if ((waited >> w & 1) != 0) raise(known(w), joined_.data(), agents_);
    if (arrived[w] != 0) ++known(w)[w];
    update_oldest(w);
  }
}

void RaceCheck::copies_landed(const execute::Warp& warp, u32 mask, const u32* epochs) {
  u32* const row = known(warp.id);
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(m));
    u32& seen = row[copier(warp.id, lane)];
    seen = std::max(seen, past_ + epochs[lane]);
  }
  update_oldest(warp.id);
}

void RaceCheck::arrive(const execute::Warp& warp, PhaseClock& clock) {
  clock.arriving.resize(agents_);
  raise(clock.arriving.data(), known(warp.id), agents_);
  ++known(warp.id)[warp.id];
}

void RaceCheck::copies_arrive(const execute::Warp& warp, u32 mask, const u32* epochs, PhaseClock& clock) {
  clock.arriving.resize(agents_);
  u32* const arriving = clock.arriving.data();
  const u32 own = arriving[warp.id];
  raise(arriving, known(warp.id), agents_);
  arriving[warp.id] = own;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const u32 lane = static_cast<u32>(__builtin_ctz(m));
    u32& landed = arriving[copier(warp.id, lane)];
    landed = std::max(landed, past_ + epochs[lane]);
  }
}

void RaceCheck::complete(PhaseClock& clock) {
  if (clock.arriving.empty()) return;
  clock.completed.resize(agents_);
  raise(clock.completed.data(), clock.arriving.data(), agents_);
  std::fill(clock.arriving.begin(), clock.arriving.end(), 0);
}

void RaceCheck::wait(const execute::Warp& warp, const PhaseClock& clock) { join(warp.id, clock.completed); }

void RaceCheck::report(const Attempt& attempt, u32 agent, const Mark& other, Other what, u32 word) const {
  const std::string here = fmt::format("{}warp {} {}", attempt.is_copy ? "an asynchronous copy of " : "",
                                       attempt.warp.id, attempt.is_write ? "writes" : "reads");
  std::string there, why = "with no barrier between";
  if (what == Other::kCopy) {
    const u32 thread = agent - warps_;
    there = fmt::format("an asynchronous copy of warp {} writes", thread / execute::kLanes);
    why = "but nothing has waited for the copy";
    if (thread / execute::kLanes != attempt.warp.id) why += " and told this warp";
  } else {
    there = fmt::format("warp {} {}", agent, what == Other::kWrite ? "writes" : "reads");
  }
  execute::fault({attempt.warp, attempt.insn, attempt.lane}, FaultKind::kRace,
                 fmt::format("{} and {} one word of shared memory, {}", there, here, why),
                 fmt::format("shared address 0x{:x}\nthe other access is {}", begin_ + 4 * word,
                             execute::place(program_, other.pc())));
}

}  // namespace vgpu::check
