// SPDX-License-Identifier: Apache-2.0
// The program's allocations and the functions that returned them. The device's memory itself only
// records bounds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "runtime/api.hpp"

namespace vgpu::runtime {

struct Context;  // context.hpp

enum class Origin {
  kDevice,
  kManaged,
  kPinnedHost,
  kRegisteredHost,
  kMapped  // device memory at a reserved address (cuMemMap)
};

struct Block {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  Origin origin{};
  int device = 0;      // device ordinal; for host memory, the current device of the call
  unsigned flags = 0;  // as passed to cudaHostAlloc, cudaHostRegister or cudaMallocManaged
  const void* caller = nullptr;   // code address of the caller
  unsigned long long number = 0;  // sequence number, from 1
  cudaMemPool_t pool = nullptr;   // of stream-ordered allocations
  bool of_graph = false;          // GraphMemory
  const Context* context = nullptr;
};

class Pointers {
 public:
  Block& add(const void* begin, std::size_t bytes, Origin origin, int device, unsigned flags = 0) {
    const auto key = reinterpret_cast<std::uintptr_t>(begin);
    remove(begin);
    Block& block = blocks_[key] = {key,     bytes,    origin,  device, flags,
                                   nullptr, ++added_, nullptr, false,  nullptr};
    if (counts(block)) bytes_on_[device] += bytes;
    managed_ += origin == Origin::kManaged ? 1 : 0;
    return block;
  }
  void remove(const void* begin) {
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(begin));
    if (found == blocks_.end()) return;
    if (counts(found->second)) bytes_on_[found->second.device] -= found->second.bytes;
    managed_ -= found->second.origin == Origin::kManaged ? 1 : 0;
    blocks_.erase(found);
  }

  bool has_managed() const { return managed_ != 0; }

  // Counts memory of a device that has no address, or no longer.
  void count(int device, std::size_t bytes) { bytes_on_[device] += bytes; }
  void uncount(int device, std::size_t bytes) { bytes_on_[device] -= bytes; }

  // The block that starts at `pointer`, or the block that contains it; null if there is none. The
  // result is valid until the next change.
  Block* starting_at(const void* pointer) {
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(pointer));
    return found == blocks_.end() ? nullptr : &found->second;
  }
  const Block* starting_at(const void* pointer) const {
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(pointer));
    return found == blocks_.end() ? nullptr : &found->second;
  }
  const Block* covering(const void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    auto next = blocks_.upper_bound(address);
    if (next == blocks_.begin()) return nullptr;
    const Block& block = std::prev(next)->second;
    return address - block.begin < block.bytes ? &block : nullptr;
  }
  // Whether a block overlaps the range.
  bool overlaps(const void* pointer, std::size_t bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto next = blocks_.lower_bound(address);
    return covering(pointer) != nullptr || (next != blocks_.end() && next->first < address + bytes);
  }
  // Bytes allocated on a device. Host memory does not count.
  std::size_t bytes_on(int device) const {
    const auto found = bytes_on_.find(device);
    return found == bytes_on_.end() ? 0 : found->second;
  }

  const std::map<std::uintptr_t, Block>& all() const { return blocks_; }

 private:
  static bool counts(const Block& block) {
    return block.origin == Origin::kDevice || block.origin == Origin::kManaged;
  }

  unsigned long long added_ = 0;
  std::size_t managed_ = 0;
  std::map<int, std::size_t> bytes_on_;  // by device ordinal
  std::map<std::uintptr_t, Block> blocks_;
};

}  // namespace vgpu::runtime
