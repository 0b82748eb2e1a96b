// SPDX-License-Identifier: Apache-2.0
#include "memory/reservation.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace vgpu {

Reservation::Reservation(std::size_t bytes) {
  void* const at =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return;
  begin_ = static_cast<char*>(at);
  bytes_ = bytes;
}

Reservation::~Reservation() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
}

bool Reservation::open(std::size_t bytes) {
  constexpr std::size_t kStep = std::size_t{16} << 20;
  if (bytes <= opened_) return true;
  if (bytes > bytes_) return false;
  const std::size_t end = std::min((bytes + kStep - 1) / kStep * kStep, bytes_);
  if (mprotect(begin_, end, PROT_READ | PROT_WRITE) != 0) return false;
  // Large pages make first accesses to much memory cheaper. The first step keeps small pages, for
  // programs that use little.
  const std::size_t small = std::max(opened_, kStep);
  if (end > small) madvise(begin_ + small, end - small, MADV_HUGEPAGE);
  opened_ = end;
  return true;
}

}  // namespace vgpu
