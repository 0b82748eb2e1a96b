// SPDX-License-Identifier: Apache-2.0
// Which bytes of device memory were written, which are in doubt, and when they changed last.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>

#include "ir/fault.hpp"
#include "memory/memory_state.hpp"

namespace vgpu {

// The live allocation at the address if its bytes have, or may have, marks; null for allocations
// that always count as written.
Allocation* Memory::Impl::tracked(std::uint64_t address) {
  const auto next = blocks.upper_bound(address);
  if (shadow == nullptr || next == blocks.begin()) return nullptr;
  Allocation& block = std::prev(next)->second;
  const bool variable = !block.name.empty();
  return address >= block.end || block.freed || block.shared || variable ? nullptr : &block;
}

// Gives an allocation that was written as a whole marks per byte.
void Memory::Impl::part_by_part(Allocation& block) {
  if (!block.written) return;
  block.written = false;
  map.reset();
  shadow->forget(block.begin, block.end - block.begin);
  shadow->mark_written(block.begin, block.end - block.begin);
}

void Memory::track(bool by_block) {
  const std::lock_guard lock(impl_->mutex);
  impl_->tracks = true;
  impl_->tracks_blocks |= by_block;
  if (impl_->shadow != nullptr || impl_->arena.begin() == nullptr) return;
  impl_->shadow = std::make_unique<Shadow>(impl_->begin(), impl_->arena.bytes());
  if (!impl_->shadow->open(impl_->arena.opened()))
    throw std::system_error(errno, std::generic_category(), "no memory for the memory checks");
}

Shadow* Memory::shadow() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shadow.get();
}

void Memory::mark_written(const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::lock_guard lock(impl_->mutex);
  impl_->note_change(address, bytes);
  if (impl_->shadow == nullptr || bytes == 0) return;
  const auto next = impl_->blocks.upper_bound(address);
  if (next == impl_->blocks.begin()) return;
  Allocation& block = std::prev(next)->second;
  if (block.written || address >= block.end) return;
  if (address == block.begin && address + bytes >= block.end) {
    block.written = true;
    impl_->map.reset();
  } else {
    impl_->shadow->mark_written(address, std::min<std::size_t>(bytes, block.end - address));
  }
}

void Memory::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const auto source = reinterpret_cast<std::uint64_t>(from),
             target = reinterpret_cast<std::uint64_t>(to);
  bool known = false;    // whether all changes of the destination are noted, and both are written
  bool tracked = false;  // whether the source may have unwritten bytes
  {
    const std::lock_guard lock(impl_->mutex);
    const Allocation *const block = impl_->find(source), *const other = impl_->find(target);
    tracked = impl_->shadow != nullptr && block != nullptr && !block->written;
    known = impl_->changes != nullptr && impl_->changes->covers(target) && other != nullptr &&
            !other->shared && other->written && !tracked && impl_->doubts.empty();
  }
  if (known && std::memcmp(to, from, bytes) == 0) return;
  std::memmove(to, from, bytes);
  if (!tracked) return mark_written(to, bytes);
  const std::lock_guard lock(impl_->mutex);
  impl_->note_change(target, bytes);
  Allocation* const other = impl_->tracked(target);
  if (other == nullptr) return;
  const bool in_doubt =
      !impl_->doubts.empty() && impl_->shadow->first_in_doubt(source, bytes) != source + bytes;
  if (other->written && !in_doubt) return;
  if (in_doubt) impl_->part_by_part(*other);
  impl_->shadow->copy_written(target, source, bytes);
}

void Memory::fill(void* to, int value, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(to);
  Changes* known = nullptr;
  {
    const std::lock_guard lock(impl_->mutex);
    const Allocation* const block = impl_->find(address);
    if (impl_->changes != nullptr && impl_->changes->covers(address) && !block->shared)
      known = impl_->changes.get();
  }
  if (known != nullptr && known->is_filled(address, bytes, value)) return;
  std::memset(to, value, bytes);
  mark_written(to, bytes);
  if (known != nullptr) known->note_fill(address, bytes, value);
}

Changes* Memory::watch_changes() {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->changes == nullptr && impl_->arena.begin() != nullptr) {
    auto made = std::make_unique<Changes>(impl_->begin(), impl_->arena.bytes());
    if (made->open(impl_->arena.opened())) impl_->changes = std::move(made);
  }
  return impl_->changes.get();
}

Changes* Memory::changes() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->changes.get();
}

void Memory::share(const void* pointer) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->blocks.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == impl_->blocks.end()) return;
  found->second.written = found->second.shared = true;
  impl_->map.reset();
}

bool Memory::can_doubt(const void* pointer) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->tracked(reinterpret_cast<std::uint64_t>(pointer)) != nullptr;
}

bool Memory::doubt(std::span<const Range> ranges, const Fault& why) {
  const std::lock_guard lock(impl_->mutex);
  if (ranges.empty()) return false;
  for (const Range& range : ranges) {
    if (impl_->tracked(range.begin) == nullptr) return false;
  }
  Range all = ranges.front();
  for (const Range& range : ranges) {
    impl_->part_by_part(*impl_->tracked(range.begin));
    impl_->shadow->doubt(range.begin, range.end - range.begin);
    impl_->note_change(range.begin, range.end - range.begin);
    all = {std::min(all.begin, range.begin), std::max(all.end, range.end)};
  }
  std::erase_if(impl_->doubts, [&](const auto& known) {
    return known.first.begin >= all.begin && known.first.end <= all.end;
  });
  impl_->doubts.emplace_back(all, std::make_shared<const Fault>(why));
  return true;
}

std::optional<Memory::Doubt> Memory::doubt_in(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::lock_guard lock(impl_->mutex);
  if (impl_->doubts.empty()) return std::nullopt;
  const Allocation* const block = impl_->tracked(address);
  if (block == nullptr || block->written) return std::nullopt;
  const std::uint64_t first = impl_->shadow->first_in_doubt(address, bytes);
  if (first == address + bytes) return std::nullopt;
  for (auto known = impl_->doubts.rbegin(); known != impl_->doubts.rend(); ++known) {
    if (first >= known->first.begin && first < known->first.end) return Doubt{first, known->second};
  }
  return Doubt{first, impl_->doubts.back().second};  // a copy of it
}

}  // namespace vgpu
