// SPDX-License-Identifier: Apache-2.0
// Sets of registers, for data flow.
#pragma once
#include <cstddef>
#include <vector>

#include "ir/program.hpp"

namespace vgpu::ptx {

using namespace ir;

class BitSet {
 public:
  explicit BitSet(std::size_t bits, bool set = false)
      : words_((bits + 63) / 64, set ? ~u64{0} : 0) {}
  void set(std::size_t i) { words_[i / 64] |= u64{1} << (i % 64); }
  void clear(std::size_t i) { words_[i / 64] &= ~(u64{1} << (i % 64)); }
  bool test(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }

  // Return whether *this changed.
  bool merge(const BitSet& other) {
    u64 changed = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      changed |= other.words_[i] & ~words_[i];
      words_[i] |= other.words_[i];
    }
    return changed != 0;
  }
  bool intersect(const BitSet& other) {
    u64 changed = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      changed |= words_[i] & ~other.words_[i];
      words_[i] &= other.words_[i];
    }
    return changed != 0;
  }
  bool merge_without(const BitSet& other, const BitSet& removed) {
    u64 changed = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const u64 added = other.words_[i] & ~removed.words_[i];
      changed |= added & ~words_[i];
      words_[i] |= added;
    }
    return changed != 0;
  }
  template <class F>
  void for_each(F f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (u64 m = words_[w]; m != 0; m &= m - 1)
        f(w * 64 + static_cast<std::size_t>(__builtin_ctzll(m)));
    }
  }

 private:
  std::vector<u64> words_;
};

}  // namespace vgpu::ptx
