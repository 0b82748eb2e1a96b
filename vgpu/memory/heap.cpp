// SPDX-License-Identifier: Apache-2.0
#include "memory/heap.hpp"

#include <algorithm>
#include <system_error>

namespace vgpu {
namespace {

// Allocation granularity in bytes; each block also takes a header of this size.
constexpr std::size_t kUnit = 16;
// Memory needs more space for small blocks than a heap does, so its capacity is larger by this
// factor.
constexpr std::size_t kSpread = 16;
constexpr std::uint64_t kNearHeap = std::uint64_t{1} << 20;

std::uint64_t cost(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit + kUnit; }

}  // namespace

std::size_t DeviceHeap::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool DeviceHeap::set_bytes(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (memory_ != nullptr) return false;
  bytes_ = bytes;
  return true;
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > bytes_ || cost(bytes) > bytes_ - std::min(bytes_, taken_)) return 0;
  if (memory_ == nullptr) {
    try {
      memory_ = std::make_unique<Memory>(kSpread * bytes_);
    } catch (const std::system_error&) {  // no addresses left
      return 0;
    }
  }
  void* const block = memory_->allocate(bytes);
  if (block == nullptr) return 0;
  const auto address = reinterpret_cast<std::uint64_t>(block);
  taken_ += cost(bytes);
  ++live_;
  lowest_ = std::min(lowest_, address);
  highest_ = std::max(highest_, address + bytes);
  return address;
}

bool DeviceHeap::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const Allocation* const block = memory_ == nullptr ? nullptr : memory_->find(address);
  if (block == nullptr || block->freed || block->begin != address) return false;
  taken_ -= cost(block->end - block->begin);
  --live_;
  return memory_->free(reinterpret_cast<void*>(address));  // NOLINT(performance-no-int-to-ptr)
}

const Allocation* DeviceHeap::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  return address < lowest_ || address >= highest_ ? nullptr : memory_->find(address);
}

std::optional<std::string> DeviceHeap::describe(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  if (memory_ == nullptr || address + kNearHeap < lowest_ || address >= highest_ + kNearHeap)
    return std::nullopt;
  return memory_->describe(address) + " on the device's heap";
}

std::size_t DeviceHeap::live_blocks() const {
  const std::lock_guard lock(mutex_);
  return live_;
}

std::size_t DeviceHeap::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return memory_ == nullptr ? 0 : memory_->allocated_bytes();
}

}  // namespace vgpu
