// SPDX-License-Identifier: Apache-2.0
// Which allocation an address belongs to, and what an error message says of it.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "memory/memory_state.hpp"

namespace vgpu {
namespace {

// Maximum distance, in bytes, at which an error message names a neighbouring block.
constexpr std::uint64_t kNearby = std::uint64_t{16} << 20;
constexpr std::uint64_t kNullPage = 4096;

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string count_bytes(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

std::string title(const Allocation& block) {
  const std::string size = std::to_string(block.end - block.begin) + "-byte";
  const std::string at = " at " + hexadecimal(block.begin);
  if (!block.name.empty()) return "the " + size + " variable '" + block.name + "'" + at;
  return std::string(block.freed ? "the freed " : "the ") + size + " allocation" + at;
}

}  // namespace

const Allocation* AllocationMap::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(sorted_.begin(), sorted_.end(), address,
                       [](std::uint64_t a, const Allocation& block) { return a < block.begin; });
  if (after == sorted_.begin()) return nullptr;
  const Allocation& block = *std::prev(after);
  return address < block.end ? &block : nullptr;
}

std::optional<std::size_t> AllocationMap::index_of(const Allocation& allocation) const {
  const bool ours = &allocation >= sorted_.data() && &allocation < sorted_.data() + sorted_.size();
  const Allocation* const known = ours ? &allocation : find(allocation.begin);
  if (known == nullptr || known->freed || known->begin != allocation.begin ||
      known->end != allocation.end)
    return std::nullopt;
  return static_cast<std::size_t>(known - sorted_.data());
}

const Allocation* LaunchAllocations::find_since(std::uint64_t address) const {
  std::shared_ptr<const AllocationMap> now = memory_.map();
  const std::lock_guard lock(mutex_);
  if (now != first_ && (later_.empty() || later_.back() != now)) later_.push_back(now);
  return now->find(address);
}

const Allocation* AllocationCursor::search(std::uint64_t address, std::uint64_t bytes) {
  const Allocation* block = map_->find(address);
  if (block == nullptr || block->freed || bytes > block->end - address) return nullptr;
  last_ = block;
  begin_ = block->begin;
  size_ = block->end - block->begin;
  return block;
}

const AllocationMap& Memory::Impl::current() const {
  if (!map) {
    std::vector<Allocation> sorted;
    sorted.reserve(blocks.size() + adopted.size());
    // All blocks are in the arena, all adopted memory is outside.
    const auto split = blocks.empty() ? adopted.end() : adopted.lower_bound(blocks.begin()->first);
    for (auto block = adopted.begin(); block != split; ++block) sorted.push_back(block->second);
    for (const auto& [begin, block] : blocks) sorted.push_back(block);
    for (auto block = split; block != adopted.end(); ++block) sorted.push_back(block->second);
    map = std::make_shared<const AllocationMap>(std::move(sorted));
  }
  return *map;
}

std::shared_ptr<const AllocationMap> Memory::map() const {
  const std::lock_guard lock(impl_->mutex);
  impl_->current();
  return impl_->map;
}

std::string Memory::describe(std::uint64_t address) const {
  if (address < kNullPage) return "a null pointer";
  const std::shared_ptr<const AllocationMap> now = map();
  const std::vector<Allocation>& all = now->all();
  if (const Allocation* block = now->find(address)) {
    return count_bytes(address - block->begin) + " into " + title(*block);
  }
  const auto after =
      std::upper_bound(all.begin(), all.end(), address,
                       [](std::uint64_t a, const Allocation& block) { return a < block.begin; });
  const std::uint64_t behind = after == all.begin() ? kNearby : address - std::prev(after)->end;
  const std::uint64_t before = after == all.end() ? kNearby : after->begin - address;
  if (std::min(behind, before) >= kNearby)
    return "no allocation is near it; a pointer of the host?";
  if (behind <= before) return count_bytes(behind) + " past the end of " + title(*std::prev(after));
  return count_bytes(before) + " before " + title(*after);
}

}  // namespace vgpu
