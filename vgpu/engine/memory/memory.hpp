// SPDX-License-Identifier: Apache-2.0
// Device memory: host memory with a map of its allocations. A device pointer is a host pointer, so
// that the runtime's copies are memmove; kernels go through an AllocationMap, which knows bounds
// and freed blocks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/memory/host_room.hpp"

namespace vgpu {

class Shadow;  // shadow.hpp
struct Fault;  // engine.hpp

struct Allocation {
  std::uint64_t begin = 0,
                end = 0;  // bytes; end is one past the last byte asked for (no padding counted)
  std::string name;       // of a module variable; "" for cudaMalloc
  bool freed = false;
  bool written = false;  // every byte was, as far as is tracked: by the host, or in one piece
  bool shared = false;   // with the host, which may read and write it unseen
};

// All allocations at one moment, live and freed, in order of address. Immutable: any number of
// threads may read.
class AllocationMap {
 public:
  explicit AllocationMap(std::vector<Allocation> sorted) : sorted_(std::move(sorted)) {}
  const Allocation* find(
      std::uint64_t address) const;  // live or freed, the one that covers it; null if none
  const std::vector<Allocation>& all() const { return sorted_; }

 private:
  std::vector<Allocation> sorted_;
};

// Thread-safe. Blocks of up to kFillLimit bytes are filled with 0xCD; larger ones are not touched,
// so that they cost no host memory until used, and read as zero.
class Memory {
 public:
  static constexpr std::size_t kAlignment = 512;
  static constexpr std::size_t kMinRedZone = 512;
  static constexpr std::size_t kFillLimit = std::size_t{256} << 20;
  static constexpr std::size_t kQuarantineBytes = std::size_t{256} << 20;
  static constexpr std::uint8_t kFill = 0xCD;

  // `capacity` bytes of device memory may be allocated at once (the virtual device's size), and no
  // more than the host has room for. Addresses are reserved by the first allocation: as many as the
  // process may have, at most half of those that a limit leaves it. Throws std::system_error for
  // more than 2^46 bytes.
  explicit Memory(
      std::size_t capacity, HostRoom (*host)() = [] { return host_room(); });
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // How much can be allocated now, together and in one block; `by` names what bounds it, "" for the
  // capacity.
  Bound room();
  // The host's memory that so many bytes of the device's take, with what is noted about them.
  std::uint64_t cost(std::uint64_t bytes) const;

  // Aligned to 512 bytes, with a red zone of at least 512 bytes to each neighbour (more behind
  // larger blocks). Null if it does not fit, or for 0 bytes. A freed block is kept back until
  // kQuarantineBytes have been freed after it, so that a use after free is found; it does not count
  // against the capacity.
  void* allocate(std::size_t bytes, std::string name = "");
  bool free(void* pointer);  // false: not the start of a live allocation
  // Lets kernels use host memory where it lies, until it is disowned. False: it shares bytes with a
  // block.
  bool adopt(void* pointer, std::size_t bytes, std::string name);
  bool disown(void* pointer);  // false: not the start of adopted memory
  bool contains(const void* pointer, std::size_t bytes) const;  // wholly inside one live allocation
  // Live or freed, the one that covers it; null if none. Valid until the next allocate or free.
  const Allocation* find(std::uint64_t address) const;
  std::string describe(
      std::uint64_t address) const;  // "4 bytes past the end of the 1024-byte allocation at 0x..."
  std::size_t allocated_bytes() const;
  std::size_t capacity() const;

  // Which bytes were written, for finding reads of others. Blocks that exist when tracking begins
  // count as written; so do variables and adopted memory, and until then (or without tracking)
  // everything. Kernels mark their stores in the shadow; host code says what it writes. `by_block`:
  // which blocks touched what, as well, which takes host memory of its own.
  void track(bool by_block = true);
  Shadow* shadow() const;  // null where nothing is tracked
  void mark_written(const void* pointer, std::size_t bytes);
  // As a copy does: what was not written is not written in the copy either.
  void copy_written(const void* to, const void* from, std::size_t bytes);

  // The host may read and write the live allocation that begins there unseen: it counts as written
  // for ever.
  void share(const void* pointer);

  // Bytes that a kernel wrote, but whose values came of something that was never written. They
  // count as not written until they are written again, and `why` says where they came from.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  struct Doubt {
    std::uint64_t address = 0;  // the first byte
    std::shared_ptr<const Fault> why;
  };
  // Not where nothing is tracked, in variables, and where the host sees them unseen.
  bool can_doubt(const void* pointer) const;
  // False, and nothing is done: some cannot be.
  bool doubt(std::span<const Range> ranges, const Fault& why);
  std::optional<Doubt> doubt_in(const void* pointer, std::size_t bytes) const;

  // For launches: lookups in it take no lock.
  std::shared_ptr<const AllocationMap> map() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One host thread's way into a map: remembers the allocation it hit last.
class AllocationCursor {
 public:
  explicit AllocationCursor(std::shared_ptr<const AllocationMap> map) : map_(std::move(map)) {}

  // The live allocation that holds all of [address, address + bytes), null if none does.
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
