// SPDX-License-Identifier: Apache-2.0
// What is remembered of every word (4 bytes) of device memory: which of its bytes were ever
// written, and which blocks touched it in the running launch. Flat arrays beside the memory itself,
// so that finding a word's entry is one division; they cost host memory only where they are used.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/memory/reservation.hpp"

namespace vgpu {

class Shadow {
 public:
  // Of `bytes` bytes from `begin`, a multiple of 4. Throws std::system_error where the addresses
  // cannot be reserved.
  Shadow(std::uint64_t begin, std::size_t bytes);
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  std::uint64_t begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  // So many bytes of the memory can be asked about and marked. False if the kernel refuses.
  bool open(std::size_t bytes);
  std::size_t opened() const {
    return marks_.opened() + touches_.opened();
  }  // bytes of the shadow itself
  bool covers(std::uint64_t address, std::size_t size) const {
    return address - begin_ < bytes_ && size <= bytes_ - (address - begin_);
  }

  // By word: a bit for each byte, set once it was written; above these another one, which says of a
  // byte that does not count as written that this is for a doubt.
  std::uint8_t* written() const { return written_; }
  void mark_written(std::uint64_t address, std::size_t size);
  void forget(std::uint64_t address, std::size_t size);
  bool is_written(std::uint64_t address, std::size_t size) const;
  void doubt(std::uint64_t address, std::size_t size);
  // The first byte in doubt; address + size if there is none.
  std::uint64_t first_in_doubt(std::uint64_t address, std::size_t size) const;
  // The marks of one range become another's; the two may overlap.
  void copy_written(std::uint64_t to, std::uint64_t from, std::size_t size);

  // By word: how blocks touched it (kRead..., the two upper bits) and the mark of one of them.
  // Marks of one launch are greater than all of earlier ones.
  static constexpr std::uint32_t kReadByOne = 0, kReadBySeveral = 1u << 30, kWritten = 2u << 30;
  static constexpr std::uint32_t kMarkBits = kReadBySeveral - 1;
  std::uint32_t* touched() const { return touched_; }
  // The least mark of a launch that needs `count` of them, counted from 1. 0 if `count` is beyond
  // 30 bits.
  std::uint32_t new_marks(std::uint64_t count);

 private:
  std::uint64_t begin_;
  std::size_t bytes_;
  Reservation marks_, touches_;
  std::uint8_t* written_ = nullptr;
  std::uint32_t* touched_ = nullptr;
  std::uint32_t next_mark_ = 1;
};

}  // namespace vgpu
