// SPDX-License-Identifier: Apache-2.0
// Functions of bits that PTX and machine code have alike: lop3, prmt, brev.
#pragma once
#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {

// lop3: the bits of a truth table by the bits of a, b and c.
[[gnu::always_inline]] inline u32 look_up(u32 table, u32 a, u32 b, u32 c) {
  const auto row = [table](u32 n) { return 0u - (table >> n & 1); };
  const auto choose = [](u32 by, u32 off, u32 on) { return off ^ (by & (off ^ on)); };
  const u32 off = choose(b, choose(c, row(0), row(1)), choose(c, row(2), row(3)));
  const u32 on = choose(b, choose(c, row(4), row(5)), choose(c, row(6), row(7)));
  return choose(a, off, on);
}

[[gnu::always_inline]] inline u32 reverse32(u32 a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(a);
}

// Four bytes of a (0 to 3) and b (4 to 7), each by four bits of `selectors`: its number, and
// whether to replicate its sign instead.
[[gnu::always_inline]] inline u32 permuted(u32 a, u32 b, u32 selectors) {
  u32 result = 0;
  for (u32 k = 0; k < 4; ++k) {
    const u32 selector = selectors >> 4 * k;
    const u32 byte = ((selector & 4) != 0 ? b : a) >> 8 * (selector & 3) & 0xff;
    const u32 sign = 0u - (byte >> 7);
    result |= ((selector & 8) != 0 ? sign & 0xff : byte) << 8 * k;
  }
  return result;
}

}  // namespace vgpu::machine::VGPU_ISA
