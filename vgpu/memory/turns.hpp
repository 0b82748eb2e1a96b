// SPDX-License-Identifier: Apache-2.0
// Blocks that a program allocates and frees alternately, as a loop does. A turn of a size begins
// with a block of this size where there is none, and ends where there is none again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace vgpu {

class Turns {
 public:
  void allocated(std::size_t bytes, std::uint64_t begin) {
    Turn& turn = turns_[bytes];
    ++turn.live;
    if (turn.now.size() <= kMostBlocks) turn.now.push_back(begin);
  }
  void freed(std::size_t bytes) {
    Turn& turn = turns_[bytes];
    if (--turn.live != 0) return;
    const std::size_t blocks = turn.now.size();
    turn.alike = blocks > kMostBlocks ? 0 : blocks == turn.last.size() ? turn.alike + 1 : 1;
    turn.before_last = std::exchange(turn.last, std::exchange(turn.now, {}));
  }
  // The address of the block in the turn before the last one, if the next block of this size
  // probably begins another turn; else 0.
  std::uint64_t earlier(std::size_t bytes) const {
    constexpr unsigned kOften = 3;
    const auto found = turns_.find(bytes);
    if (found == turns_.end() || found->second.alike < kOften) return 0;
    const Turn& turn = found->second;
    const std::size_t next = turn.now.size();
    return next < turn.before_last.size() ? turn.before_last[next] : 0;
  }

 private:
  static constexpr std::size_t kMostBlocks = 64;  // of one turn
  struct Turn {
    std::size_t live = 0;
    unsigned alike = 0;                                   // turns with as many blocks
    std::vector<std::uint64_t> now, last, before_last{};  // begins, the first one first
  };
  std::unordered_map<std::size_t, Turn> turns_;
};

}  // namespace vgpu
