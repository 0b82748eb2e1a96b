// SPDX-License-Identifier: Apache-2.0
#include "memory/shadow.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace vgpu {
namespace {

constexpr std::uint8_t kWhole = 15;
constexpr unsigned kDoubtShift = 4;
constexpr std::uint64_t kPage = 4096;

std::size_t rows_of(std::size_t bytes) {
  constexpr std::size_t kRow = 4 * Shadow::kRowWords;
  return (bytes + kRow - 1) / kRow;
}

// Bit mask of the bytes [first, last) of a word.
std::uint8_t bits(std::uint64_t first, std::uint64_t last) {
  return static_cast<std::uint8_t>(((1u << (last - first)) - 1) << first);
}

void clear(std::uint8_t* begin, std::uint8_t* end) {
  const auto first = (reinterpret_cast<std::uint64_t>(begin) + kPage - 1) / kPage * kPage;
  const auto last = reinterpret_cast<std::uint64_t>(end) / kPage * kPage;
  if (last <= first) {
    std::memset(begin, 0, static_cast<std::size_t>(end - begin));
    return;
  }
  std::memset(begin, 0, first - reinterpret_cast<std::uint64_t>(begin));
  madvise(begin + (first - reinterpret_cast<std::uint64_t>(begin)), last - first, MADV_DONTNEED);
  std::memset(end - (reinterpret_cast<std::uint64_t>(end) - last), 0,
              reinterpret_cast<std::uint64_t>(end) - last);
}

}  // namespace

Shadow::Shadow(std::uint64_t begin, std::size_t bytes)
    : begin_(begin),
      bytes_(bytes / 4 * 4),
      marks_(bytes_ / 4),
      touches_(rows_of(bytes_) * kRowWords * 4),
      row_touches_(rows_of(bytes_) * 4) {
  if (marks_.begin() == nullptr || touches_.begin() == nullptr || row_touches_.begin() == nullptr ||
      !open(4)) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot reserve addresses for the memory checks");
  }
  written_ = reinterpret_cast<std::uint8_t*>(marks_.begin());
  touched_ = reinterpret_cast<std::uint32_t*>(touches_.begin());
  rows_ = reinterpret_cast<std::uint32_t*>(row_touches_.begin());
}

bool Shadow::open(std::size_t bytes) {
  return marks_.open((bytes + 3) / 4) && touches_.open(rows_of(bytes) * kRowWords * 4) &&
         row_touches_.open(rows_of(bytes) * 4);
}

void Shadow::mark_written(std::uint64_t address, std::size_t size) {
  if (size == 0) return;
  const std::uint64_t first = address - begin_, last = first + size;
  const std::uint64_t word = first / 4, end = last / 4;
  if (word == end) {
    written_[word] |= bits(first % 4, last % 4);
    return;
  }
  written_[word] |= bits(first % 4, 4);
  std::memset(written_ + word + 1, kWhole, end - word - 1);
  if (last % 4 != 0) written_[end] |= bits(0, last % 4);
}

void Shadow::forget(std::uint64_t address, std::size_t size) {
  const std::uint64_t first = (address - begin_) / 4, last = (address - begin_ + size + 3) / 4;
  clear(written_ + first, written_ + last);
}

std::uint64_t Shadow::first_unwritten(std::uint64_t address, std::size_t size) const {
  for (std::uint64_t byte = address - begin_; byte != address - begin_ + size; ++byte) {
    // Blocks on other host threads mark what they write meanwhile.
    const std::uint8_t mark = __atomic_load_n(written_ + byte / 4, __ATOMIC_RELAXED);
    if ((mark >> byte % 4 & 1) == 0) return byte + begin_;
  }
  return address + size;
}

void Shadow::doubt(std::uint64_t address, std::size_t size) {
  for (std::uint64_t byte = address - begin_; byte != address - begin_ + size; ++byte) {
    std::uint8_t& mark = written_[byte / 4];
    mark = static_cast<std::uint8_t>((mark & ~(1u << byte % 4)) | (1u << (byte % 4 + kDoubtShift)));
  }
}

std::uint64_t Shadow::first_in_doubt(std::uint64_t address, std::size_t size) const {
  for (std::uint64_t byte = address - begin_; byte != address - begin_ + size; ++byte) {
    const unsigned mark = written_[byte / 4] >> byte % 4;
    if ((mark & 1) == 0 && (mark >> kDoubtShift & 1) != 0) return byte + begin_;
  }
  return address + size;
}

void Shadow::copy_written(std::uint64_t to, std::uint64_t from, std::size_t size) {
  if (to % 4 == 0 && from % 4 == 0 && size % 4 == 0) {
    std::memmove(written_ + (to - begin_) / 4, written_ + (from - begin_) / 4, size / 4);
    return;
  }
  const auto copy_byte = [&](std::size_t i) {
    const std::uint64_t source = from - begin_ + i, target = to - begin_ + i;
    constexpr unsigned kBits = 1u | 1u << kDoubtShift;
    const unsigned bits_of_byte = written_[source / 4] >> source % 4 & kBits;
    std::uint8_t& mark = written_[target / 4];
    mark = static_cast<std::uint8_t>((mark & ~(kBits << target % 4)) | bits_of_byte << target % 4);
  };
  if (to <= from) {
    for (std::size_t i = 0; i < size; ++i) copy_byte(i);
  } else {
    for (std::size_t i = size; i-- > 0;) copy_byte(i);
  }
}

void Shadow::part(std::uint32_t* row, std::uint32_t* words, std::uint32_t first) {
  const std::uint32_t parted = kStoring | first;
  std::uint32_t old = __atomic_load_n(row, __ATOMIC_ACQUIRE);
  for (;;) {
    const bool marked = (old & kMarkBits) >= first;
    if (old == kLocked) {
      old = __atomic_load_n(row, __ATOMIC_ACQUIRE);
      continue;
    }
    if (marked && (old & ~kMarkBits) == kStoring) return;
    if (!__atomic_compare_exchange_n(row, &old, marked ? kLocked : parted, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
      continue;
    if (!marked) return;
    for (std::uint64_t i = 0; i < kRowWords; ++i)
      __atomic_store_n(words + i, old, __ATOMIC_RELAXED);
    __atomic_store_n(row, parted, __ATOMIC_RELEASE);
    return;
  }
}

std::uint32_t Shadow::new_marks(std::uint64_t count) {
  constexpr std::uint64_t kMost = kMarkBits;
  if (count >= kMost - 1) return 0;
  if (next_mark_ + count > kMost) {
    madvise(touched_, bytes_, MADV_DONTNEED);
    madvise(rows_, rows_of(bytes_) * 4, MADV_DONTNEED);
    next_mark_ = 1;
  }
  const std::uint32_t first = next_mark_;
  next_mark_ += static_cast<std::uint32_t>(count);
  return first;
}

}  // namespace vgpu
