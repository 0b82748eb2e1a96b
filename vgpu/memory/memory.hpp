// SPDX-License-Identifier: Apache-2.0
// Device memory: host memory with a map of its allocations. A device pointer is a host pointer, so
// the runtime's copies are memmove. Kernels access memory through an AllocationMap, which knows
// bounds and freed blocks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/host_room.hpp"

namespace vgpu {

class Changes;  // changes.hpp
class Shadow;   // shadow.hpp
struct Fault;   // engine.hpp

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

struct Allocation {
  // Addresses; end is one past the last requested byte, without padding.
  std::uint64_t begin = 0, end = 0;
  std::string name;  // name of a module variable; "" for cudaMalloc
  bool freed = false;
  // Every byte was written, as far as is tracked: by the host or as a whole.
  bool written = false;
  bool shared = false;  // the host may access it without the engine's knowledge
};

// A snapshot of all allocations, live and freed, in order of address. Immutable: any number of
// threads may read it.
class AllocationMap {
 public:
  explicit AllocationMap(std::vector<Allocation> sorted) : sorted_(std::move(sorted)) {}
  // The allocation, live or freed, that contains the address; null if none.
  const Allocation* find(std::uint64_t address) const;
  // The index of the same allocation, of this map or another one; none if it is not live here.
  std::optional<std::size_t> index_of(const Allocation& allocation) const;
  const std::vector<Allocation>& all() const { return sorted_; }

 private:
  std::vector<Allocation> sorted_;
};

// Thread-safe. A new block is zero, and its pages cost host memory only once they are touched.
class Memory {
 public:
  static constexpr std::size_t kAlignment = 512;
  // A GPU maps large allocations by pages of 2 MB of their own. Programs divide them at multiples
  // of a page's size.
  static constexpr std::size_t kLargeBlock = std::size_t{1} << 20;
  static constexpr std::size_t kLargeAlignment = std::size_t{2} << 20;
  static constexpr std::size_t kMinRedZone = 512;
  static constexpr std::size_t kQuarantineBytes = std::size_t{256} << 20;

  // `capacity`: the virtual device's memory size in bytes; no more can be allocated at once, nor
  // more than the host has room for. The first allocation reserves addresses: as many as the
  // process may have, and at most half of those that a limit leaves. Throws std::system_error for
  // more than 2^46 bytes.
  explicit Memory(
      std::size_t capacity, HostRoom (*host)() = [] { return host_room(); });
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // How much can be allocated now, in total and in one block. `by` names the limit; "" for the
  // capacity.
  Bound room();
  // Host memory that `bytes` bytes of device memory take, including the tracking data.
  std::uint64_t cost(std::uint64_t bytes) const;

  // Returns memory aligned to 512 bytes, for kLargeBlock or more to kLargeAlignment, with a red
  // zone of at least 512 bytes to each neighbour (more after larger blocks). Null if it does not
  // fit, or for 0 bytes. To detect use after free, a freed block is quarantined until
  // kQuarantineBytes have been freed after it; it does not count against the capacity. A loop that
  // alternately allocates and frees blocks of one size gets two blocks in turn.
  void* allocate(std::size_t bytes, std::string name = "");
  bool free(void* pointer);  // false: not the start of a live allocation
  // Memory that is freed and allocated again at the same address, as that of graphs. After
  // suspend() nothing else gets the address until it is resumed and freed.
  bool suspend(void* pointer);  // false: not the start of a live allocation
  bool resume(void* pointer);   // false: does not fit
  // Lets kernels access this host memory in place, until disown(). False if it overlaps a block.
  bool adopt(void* pointer, std::size_t bytes, std::string name);
  bool disown(void* pointer);  // false: not the start of adopted memory
  // Whether the range is entirely inside one live allocation.
  bool contains(const void* pointer, std::size_t bytes) const;
  // The allocation, live or freed, that contains the address; null if none. Valid until the next
  // allocate or free.
  const Allocation* find(std::uint64_t address) const;
  std::string describe(
      std::uint64_t address) const;  // "4 bytes past the end of the 1024-byte allocation at 0x..."
  std::size_t allocated_bytes() const;
  std::size_t capacity() const;

  // Tracks which bytes were written, to find reads of unwritten ones. Blocks that exist when
  // tracking begins count as written, as do variables and adopted memory; without tracking
  // everything does. Kernels mark their stores in the shadow; host code calls mark_written.
  // `by_block`: also tracks which blocks accessed which words, which takes additional host memory.
  void track(bool by_block = true);
  Shadow* shadow() const;  // null if nothing is tracked
  void mark_written(const void* pointer, std::size_t bytes);
  // Copies, unless the destination holds the same already. Bytes that are unwritten in the source
  // become unwritten in the destination.
  void copy(void* to, const void* from, std::size_t bytes);
  // Fills part of an allocation, unless it holds the value already, and marks it as written.
  void fill(void* to, int value, std::size_t bytes);

  // Notes from now on which pages change: by the functions of this class, and by kernels and others
  // that say so. Null if there is no memory yet.
  Changes* watch_changes();
  Changes* changes() const;  // null if not watched

  // The host may access the live allocation that begins at `pointer` without the engine's
  // knowledge. It counts as written from now on.
  void share(const void* pointer);

  // Bytes in doubt: a kernel wrote them, but computed their values from unwritten memory. They
  // count as unwritten until they are written again; `why` is the fault that reports the origin.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  struct Doubt {
    std::uint64_t address = 0;  // the first byte
    std::shared_ptr<const Fault> why;
  };
  // False without tracking, for variables, and for memory that the host accesses without the
  // engine's knowledge.
  bool can_doubt(const void* pointer) const;
  // Returns false and changes nothing if can_doubt is false for some of the ranges.
  bool doubt(std::span<const Range> ranges, const Fault& why);
  std::optional<Doubt> doubt_in(const void* pointer, std::size_t bytes) const;

  // For launches: lookups in the map take no lock.
  std::shared_ptr<const AllocationMap> map() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A launch's view of the allocations. The host may allocate while a kernel runs. Thread-safe.
class LaunchAllocations {
 public:
  explicit LaunchAllocations(const Memory& memory) : memory_(memory), first_(memory.map()) {}
  // Among those that existed when the launch began, live or freed; null if none.
  const Allocation* find(std::uint64_t address) const { return first_->find(address); }
  // Among those that exist now. Valid as long as this object.
  const Allocation* find_since(std::uint64_t address) const;
  const AllocationMap& first() const { return *first_; }

 private:
  const Memory& memory_;
  std::shared_ptr<const AllocationMap> first_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const AllocationMap>> later_;
};

// One host thread's access to a map; caches the last allocation found.
class AllocationCursor {
 public:
  explicit AllocationCursor(std::shared_ptr<const AllocationMap> map) : map_(std::move(map)) {}

  // The live allocation that contains [address, address + bytes); null if none.
  const Allocation* covering(std::uint64_t address, std::uint64_t bytes) {
    if (address - begin_ < size_ && bytes <= size_ - (address - begin_)) return last_;
    return search(address, bytes);
  }

 private:
  const Allocation* search(std::uint64_t address, std::uint64_t bytes);
  std::shared_ptr<const AllocationMap> map_;
  const Allocation* last_ = nullptr;
  std::uint64_t begin_ = 0, size_ = 0;
};

}  // namespace vgpu
