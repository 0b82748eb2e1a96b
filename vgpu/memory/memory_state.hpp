// SPDX-License-Identifier: Apache-2.0
// Private state of device memory (memory.hpp).
#pragma once
#include <deque>
#include <map>
#include <utility>

#include "memory/changes.hpp"
#include "memory/holes.hpp"
#include "memory/memory.hpp"
#include "memory/reservation.hpp"
#include "memory/shadow.hpp"
#include "memory/turns.hpp"

namespace vgpu {

struct Memory::Impl {
  mutable std::mutex mutex;
  std::size_t capacity = 0, allocated = 0;
  Reservation arena;  // empty until something is allocated
  // Name of the limit that made the arena smaller than the capacity requires; "" if none
  std::string addresses_by;
  HostRoom (*host)() = nullptr;
  std::uint64_t resident_before = 0;  // of the process, when the arena was reserved
  // Host memory available for allocations before the host is queried again.
  std::uint64_t granted = 0;
  // Host memory, including allocated memory, as room() last reported.
  std::uint64_t host_total = 0;
  bool tracks = false, tracks_blocks = false;
  std::map<std::uint64_t, Allocation> blocks;   // live and in quarantine, by begin
  std::map<std::uint64_t, Allocation> adopted;  // host memory, outside the arena
  Holes holes;
  std::uint64_t never_used = 0;          // addresses from here on were never allocated
  std::deque<std::uint64_t> quarantine;  // begins, oldest first
  std::size_t quarantine_bytes = 0;
  Turns turns;
  std::unique_ptr<Shadow> shadow;    // null if nothing is tracked
  std::unique_ptr<Changes> changes;  // null if not watched
  // Reasons of doubts, latest last; the shadow holds the bytes.
  std::vector<std::pair<Range, std::shared_ptr<const Fault>>> doubts;
  mutable std::shared_ptr<const AllocationMap> map;  // null if it must be rebuilt

  std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(arena.begin()); }
  char* at(std::uint64_t address) const { return arena.begin() + (address - begin()); }
  bool reserve();
  bool open(std::uint64_t end);
  std::uint64_t cost(std::uint64_t bytes) const;
  std::uint64_t largest_hole() const;
  Allocation* retire(const void* pointer);
  Bound host_memory() const;
  bool afford(std::size_t bytes);
  void clear(std::uint64_t begin, std::uint64_t end);
  void release(const std::deque<std::uint64_t>::const_iterator& freed);
  void evict();
  std::uint64_t take_earlier_turn(std::size_t bytes);
  const AllocationMap& current() const;  // allocation_map.cpp
  const Allocation* find(std::uint64_t address) const;
  // written.cpp
  Allocation* tracked(std::uint64_t address);
  void part_by_part(Allocation& block);
  void note_change(std::uint64_t address, std::size_t bytes) {
    if (changes != nullptr) changes->note(address, bytes);
  }
};

}  // namespace vgpu
