// SPDX-License-Identifier: Apache-2.0
// Logic, shifts, bit fields and permutations, bit by bit as the PTX manual's pseudo code has them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "conformance.hpp"

namespace {

using namespace conformance;

template <class T>
T shifted_left(T a, u64 by) {
  if (by >= 8 * sizeof(T)) return 0;
  return static_cast<T>(static_cast<u64>(a) << by);
}

template <class T>
void logic(std::vector<Case>& cases) {
  const std::string bits = "b" + std::to_string(8 * sizeof(T));
  const std::string shape = types<T>(2);
  const std::string shift{letter(sizeof(T)), letter(sizeof(T)), 'r'};
  add(cases, "and." + bits, shape, [](u64 a, u64 b) { return a & b; });
  add(cases, "or." + bits, shape, [](u64 a, u64 b) { return a | b; });
  add(cases, "xor." + bits, shape, [](u64 a, u64 b) { return a ^ b; });
  add(cases, "not." + bits, types<T>(1), [](u64 a) { return ~a; });
  add(cases, "cnot." + bits, types<T>(1), [](T a) { return a == 0; });
  add(cases, "shl." + bits, shift, [](T a, u64 b) { return shifted_left(a, b); });
  add(cases, "shr.u" + bits.substr(1), shift,
      [](T a, u64 b) { return b >= 8 * sizeof(T) ? 0 : u64{a} >> b; });
  add(cases, "shr.s" + bits.substr(1), shift, [](u64 a, u64 b) {
    using S = std::make_signed_t<T>;
    return static_cast<u64>(i64{static_cast<S>(a)} >> std::min<u64>(b, 63));
  });
}

// Bit by bit, as the manual's pseudo code has it.
// As an H100 has it: the upper bits of a position or a length matter where the field has 64 bits.
template <class T>
u64 bound(u64 value) {
  return sizeof(T) == 8 ? std::min<u64>(value & 0xffffffff, 255) : value & 0xff;
}
template <class T>
u64 bfe(u64 a, u64 b, u64 c) {
  const u64 pos = bound<T>(b), len = bound<T>(c);
  const u64 msb = 8 * sizeof(T) - 1;
  u64 sign = 0;
  if (std::is_signed_v<T> && len != 0) sign = a >> std::min(pos + len - 1, msb) & 1;
  u64 d = 0;
  for (u64 i = 0; i <= msb; ++i) {
    const u64 bit = i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign;
    d |= bit << i;
  }
  return d;
}
template <class T>
u64 bfi(u64 a, u64 b, u64 c, u64 d) {
  const u64 pos = bound<T>(c), len = bound<T>(d);
  const u64 msb = 8 * sizeof(T) - 1;
  u64 f = b;
  for (u64 i = 0; i < len && pos + i <= msb; ++i) {
    f = (f & ~(u64{1} << (pos + i))) | (a >> i & 1) << (pos + i);
  }
  return f;
}
template <class T>
u64 bfind(u64 a, bool amount) {
  const u64 msb = 8 * sizeof(T) - 1;
  using U = std::make_unsigned_t<T>;
  U value = static_cast<U>(a);
  if (std::is_signed_v<T> && static_cast<T>(a) < 0) value = static_cast<U>(~value);
  for (u64 i = msb + 1; i-- > 0;) {
    if ((value >> i & 1) != 0) return amount ? msb - i : i;
  }
  return 0xffffffff;
}
template <class T>
u64 reversed(u64 a) {
  u64 d = 0;
  for (u64 i = 0; i < 8 * sizeof(T); ++i) d |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
  return d;
}
u64 lut(u64 a, u64 b, u64 c, u32 table) {
  u64 d = 0;
  for (int i = 0; i < 32; ++i) {
    const u64 index = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    d |= u64{table >> index & 1} << i;
  }
  return d;
}
u64 permuted(u64 a, u64 b, u64 selectors) {
  const u64 pair = b << 32 | a;
  u64 d = 0;
  for (int i = 0; i < 4; ++i) {
    const u64 s = selectors >> 4 * i & 0xf;
    u64 byte = pair >> 8 * (s & 7) & 0xff;
    if ((s & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    d |= byte << 8 * i;
  }
  return d;
}

std::vector<Case> bit_cases() {
  std::vector<Case> cases;
  logic<u16>(cases);
  logic<u32>(cases);
  logic<u64>(cases);
  add(cases, "popc.b32", "rr", [](u32 a) { return u64(std::popcount(a)); });
  add(cases, "popc.b64", "rd", [](u64 a) { return u64(std::popcount(a)); });
  add(cases, "clz.b32", "rr", [](u32 a) { return u64(std::countl_zero(a)); });
  add(cases, "clz.b64", "rd", [](u64 a) { return u64(std::countl_zero(a)); });
  add(cases, "bfind.u32", "rr", [](u64 a) { return bfind<u32>(a, false); });
  add(cases, "bfind.s32", "rr", [](u64 a) { return bfind<i32>(a, false); });
  add(cases, "bfind.u64", "rd", [](u64 a) { return bfind<u64>(a, false); });
  add(cases, "bfind.s64", "rd", [](u64 a) { return bfind<i64>(a, false); });
  add(cases, "bfind.shiftamt.u32", "rr", [](u64 a) { return bfind<u32>(a, true); });
  add(cases, "bfind.shiftamt.s64", "rd", [](u64 a) { return bfind<i64>(a, true); });
  add(cases, "brev.b32", "rr", [](u64 a) { return reversed<u32>(a); });
  add(cases, "brev.b64", "dd", [](u64 a) { return reversed<u64>(a); });
  add(cases, "bfe.u32", "rrrr", [](u64 a, u64 b, u64 c) { return bfe<u32>(a, b, c); });
  add(cases, "bfe.s32", "rrrr", [](u64 a, u64 b, u64 c) { return bfe<i32>(a, b, c); });
  add(cases, "bfe.u64", "ddrr", [](u64 a, u64 b, u64 c) { return bfe<u64>(a, b, c); });
  add(cases, "bfe.s64", "ddrr", [](u64 a, u64 b, u64 c) { return bfe<i64>(a, b, c); });
  add(cases, "bfi.b32", "rrrrr", [](u64 a, u64 b, u64 c, u64 d) { return bfi<u32>(a, b, c, d); });
  add(cases, "bfi.b64", "dddrr", [](u64 a, u64 b, u64 c, u64 d) { return bfi<u64>(a, b, c, d); });
  add(cases, "bmsk.clamp.b32", "rrr", [](u64 a, u64 b) {
    u64 d = 0;
    for (u64 i = std::min<u64>(a, 32); i < std::min<u64>(a, 32) + std::min<u64>(b, 32); ++i) {
      if (i < 32) d |= u64{1} << i;
    }
    return d;
  });
  add(cases, "bmsk.wrap.b32", "rrr",
      [](u64 a, u64 b) { return ((u64{1} << (b & 31)) - 1) << (a & 31); });
  add(cases, "szext.clamp.s32", "rrr",
      [](u64 a, u64 b) { return b >= 32 ? a : bfe<i32>(a, 0, b); });
  add(cases, "szext.wrap.u32", "rrr", [](u64 a, u64 b) { return bfe<u32>(a, 0, b & 31); });
  add(cases, "shf.l.wrap.b32", "rrrr",
      [](u64 a, u64 b, u64 c) { return (c & 31) == 0 ? b : b << (c & 31) | a >> (32 - (c & 31)); });
  add(cases, "shf.r.wrap.b32", "rrrr",
      [](u64 a, u64 b, u64 c) { return (b << 32 | a) >> (c & 31); });
  add(cases, "shf.l.clamp.b32", "rrrr", [](u64 a, u64 b, u64 c) {
    const u64 n = std::min<u64>(c, 32);
    return n == 32 ? a : n == 0 ? b : b << n | a >> (32 - n);
  });
  add(cases, "shf.r.clamp.b32", "rrrr", [](u64 a, u64 b, u64 c) {
    const u64 n = std::min<u64>(c, 32);
    return n == 32 ? b : (b << 32 | a) >> n;
  });
  for (u32 table : {0x00u, 0x80u, 0x96u, 0xe8u, 0x1bu, 0xf0u, 0xffu, 0x2au}) {
    add(cases, "lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", "rrrr",
        [table](u64 a, u64 b, u64 c) { return lut(a, b, c, table); });
  }
  add(cases, "lop3.or.b32 _|%d, %a, %b, %c, 0x80, %e;", "prrrp",
      [](u64 a, u64 b, u64 c, u64 e) { return u64{(a & b & c) != 0} | e; });
  add(cases, "lop3.and.b32 %d|_, %a, %b, %c, 0x96, %e;", "rrrrp",
      [](u64 a, u64 b, u64 c) { return a ^ b ^ c; });
  add(cases, "prmt.b32", "rrrr", [](u64 a, u64 b, u64 c) { return permuted(a, b, c); });
  constexpr u64 kForward[] = {0x3210, 0x4321, 0x5432, 0x6543};
  constexpr u64 kBackward[] = {0x5670, 0x6701, 0x7012, 0x0123};
  constexpr u64 kLeft[] = {0x3210, 0x3211, 0x3222, 0x3333};
  constexpr u64 kRight[] = {0x0000, 0x1110, 0x2210, 0x3210};
  add(cases, "prmt.b32.f4e", "rrrr",
      [=](u64 a, u64 b, u64 c) { return permuted(a, b, kForward[c & 3]); });
  add(cases, "prmt.b32.b4e", "rrrr",
      [=](u64 a, u64 b, u64 c) { return permuted(a, b, kBackward[c & 3]); });
  add(cases, "prmt.b32.rc8", "rrrr",
      [](u64 a, u64 b, u64 c) { return permuted(a, b, 0x1111 * (c & 3)); });
  add(cases, "prmt.b32.rc16", "rrrr",
      [](u64 a, u64 b, u64 c) { return permuted(a, b, (c & 1) != 0 ? 0x3232 : 0x1010); });
  add(cases, "prmt.b32.ecl", "rrrr",
      [=](u64 a, u64 b, u64 c) { return permuted(a, b, kLeft[c & 3]); });
  add(cases, "prmt.b32.ecr", "rrrr",
      [=](u64 a, u64 b, u64 c) { return permuted(a, b, kRight[c & 3]); });
  add(cases, "fns.b32", "rrrr",
      [](u64 a, u64 b, i32 c) -> u64 {
        const u64 base = b;
        const i32 offset = c;
        if (base > 31) return 0xffffffff;
        if (offset == 0) return (a >> base & 1) != 0 ? base : 0xffffffff;
        const i64 step = offset > 0 ? 1 : -1;
        i64 count = std::abs(i64{offset}) - 1;
        for (i64 pos = static_cast<i64>(base); pos >= 0 && pos < 32; pos += step) {
          if ((a >> pos & 1) != 0 && count-- == 0) return static_cast<u64>(pos);
        }
        return 0xffffffff;
      },
      {0xfffffffe, 0xfffffffd});
  return cases;
}

class BitInstruction : public testing::TestWithParam<Case> {};
TEST_P(BitInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Bits, BitInstruction, testing::ValuesIn(bit_cases()), with_index);

}  // namespace
