// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

// The positions of the ones in a mask, the lowest first: for (const u32 lane : SetBits(mask)).
class SetBits {
 public:
  struct Iterator {
    u32 left;
    [[gnu::always_inline]] u32 operator*() const { return static_cast<u32>(__builtin_ctz(left)); }
    [[gnu::always_inline]] Iterator& operator++() {
      left &= left - 1;
      return *this;
    }
    [[gnu::always_inline]] bool operator!=(const Iterator& other) const {
      return left != other.left;
    }
  };

  [[gnu::always_inline]] explicit SetBits(u32 mask) : mask_(mask) {}
  [[gnu::always_inline]] Iterator begin() const { return {mask_}; }
  [[gnu::always_inline]] Iterator end() const { return {0}; }

 private:
  u32 mask_;
};

}  // namespace vgpu::ir
