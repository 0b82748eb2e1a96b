// SPDX-License-Identifier: Apache-2.0
// Tracking data per word (4 bytes) of device memory: which of its bytes were ever written, and
// which blocks accessed it in the running launch. Flat arrays parallel to the memory, so that one
// division finds a word's entry. They cost host memory only where they are used.
#pragma once
#include <cstddef>
#include <cstdint>

#include "memory/reservation.hpp"

namespace vgpu {

class Shadow {
 public:
  // Tracks `bytes` bytes from `begin`, a multiple of 4. Throws std::system_error if the addresses
  // cannot be reserved.
  Shadow(std::uint64_t begin, std::size_t bytes);
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  std::uint64_t begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  // Makes the entries of the first `bytes` bytes of the memory accessible. False if the kernel
  // refuses.
  bool open(std::size_t bytes);
  std::size_t opened() const {
    return marks_.opened() + touches_.opened() + row_touches_.opened();
  }  // bytes of the shadow itself
  bool covers(std::uint64_t address, std::size_t size) const {
    return address - begin_ < bytes_ && size <= bytes_ - (address - begin_);
  }

  // Per word: the lower four bits say which bytes were written. The upper four say which unwritten
  // bytes are in doubt.
  std::uint8_t* written() const { return written_; }
  void mark_written(std::uint64_t address, std::size_t size);
  void forget(std::uint64_t address, std::size_t size);
  // Address of the first byte that was not written; address + size if there is none.
  std::uint64_t first_unwritten(std::uint64_t address, std::size_t size) const;
  bool is_written(std::uint64_t address, std::size_t size) const {
    return first_unwritten(address, size) == address + size;
  }
  void doubt(std::uint64_t address, std::size_t size);
  // Address of the first byte in doubt; address + size if there is none.
  std::uint64_t first_in_doubt(std::uint64_t address, std::size_t size) const;
  // Copies the marks from one range to another; the two may overlap.
  void copy_written(std::uint64_t to, std::uint64_t from, std::size_t size);

  // Per word: how blocks accessed it (the two upper bits) and the mark of one of these
  // blocks. Marks of a launch are greater than those of all earlier launches.
  // kStoring: a block is storing its first value, which is there when the mark is kWritten.
  static constexpr std::uint32_t kReadByOne = 0, kReadBySeveral = 1u << 30, kWritten = 2u << 30,
                                 kStoring = 3u << 30;
  static constexpr std::uint32_t kMarkBits = kReadBySeveral - 1;
  std::uint32_t* touched() const { return touched_; }

  // The same per row of words, while all accesses were to the whole row. Then kStoring with the
  // launch's first mark says that its words have marks of their own, and kLocked that another host
  // thread changes the row.
  static constexpr std::uint64_t kRowWords = 16;
  static constexpr std::uint32_t kLocked = kStoring | kMarkBits;
  std::uint32_t* rows() const { return rows_; }
  // Gives the words of a row marks of their own. `first`: the launch's first mark.
  static void part(std::uint32_t* row, std::uint32_t* words, std::uint32_t first);
  // Reserves `count` marks for a launch and returns the first, at least 1. Returns 0 if `count`
  // exceeds 30 bits.
  std::uint32_t new_marks(std::uint64_t count);

 private:
  std::uint64_t begin_;
  std::size_t bytes_;
  Reservation marks_, touches_, row_touches_;
  std::uint8_t* written_ = nullptr;
  std::uint32_t *touched_ = nullptr, *rows_ = nullptr;
  std::uint32_t next_mark_ = 1;
};

}  // namespace vgpu
