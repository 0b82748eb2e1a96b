// SPDX-License-Identifier: Apache-2.0
// Free ranges of addresses; neighbours are joined.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace vgpu {

class Holes {
 public:
  // The beginning, a multiple of `alignment`, of `bytes` of the smallest range that has as many
  // there; 0 if there is none.
  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment);
  void give(std::uint64_t begin, std::uint64_t size);
  std::uint64_t largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  void add(std::uint64_t begin, std::uint64_t size);
  void remove(std::map<std::uint64_t, std::uint64_t>::iterator hole);

  std::map<std::uint64_t, std::uint64_t> by_begin_;            // sizes
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // size and beginning
};

}  // namespace vgpu
