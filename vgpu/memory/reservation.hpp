// SPDX-License-Identifier: Apache-2.0
// A reserved range of addresses that is made accessible from its beginning on. The rest costs only
// addresses: neither memory nor any of the kernel's limits on writable mappings (RLIMIT_DATA,
// vm.overcommit_memory=2).
#pragma once
#include <cstddef>
#include <utility>

namespace vgpu {

class Reservation {
 public:
  Reservation() = default;
  explicit Reservation(std::size_t bytes);  // empty if the kernel refuses
  ~Reservation();
  Reservation(Reservation&& other) noexcept { swap(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    swap(other);
    return *this;
  }

  char* begin() const { return begin_; }  // null: empty
  std::size_t bytes() const { return bytes_; }
  std::size_t opened() const { return opened_; }
  // Makes the first `bytes` bytes readable and writable, initially zero. False if the kernel
  // refuses.
  bool open(std::size_t bytes);

 private:
  void swap(Reservation& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    std::swap(opened_, other.opened_);
  }

  char* begin_ = nullptr;
  std::size_t bytes_ = 0, opened_ = 0;
};

}  // namespace vgpu
