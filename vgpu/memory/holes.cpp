// SPDX-License-Identifier: Apache-2.0
#include "memory/holes.hpp"

#include <algorithm>
#include <iterator>

namespace vgpu {

void Holes::add(std::uint64_t begin, std::uint64_t size) {
  by_begin_.emplace(begin, size);
  by_size_.emplace(size, begin);
}

void Holes::remove(std::map<std::uint64_t, std::uint64_t>::iterator hole) {
  by_size_.erase({hole->second, hole->first});
  by_begin_.erase(hole);
}

std::uint64_t Holes::take(std::uint64_t bytes, std::uint64_t alignment) {
  const auto gap = [&](std::uint64_t begin) { return (alignment - begin % alignment) % alignment; };
  const auto found =
      std::find_if(by_size_.lower_bound({bytes, 0}), by_size_.end(),
                   [&](const auto& hole) { return hole.first >= bytes + gap(hole.second); });
  if (found == by_size_.end()) return 0;
  const auto [size, begin] = *found;
  const std::uint64_t before = gap(begin), after = size - before - bytes;
  remove(by_begin_.find(begin));
  if (before != 0) add(begin, before);
  if (after != 0) add(begin + before + bytes, after);
  return begin + before;
}

void Holes::give(std::uint64_t begin, std::uint64_t size) {
  const auto after = by_begin_.lower_bound(begin);
  if (after != by_begin_.end() && begin + size == after->first) {
    size += after->second;
    remove(after);
  }
  const auto next = by_begin_.lower_bound(begin);
  if (next != by_begin_.begin() && std::prev(next)->first + std::prev(next)->second == begin) {
    const auto before = std::prev(next);
    begin = before->first;
    size += before->second;
    remove(before);
  }
  add(begin, size);
}

}  // namespace vgpu
