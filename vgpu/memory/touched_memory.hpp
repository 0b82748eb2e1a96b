// SPDX-License-Identifier: Apache-2.0
// Which device memory a launch touches, in pieces of an allocation, and what each piece held before
// the launch touched it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory/changes.hpp"
#include "memory/memory.hpp"
#include "memory/sums.hpp"

namespace vgpu {

// Part of an allocation. The hashes are of its bytes and of their marks in the shadow.
struct MemoryPiece {
  std::uint64_t begin = 0;
  std::uint32_t bytes = 0;
  bool marked = false;  // whether its bytes have marks
  std::uint64_t before = 0;
};

std::uint64_t hash_of(const MemoryPiece& piece, const Shadow* shadow);

// Thread-safe.
class TouchedMemory {
 public:
  static constexpr std::uint32_t kPieceBytes = 4096;

  // Of a launch with this map of allocations.
  TouchedMemory(std::shared_ptr<const AllocationMap> map, const Changes& changes,
                const Shadow* shadow);
  ~TouchedMemory();
  TouchedMemory(const TouchedMemory&) = delete;
  TouchedMemory& operator=(const TouchedMemory&) = delete;

  // To be called before the access. Returns a range around the address that is now noted as
  // touched.
  AddressRange touch(const Allocation& allocation, std::uint64_t address);
  void touch(const Allocation& allocation, std::uint64_t address, std::uint64_t bytes);

  // The same of an access that adds to a float, where the launch accesses the piece in no other
  // way.
  AddressRange add_to(const Allocation& allocation, std::uint64_t address);
  // What such accesses have added, after the launch; none if that is not known.
  void set_sums(std::optional<Sums> sums);
  Sums take_sums() { return std::move(sums_); }

  // Whether all touched memory is known, and changes only where Changes says so.
  bool is_complete() const { return complete_; }

  // After the launch.
  std::vector<Allocation> allocations() const;
  std::vector<MemoryPiece> pieces() const;  // in order of address
  std::vector<MemoryPiece> summed() const;  // to which it only adds; not among the others

 private:
  struct Table;
  Table* table_of(const Allocation& allocation);
  template <class Wanted>
  std::vector<MemoryPiece> pieces_where(Wanted wanted) const;

  std::shared_ptr<const AllocationMap> map_;
  const Changes& changes_;
  const Shadow* shadow_;
  std::vector<std::atomic<Table*>> tables_;  // by index of the allocation in the map
  std::atomic<bool> complete_ = true;
  Sums sums_;
};

}  // namespace vgpu
