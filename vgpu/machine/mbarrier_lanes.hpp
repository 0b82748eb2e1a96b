// SPDX-License-Identifier: Apache-2.0
// Access to the lanes' operands of an mbarrier instruction.
#pragma once
#include "machine/fault.hpp"

namespace vgpu::machine {

inline constexpr u32 kMostArrivals = (1u << 20) - 1;  // PTX ISA, "mbarrier: Range of the counts"

template <class T>
T operand(const Warp& warp, u32 slot, u32 lane) {
  return reinterpret_cast<const T*>(warp.window + slot)[lane];
}

// Groups the lanes of `mask` by mbarrier address: calls f(address, lanes) in the order of each
// group's first lane.
template <class F>
void for_each_address(u32 mask, const u32* addresses, F f) {
  while (mask != 0) {
    const u32 address = addresses[__builtin_ctz(mask)];
    u32 same = 0;
    for (const u32 lane : SetBits(mask))
      same |= static_cast<u32>(addresses[lane] == address) << lane;
    f(address, same);
    mask &= ~same;
  }
}

}  // namespace vgpu::machine
