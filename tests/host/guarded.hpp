// SPDX-License-Identifier: Apache-2.0
// Arrays of floats that end at the end of a page whose neighbour is inaccessible: a read past the
// end crashes.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>

namespace ladder {

class GuardedFloats {
 public:
  explicit GuardedFloats(std::size_t count)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    const std::size_t bytes = count * sizeof(float);
    bytes_ = (bytes + page_ - 1) / page_ * page_ + page_;
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap");
    base_ = static_cast<std::byte*>(memory);
    if (mprotect(base_ + bytes_ - page_, page_, PROT_NONE) != 0)
      throw std::runtime_error("mprotect");
    data_ = reinterpret_cast<float*>(base_ + bytes_ - page_ - bytes);
  }
  ~GuardedFloats() { munmap(base_, bytes_); }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;

  float* data() { return data_; }
  float& operator[](std::size_t i) { return data_[i]; }

 private:
  std::size_t page_, bytes_ = 0;
  std::byte* base_ = nullptr;
  float* data_ = nullptr;
};

}  // namespace ladder
