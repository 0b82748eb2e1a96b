// SPDX-License-Identifier: Apache-2.0
// The words that compare-and-swap loops exchange. Where several warps exchange one word, the loop
// may fail on hardware and repeat; here each warp succeeds at its first try.
#pragma once
#include <unordered_map>

#include "ir/program.hpp"

namespace vgpu::observer {

class Exchanges {
 public:
  // `warp` identifies the warp within the launch (a word of global memory) or within the block.
  void note(ir::u64 word, ir::u64 warp);
  void add(const Exchanges& other);
  void clear() { owners_.clear(); }  // contended() stays
  bool contended() const { return contended_; }

 private:
  static constexpr std::size_t kMost = 1 << 18;  // with more words, contention is assumed

  std::unordered_map<ir::u64, ir::u64> owners_;  // by word
  bool contended_ = false;
};

}  // namespace vgpu::observer
