// SPDX-License-Identifier: Apache-2.0
#include "engine/check/race.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "engine/execute/fault.hpp"

namespace vgpu::check {

RaceCheck::RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes)
    : program_(program), begin_(shared_begin / 4 * 4), words_((shared_bytes + 7) / 4) {}

void RaceCheck::start_block() {
  for (u32 w = 0; w < kWarps; ++w) past_ = std::max(past_, clocks_[w][w]);
  for (u32 w = 0; w < kWarps; ++w) {
    clocks_[w].fill(past_);
    clocks_[w][w] = past_ + 1;
  }
  readers_.clear();
  for (Word& word : words_) {
    if (word.read.warp == kMany) word.read = {};
  }
}

bool RaceCheck::conflicts(const Mark& earlier, const Mark& now) const {
  return earlier.warp != kNobody && earlier.warp != now.warp && (earlier.bytes & now.bytes) != 0 &&
         !(earlier.strong && now.strong) && earlier.clock > clocks_[now.warp][earlier.warp];
}

void RaceCheck::read(Word& word, const Attempt& attempt) {
  const Mark& now = attempt.mark;
  if (conflicts(word.write, now)) report(attempt, word.write, true, false, address_of(word));
  if (word.read.warp == kMany) {
    readers_[word.readers][now.warp] = now;
    return;
  }
  const Mark& earlier = word.read;
  if (earlier.warp == kNobody || earlier.warp == now.warp ||
      earlier.clock <= clocks_[now.warp][earlier.warp]) {
    word.read = now;
    return;
  }
  std::array<Mark, kWarps> both{};
  both[earlier.warp] = earlier;
  both[now.warp] = now;
  word.readers = static_cast<u32>(readers_.size());
  readers_.push_back(both);
  word.read.warp = kMany;
}

void RaceCheck::write(Word& word, const Attempt& attempt) {
  const Mark& now = attempt.mark;
  if (conflicts(word.write, now)) report(attempt, word.write, true, true, address_of(word));
  if (word.read.warp == kMany) {
    for (const Mark& earlier : readers_[word.readers]) {
      if (conflicts(earlier, now)) report(attempt, earlier, false, true, address_of(word));
    }
  } else if (conflicts(word.read, now)) {
    report(attempt, word.read, false, true, address_of(word));
  }
  word.write = now;
  word.read = {};
}

void RaceCheck::access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets,
                       u32 bytes, bool is_write, Access kind) {
  Attempt attempt{warp, insn, 0, {}};
  attempt.mark.clock = clocks_[warp.id][warp.id];
  attempt.mark.pc = static_cast<u32>(&insn - warp.code);
  attempt.mark.warp = static_cast<u8>(warp.id);
  attempt.mark.strong = kind == Access::kStrong;
  for (u32 m = mask; m != 0; m &= m - 1) {
    attempt.lane = static_cast<u32>(__builtin_ctz(m));
    const u32 first = offsets[attempt.lane] - begin_;
    for (u32 at = first; at < first + bytes;) {
      const u32 part = std::min(first + bytes - at, 4 - at % 4);
      attempt.mark.bytes = static_cast<u8>(((1u << part) - 1) << at % 4);
      if (is_write)
        write(words_[at / 4], attempt);
      else
        read(words_[at / 4], attempt);
      at += part;
    }
  }
}

void RaceCheck::barrier(const u32* arrived, u32 waited, u32 warps) {
  std::array<u64, kWarps> joined{};
  for (u32 w = 0; w < warps; ++w) {
    if (arrived[w] == 0) continue;
    for (u32 v = 0; v < kWarps; ++v) joined[v] = std::max(joined[v], clocks_[w][v]);
  }
  for (u32 w = 0; w < warps; ++w) {
    if ((waited >> w & 1) != 0) {
      for (u32 v = 0; v < kWarps; ++v) clocks_[w][v] = std::max(clocks_[w][v], joined[v]);
    }
    if (arrived[w] != 0) ++clocks_[w][w];
  }
}

void RaceCheck::report(const Attempt& attempt, const Mark& earlier, bool earlier_writes, bool now_writes,
                       u64 address) const {
  execute::fault(
      {attempt.warp, attempt.insn, attempt.lane}, FaultKind::kRace,
      fmt::format("warp {} {} and warp {} {} one word of shared memory with no barrier between", earlier.warp,
                  earlier_writes ? "writes" : "reads", attempt.mark.warp, now_writes ? "writes" : "reads"),
      fmt::format("shared address 0x{:x}\nthe other access is {}", address,
                  execute::place(program_, earlier.pc)));
}

}  // namespace vgpu::check
