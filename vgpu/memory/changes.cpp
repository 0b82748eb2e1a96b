// SPDX-License-Identifier: Apache-2.0
#include "memory/changes.hpp"

#include <algorithm>

namespace vgpu {
namespace {

constexpr std::uint64_t kStamped = 4096;
constexpr std::size_t kMostFills = 16;

std::size_t stamp_bytes(std::size_t bytes) {
  return (bytes / kStamped + 1) * sizeof(std::atomic<std::uint64_t>);
}

}  // namespace

Changes::Changes(std::uint64_t begin, std::size_t bytes)
    : begin_(begin), stamps_(stamp_bytes(bytes)) {}

bool Changes::open(std::size_t bytes) {
  if (stamps_.begin() == nullptr || !stamps_.open(stamp_bytes(bytes))) return false;
  opened_ = std::max<std::size_t>(opened_, bytes);
  return true;
}

void Changes::note(std::uint64_t address, std::size_t bytes) {
  if (bytes == 0 || !covers(address)) return;
  const std::uint64_t first = address - begin_, last = first + bytes - 1, now = ++now_;
  for (std::uint64_t page = first / kStamped; page <= last / kStamped; ++page)
    stamp(page).store(now, std::memory_order_relaxed);
}

void Changes::end_writing(bool anywhere) {
  if (anywhere) all_ = ++now_;
  --writers_;
}

bool Changes::any_since(std::uint64_t moment, std::uint64_t address, std::size_t bytes) const {
  if (all_ > moment || writers_ != 0) return true;
  if (bytes == 0) return false;
  const std::uint64_t first = address - begin_, last = first + bytes - 1;
  for (std::uint64_t page = first / kStamped; page <= last / kStamped; ++page) {
    if (stamp(page).load(std::memory_order_relaxed) > moment) return true;
  }
  return false;
}

void Changes::note_fill(std::uint64_t address, std::size_t bytes, int value) {
  std::erase_if(fills_, [&](const Fill& fill) { return fill.address == address; });
  if (fills_.size() == kMostFills) fills_.erase(fills_.begin());
  fills_.push_back({address, bytes, value, now_});
}

bool Changes::is_filled(std::uint64_t address, std::size_t bytes, int value) const {
  return std::any_of(fills_.begin(), fills_.end(), [&](const Fill& fill) {
    return fill.address == address && fill.bytes == bytes && fill.value == value &&
           !any_since(fill.moment, address, bytes);
  });
}

}  // namespace vgpu
