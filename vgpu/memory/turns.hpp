// SPDX-License-Identifier: Apache-2.0
// Sizes of blocks that a program allocates and frees by turns, as a loop does.
#pragma once
#include <cstddef>
#include <unordered_map>

namespace vgpu {

class Turns {
 public:
  void allocated(std::size_t bytes) {
    Turn& turn = turns_[bytes];
    if (turn.is_live) turn.times = 0;
    turn.is_live = true;
  }
  void freed(std::size_t bytes) {
    Turn& turn = turns_[bytes];
    turn.times = turn.is_live ? turn.times + 1 : 0;
    turn.is_live = false;
  }
  // Whether the next block of this size is probably another turn's.
  bool expects(std::size_t bytes) const {
    constexpr unsigned kOften = 3;
    const auto turn = turns_.find(bytes);
    return turn != turns_.end() && !turn->second.is_live && turn->second.times >= kOften;
  }

 private:
  struct Turn {
    unsigned times = 0;
    bool is_live = false;
  };
  std::unordered_map<std::size_t, Turn> turns_;
};

}  // namespace vgpu
