// SPDX-License-Identifier: Apache-2.0
// When the pages of device memory were changed last. Code that changes memory records it
// afterwards, before the record is next read, or announces the change.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/reservation.hpp"

namespace vgpu {

// Thread-safe.
class Changes {
 public:
  Changes(std::uint64_t begin, std::size_t bytes);

  // Covers the first `bytes` bytes of the memory. False if the kernel refuses.
  bool open(std::size_t bytes);
  bool covers(std::uint64_t address) const { return address - begin_ < opened_; }

  void note(std::uint64_t address, std::size_t bytes);
  // Somebody changes memory without noting it, until `end_writing`. `anywhere`: what it has changed
  // was not noted afterwards either.
  void begin_writing() { ++writers_; }
  void end_writing(bool anywhere);
  // Number of changes so far.
  std::uint64_t now() const { return now_; }
  // Whether a page of the range may have changed after `moment`, a value of now().
  bool any_since(std::uint64_t moment, std::uint64_t address, std::size_t bytes) const;

  // The range was filled with a value. Remembers the last few fills.
  void note_fill(std::uint64_t address, std::size_t bytes, int value);
  // Whether it was filled so and has not changed since.
  bool is_filled(std::uint64_t address, std::size_t bytes, int value) const;

 private:
  struct Fill {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
    int value = 0;
    std::uint64_t moment = 0;
  };
  std::atomic<std::uint64_t>& stamp(std::uint64_t page) const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(stamps_.begin())[page];
  }

  std::uint64_t begin_;
  Reservation stamps_;  // by page
  std::atomic<std::size_t> opened_ = 0;
  std::atomic<std::uint64_t> now_ = 0, all_ = 0;  // all_: the last change anywhere
  std::atomic<unsigned> writers_ = 0;
  std::vector<Fill> fills_;  // oldest first; used by one thread at a time
};

}  // namespace vgpu
