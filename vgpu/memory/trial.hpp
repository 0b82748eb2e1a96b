// SPDX-License-Identifier: Apache-2.0
// Device memory of a launch that executes speculatively ("on trial"): its blocks run in any order,
// and their atomic additions of floats are made later, in the order of the blocks. The results are
// those of blocks that run in order, unless the launch accesses an allocation both by such
// additions and otherwise. Then the trial fails, and undo() restores memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory/memory.hpp"
#include "memory/sums.hpp"

namespace vgpu {

// Thread-safe.
class Trial {
 public:
  struct Failed {};  // thrown, and caught by the caller of the launch
  enum class Use { kLoad, kStore, kSum };

  // `map`: the allocations that the launch may access. `shadow` may be null. `keeps_sums`: whether
  // take_sums() will be called.
  Trial(std::shared_ptr<const AllocationMap> map, const Shadow* shadow, bool keeps_sums);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // To be called before the access. Returns a range around the address in which further accesses of
  // this kind need no call.
  AddressRange use(const Allocation& allocation, std::uint64_t address, Use how);
  void use(const Allocation& allocation, std::uint64_t address, std::uint64_t bytes, Use how);
  [[noreturn]] void fail();  // throws Failed, as use() does where the trial fails
  bool failed() const { return failed_; }

  // Records sums that have been added to memory. Not thread-safe.
  void added(std::vector<Sum> sums);
  // After the launch: all that was added, in order; none if that is too much.
  std::optional<Sums> take_sums() { return std::move(sums_); }
  void undo();  // after the launch

 private:
  struct Copies;
  struct Entry {
    std::atomic<std::uint8_t> uses = 0;
    std::atomic<Copies*> copies = nullptr;
  };
  void keep(const Allocation& allocation, Copies& copies, std::size_t piece);

  std::shared_ptr<const AllocationMap> map_;
  const Shadow* shadow_;
  std::vector<Entry> entries_;  // by index of the allocation in the map
  std::atomic<std::size_t> kept_bytes_ = 0;
  std::atomic<bool> failed_ = false;
  std::optional<Sums> sums_;
  std::size_t sum_count_ = 0;
};

}  // namespace vgpu
