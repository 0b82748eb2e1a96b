// SPDX-License-Identifier: Apache-2.0
#include "engine/check/race.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/execute/fault.hpp"

namespace vgpu::check {
namespace {

constexpr u32 kLastClock = 1u << 31;  // of a block's beginning; then all is forgotten and clocks begin anew

}  // namespace

RaceCheck::RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps)
    : program_(program), begin_(shared_begin / 4 * 4), warps_(warps) {
  const u64 words = (shared_bytes + 7) / 4;
  writes_ = {std::vector<u32>(words), std::vector<u32>(words)};
  writer_.resize(words);
  reads_.assign(warps, writes_);
  last_read_.resize(words);
}

void RaceCheck::start_block() {
  for (u32 w = 0; w < warps_; ++w) past_ = std::max(past_, clocks_[w][w]);
  if (past_ > kLastClock) {
    past_ = 0;
    std::fill(writes_.clock.begin(), writes_.clock.end(), 0);
    for (Marks& marks : reads_) std::fill(marks.clock.begin(), marks.clock.end(), 0);
    std::fill(last_read_.begin(), last_read_.end(), 0);
  }
  for (u32 w = 0; w < warps_; ++w) {
    clocks_[w].fill(past_);
    clocks_[w][w] = past_ + 1;
    update_oldest(w);
  }
}

void RaceCheck::update_oldest(u32 warp) {
  u32 oldest = clocks_[warp][warp];
  for (u32 v = 0; v < warps_; ++v) oldest = std::min(oldest, v == warp ? oldest : clocks_[warp][v]);
  oldest_[warp] = oldest;
}

void RaceCheck::access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
                       u32 bytes, bool is_write, Access kind) {
  const u32 info = static_cast<u32>(&insn - warp.code) << 5 | (kind == Access::kStrong ? 16 : 0);
  Attempt attempt{warp, insn, 0, {clocks_[warp.id][warp.id], info}};
  if (mask == execute::kAllLanes && bytes >= 4) {
    u32 gaps = 0, spread = 0;
    for (u32 i = 0; i < execute::kLanes; ++i) {
      gaps |= offsets[i] - offsets[0] - i * bytes;
      spread |= offsets[i] - offsets[0];
    }
    if (gaps == 0 || spread == 0) {
      touch(attempt, offsets[0] - begin_, gaps == 0 ? execute::kLanes * bytes : bytes, is_write);
      return;
    }
  }
  for (u32 m = mask; m != 0; m &= m - 1) {
    attempt.lane = static_cast<u32>(__builtin_ctz(m));
    touch(attempt, offsets[attempt.lane] - begin_, bytes, is_write);
  }
}

// Bytes from `first`, counted from the beginning of shared memory.
void RaceCheck::touch(const Attempt& attempt, u32 first, u32 bytes, bool is_write) {
  Attempt whole = attempt;
  const u32 word = first / 4, end = (first + bytes + 3) / 4;
  whole.mark.info |= bytes >= 4 ? 15 : ((1u << bytes) - 1) << first % 4;
  if (!is_ordered(attempt.warp.id, word, end, is_write)) {
    for (u32 w = word; w < end; ++w) check(whole, w, is_write);
  }
  Marks& marks = is_write ? writes_ : reads_[attempt.warp.id];
  for (u32 w = word; w < end; ++w) {
    marks.clock[w] = whole.mark.clock;
    marks.info[w] = whole.mark.info;
  }
  if (is_write) {
    for (u32 w = word; w < end; ++w) writer_[w] = static_cast<u8>(attempt.warp.id);
  } else {
    for (u32 w = word; w < end; ++w) last_read_[w] = std::max(last_read_[w], whole.mark.clock);
  }
}

// Everything that happened to these words lies before what the warp has seen of all others.
bool RaceCheck::is_ordered(u32 warp, u32 first, u32 last, bool is_write) const {
  const u32 seen = oldest_[warp];
  u32 late = 0;
  for (u32 w = first; w < last; ++w) late |= static_cast<u32>(writes_.clock[w] > seen);
  if (is_write) {
    for (u32 w = first; w < last; ++w) late |= static_cast<u32>(last_read_[w] > seen);
  }
  return late == 0;
}

bool RaceCheck::conflicts(const Attempt& attempt, u32 other_warp, const Mark& other) const {
  return other_warp != attempt.warp.id && (other.bytes() & attempt.mark.bytes()) != 0 &&
         !(other.strong() && attempt.mark.strong()) && other.clock > clocks_[attempt.warp.id][other_warp];
}

void RaceCheck::check(const Attempt& attempt, u32 word, bool is_write) const {
  const Mark write = writes_.at(word);
  if (conflicts(attempt, writer_[word], write)) report(attempt, writer_[word], write, true, is_write, word);
  if (!is_write) return;
  for (u32 v = 0; v < warps_; ++v) {
    const Mark read = reads_[v].at(word);
    if (conflicts(attempt, v, read)) report(attempt, v, read, false, true, word);
  }
}

void RaceCheck::barrier(const u32* arrived, u32 waited) {
  std::array<u32, kWarps> joined{};
  for (u32 w = 0; w < warps_; ++w) {
    if (arrived[w] == 0) continue;
    for (u32 v = 0; v < warps_; ++v) joined[v] = std::max(joined[v], clocks_[w][v]);
  }
  for (u32 w = 0; w < warps_; ++w) {
    if ((waited >> w & 1) != 0) {
      for (u32 v = 0; v < warps_; ++v) clocks_[w][v] = std::max(clocks_[w][v], joined[v]);
    }
    if (arrived[w] != 0) ++clocks_[w][w];
    update_oldest(w);
  }
}

void RaceCheck::report(const Attempt& attempt, u32 other_warp, const Mark& other, bool other_writes,
                       bool writes, u32 word) const {
  execute::fault(
      {attempt.warp, attempt.insn, attempt.lane}, FaultKind::kRace,
      fmt::format("warp {} {} and warp {} {} one word of shared memory with no barrier between", other_warp,
                  other_writes ? "writes" : "reads", attempt.warp.id, writes ? "writes" : "reads"),
      fmt::format("shared address 0x{:x}\nthe other access is {}", begin_ + 4 * word,
                  execute::place(program_, other.pc())));
}

}  // namespace vgpu::check
