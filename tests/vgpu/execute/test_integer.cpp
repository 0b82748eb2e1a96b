// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, logic, shifts, bit fields and comparisons, by the PTX manual's definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "conformance.hpp"

namespace {

using namespace conformance;

char letter(std::size_t bytes) { return bytes == 2 ? 'h' : bytes == 4 ? 'r' : 'd'; }

template <class T>
std::string ptx_name() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}

template <class T>
std::string types(std::size_t operands) {
  return std::string(operands + 1, letter(sizeof(T)));
}

template <class T>
using WideOf = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <class T, class F>
Case binary(const std::string& op, F f) {
  return {op + "." + ptx_name<T>(),
          types<T>(2),
          [f](u64 a, u64 b, u64, u64) { return static_cast<u64>(f(static_cast<T>(a), static_cast<T>(b))); },
          {}};
}
template <class T, class F>
Case ternary(const std::string& op, F f) {
  return {op + "." + ptx_name<T>(),
          types<T>(3),
          [f](u64 a, u64 b, u64 c, u64) {
            return static_cast<u64>(f(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)));
          },
          {}};
}

// In 128 bits nothing wraps; the result is cut to the type afterwards.
template <class T>
void arithmetic(std::vector<Case>& cases) {
  using W = WideOf<T>;
  constexpr int kBits = 8 * sizeof(T);
  cases.push_back(binary<T>("add", [](T a, T b) { return static_cast<T>(W(a) + W(b)); }));
  cases.push_back(binary<T>("sub", [](T a, T b) { return static_cast<T>(W(a) - W(b)); }));
  cases.push_back(binary<T>("mul.lo", [](T a, T b) { return static_cast<T>(W(a) * W(b)); }));
  cases.push_back(binary<T>("mul.hi", [](T a, T b) { return static_cast<T>(W(a) * W(b) >> kBits); }));
  cases.push_back(ternary<T>("mad.lo", [](T a, T b, T c) {
    return static_cast<T>(static_cast<unsigned __int128>(W(a) * W(b)) + static_cast<unsigned __int128>(W(c)));
  }));
  cases.push_back(
      ternary<T>("mad.hi", [](T a, T b, T c) { return static_cast<T>((W(a) * W(b) >> kBits) + W(c)); }));
  cases.push_back(ternary<T>(
      "sad", [](T a, T b, T c) { return static_cast<T>(W(c) + (a < b ? W(b) - W(a) : W(a) - W(b))); }));
  cases.push_back(binary<T>("min", [](T a, T b) { return std::min(a, b); }));
  cases.push_back(binary<T>("max", [](T a, T b) { return std::max(a, b); }));
  cases.push_back(binary<T>("div", [](T a, T b) { return b == 0 ? T(-1) : static_cast<T>(W(a) / W(b)); }));
  cases.push_back(binary<T>("rem", [](T a, T b) { return b == 0 ? a : static_cast<T>(W(a) % W(b)); }));
  if constexpr (sizeof(T) < 8) {
    const char wide = letter(2 * sizeof(T)), narrow = letter(sizeof(T));
    cases.push_back(
        {"mul.wide." + ptx_name<T>(),
         {wide, narrow, narrow},
         [](u64 a, u64 b, u64, u64) { return static_cast<u64>(W(static_cast<T>(a)) * W(static_cast<T>(b))); },
         {}});
    cases.push_back({"mad.wide." + ptx_name<T>(),
                     {wide, narrow, narrow, wide},
                     [](u64 a, u64 b, u64 c, u64) {
                       return static_cast<u64>(W(static_cast<T>(a)) * W(static_cast<T>(b))) + c;
                     },
                     {}});
  }
  if constexpr (std::is_signed_v<T>) {
    cases.push_back({"neg." + ptx_name<T>(), types<T>(1), [](u64 a, u64, u64, u64) { return 0 - a; }, {}});
    cases.push_back({"abs." + ptx_name<T>(),
                     types<T>(1),
                     [](u64 a, u64, u64, u64) { return static_cast<T>(a) < 0 ? 0 - a : a; },
                     {}});
  }
}

i32 clamp32(i64 v) {
  return static_cast<i32>(
      std::clamp<i64>(v, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()));
}

u64 s32(i64 v) { return static_cast<u32>(v); }
i32 low24(u64 a) { return static_cast<i32>(static_cast<u32>(a) << 8) >> 8; }

std::vector<Case> arithmetic_cases() {
  std::vector<Case> cases;
  arithmetic<u16>(cases);
  arithmetic<i16>(cases);
  arithmetic<u32>(cases);
  arithmetic<i32>(cases);
  arithmetic<u64>(cases);
  arithmetic<i64>(cases);
  cases.push_back(
      {"add.sat.s32", "rrr", [](u64 a, u64 b, u64, u64) { return s32(clamp32(i64{i32(a)} + i32(b))); }, {}});
  cases.push_back(
      {"sub.sat.s32", "rrr", [](u64 a, u64 b, u64, u64) { return s32(clamp32(i64{i32(a)} - i32(b))); }, {}});
  cases.push_back(
      {"mad.hi.sat.s32",
       "rrrr",
       [](u64 a, u64 b, u64 c, u64) { return s32(clamp32((i64{i32(a)} * i32(b) >> 32) + i32(c))); },
       {}});
  cases.push_back(
      {"mul24.lo.u32", "rrr", [](u64 a, u64 b, u64, u64) { return (a & 0xffffff) * (b & 0xffffff); }, {}});
  cases.push_back({"mul24.hi.u32",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) { return (a & 0xffffff) * (b & 0xffffff) >> 16; },
                   {}});
  cases.push_back(
      {"mul24.lo.s32", "rrr", [](u64 a, u64 b, u64, u64) { return s32(i64{low24(a)} * low24(b)); }, {}});
  cases.push_back({"mul24.hi.s32",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) { return s32(i64{low24(a)} * low24(b) >> 16); },
                   {}});
  cases.push_back({"mad24.lo.s32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) { return s32(i64{low24(a)} * low24(b)) + c; },
                   {}});
  cases.push_back({"dp4a.s32.u32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) {
                     for (int k = 0; k < 4; ++k) c += static_cast<u64>(i64{i8(a >> 8 * k)} * u8(b >> 8 * k));
                     return c;
                   },
                   {}});
  cases.push_back({"dp4a.u32.u32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) {
                     for (int k = 0; k < 4; ++k) c += u64{u8(a >> 8 * k)} * u8(b >> 8 * k);
                     return c;
                   },
                   {}});
  cases.push_back({"dp2a.hi.s32.s32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) {
                     for (int k = 0; k < 2; ++k)
                       c += static_cast<u64>(i64{i16(a >> 16 * k)} * i8(b >> (16 + 8 * k)));
                     return c;
                   },
                   {}});
  cases.push_back({"dp2a.lo.u32.s32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) {
                     for (int k = 0; k < 2; ++k)
                       c += static_cast<u64>(i64{u16(a >> 16 * k)} * i8(b >> 8 * k));
                     return c;
                   },
                   {}});
  return cases;
}

// Carries: pairs of instructions, as compilers emit them.
std::vector<Case> carry_cases() {
  std::vector<Case> cases;
  const auto body = [](const std::string& text) {
    return "{ .reg .b32 l, h, m, n, o, q; mov.b64 {l, h}, %a; mov.b64 {m, n}, %b; " + text +
           " mov.b64 %d, {o, q}; }";
  };
  cases.push_back({body("add.cc.u32 o, l, m; addc.u32 q, h, n;"),
                   "ddd",
                   [](u64 a, u64 b, u64, u64) { return a + b; },
                   {}});
  cases.push_back({body("sub.cc.u32 o, l, m; subc.u32 q, h, n;"),
                   "ddd",
                   [](u64 a, u64 b, u64, u64) { return a - b; },
                   {}});
  // The low 64 bits of a 64 x 64 product: the cross terms go into the upper half.
  cases.push_back(
      {body("mul.lo.u32 o, l, m; mul.hi.u32 q, l, m; mad.lo.u32 q, l, n, q; mad.lo.u32 q, h, m, q;"),
       "ddd",
       [](u64 a, u64 b, u64, u64) { return a * b; },
       {}});
  cases.push_back(
      {body("mad.lo.cc.u32 o, l, m, h; madc.hi.u32 q, l, m, n;"),
       "ddd",
       [](u64 a, u64 b, u64, u64) { return u64{u32(a)} * u32(b) + ((a >> 32) | (b >> 32 << 32)); },
       {}});
  cases.push_back({"{ .reg .b64 t; add.cc.u64 t, %a, %b; addc.cc.u64 t, %c, %c; addc.u64 %d, 0, 0; }",
                   "dddd",
                   [](u64 a, u64 b, u64 c, u64) {
                     const u64 in = a + b < a;
                     return static_cast<u64>((static_cast<unsigned __int128>(c) + c + in) >> 64);
                   },
                   {}});
  return cases;
}

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
  cases.push_back({"and." + bits, shape, [](u64 a, u64 b, u64, u64) { return a & b; }, {}});
  cases.push_back({"or." + bits, shape, [](u64 a, u64 b, u64, u64) { return a | b; }, {}});
  cases.push_back({"xor." + bits, shape, [](u64 a, u64 b, u64, u64) { return a ^ b; }, {}});
  cases.push_back({"not." + bits, types<T>(1), [](u64 a, u64, u64, u64) { return ~a; }, {}});
  cases.push_back({"cnot." + bits, types<T>(1), [](u64 a, u64, u64, u64) { return u64{T(a) == 0}; }, {}});
  cases.push_back(
      {"shl." + bits, shift, [](u64 a, u64 b, u64, u64) { return u64{shifted_left(T(a), b)}; }, {}});
  cases.push_back({"shr.u" + bits.substr(1),
                   shift,
                   [](u64 a, u64 b, u64, u64) { return b >= 8 * sizeof(T) ? 0 : u64{T(a)} >> b; },
                   {}});
  cases.push_back({"shr.s" + bits.substr(1),
                   shift,
                   [](u64 a, u64 b, u64, u64) {
                     using S = std::make_signed_t<T>;
                     return static_cast<u64>(i64{static_cast<S>(a)} >> std::min<u64>(b, 63));
                   },
                   {}});
}

// Bit by bit, as the manual's pseudo code has it.
template <class T>
u64 bfe(u64 a, u64 b, u64 c) {
  const u64 pos = b & 0xff, len = c & 0xff;
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
  const u64 pos = c & 0xff, len = d & 0xff;
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
  cases.push_back({"popc.b32", "rr", [](u64 a, u64, u64, u64) { return u64(std::popcount(u32(a))); }, {}});
  cases.push_back({"popc.b64", "rd", [](u64 a, u64, u64, u64) { return u64(std::popcount(a)); }, {}});
  cases.push_back({"clz.b32", "rr", [](u64 a, u64, u64, u64) { return u64(std::countl_zero(u32(a))); }, {}});
  cases.push_back({"clz.b64", "rd", [](u64 a, u64, u64, u64) { return u64(std::countl_zero(a)); }, {}});
  cases.push_back({"bfind.u32", "rr", [](u64 a, u64, u64, u64) { return bfind<u32>(a, false); }, {}});
  cases.push_back({"bfind.s32", "rr", [](u64 a, u64, u64, u64) { return bfind<i32>(a, false); }, {}});
  cases.push_back({"bfind.u64", "rd", [](u64 a, u64, u64, u64) { return bfind<u64>(a, false); }, {}});
  cases.push_back({"bfind.s64", "rd", [](u64 a, u64, u64, u64) { return bfind<i64>(a, false); }, {}});
  cases.push_back({"bfind.shiftamt.u32", "rr", [](u64 a, u64, u64, u64) { return bfind<u32>(a, true); }, {}});
  cases.push_back({"bfind.shiftamt.s64", "rd", [](u64 a, u64, u64, u64) { return bfind<i64>(a, true); }, {}});
  cases.push_back({"brev.b32", "rr", [](u64 a, u64, u64, u64) { return reversed<u32>(a); }, {}});
  cases.push_back({"brev.b64", "dd", [](u64 a, u64, u64, u64) { return reversed<u64>(a); }, {}});
  cases.push_back({"bfe.u32", "rrrr", [](u64 a, u64 b, u64 c, u64) { return bfe<u32>(a, b, c); }, {}});
  cases.push_back({"bfe.s32", "rrrr", [](u64 a, u64 b, u64 c, u64) { return bfe<i32>(a, b, c); }, {}});
  cases.push_back({"bfe.u64", "ddrr", [](u64 a, u64 b, u64 c, u64) { return bfe<u64>(a, b, c); }, {}});
  cases.push_back({"bfe.s64", "ddrr", [](u64 a, u64 b, u64 c, u64) { return bfe<i64>(a, b, c); }, {}});
  cases.push_back({"bfi.b32", "rrrrr", [](u64 a, u64 b, u64 c, u64 d) { return bfi<u32>(a, b, c, d); }, {}});
  cases.push_back({"bfi.b64", "dddrr", [](u64 a, u64 b, u64 c, u64 d) { return bfi<u64>(a, b, c, d); }, {}});
  cases.push_back({"bmsk.clamp.b32",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) {
                     u64 d = 0;
                     for (u64 i = std::min<u64>(a, 32); i < std::min<u64>(a, 32) + std::min<u64>(b, 32);
                          ++i) {
                       if (i < 32) d |= u64{1} << i;
                     }
                     return d;
                   },
                   {}});
  cases.push_back({"bmsk.wrap.b32",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) { return ((u64{1} << (b & 31)) - 1) << (a & 31); },
                   {}});
  cases.push_back(
      {"szext.clamp.s32", "rrr", [](u64 a, u64 b, u64, u64) { return b >= 32 ? a : bfe<i32>(a, 0, b); }, {}});
  cases.push_back(
      {"szext.wrap.u32", "rrr", [](u64 a, u64 b, u64, u64) { return bfe<u32>(a, 0, b & 31); }, {}});
  cases.push_back(
      {"shf.l.wrap.b32",
       "rrrr",
       [](u64 a, u64 b, u64 c, u64) { return (c & 31) == 0 ? b : b << (c & 31) | a >> (32 - (c & 31)); },
       {}});
  cases.push_back(
      {"shf.r.wrap.b32", "rrrr", [](u64 a, u64 b, u64 c, u64) { return (b << 32 | a) >> (c & 31); }, {}});
  cases.push_back({"shf.l.clamp.b32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) {
                     const u64 n = std::min<u64>(c, 32);
                     return n == 32 ? a : n == 0 ? b : b << n | a >> (32 - n);
                   },
                   {}});
  cases.push_back({"shf.r.clamp.b32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) {
                     const u64 n = std::min<u64>(c, 32);
                     return n == 32 ? b : (b << 32 | a) >> n;
                   },
                   {}});
  for (u32 table : {0x00u, 0x80u, 0x96u, 0xe8u, 0x1bu, 0xf0u, 0xffu, 0x2au}) {
    cases.push_back({"lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";",
                     "rrrr",
                     [table](u64 a, u64 b, u64 c, u64) { return lut(a, b, c, table); },
                     {}});
  }
  cases.push_back({"lop3.or.b32 _|%d, %a, %b, %c, 0x80, %e;",
                   "prrrp",
                   [](u64 a, u64 b, u64 c, u64 e) { return u64{(a & b & c) != 0} | e; },
                   {}});
  cases.push_back({"lop3.and.b32 %d|_, %a, %b, %c, 0x96, %e;",
                   "rrrrp",
                   [](u64 a, u64 b, u64 c, u64) { return a ^ b ^ c; },
                   {}});
  cases.push_back({"prmt.b32", "rrrr", [](u64 a, u64 b, u64 c, u64) { return permuted(a, b, c); }, {}});
  constexpr u64 kForward[] = {0x3210, 0x4321, 0x5432, 0x6543};
  constexpr u64 kBackward[] = {0x5670, 0x6701, 0x7012, 0x0123};
  constexpr u64 kLeft[] = {0x3210, 0x3211, 0x3222, 0x3333};
  constexpr u64 kRight[] = {0x0000, 0x1110, 0x2210, 0x3210};
  cases.push_back({"prmt.b32.f4e",
                   "rrrr",
                   [=](u64 a, u64 b, u64 c, u64) { return permuted(a, b, kForward[c & 3]); },
                   {}});
  cases.push_back({"prmt.b32.b4e",
                   "rrrr",
                   [=](u64 a, u64 b, u64 c, u64) { return permuted(a, b, kBackward[c & 3]); },
                   {}});
  cases.push_back({"prmt.b32.rc8",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) { return permuted(a, b, 0x1111 * (c & 3)); },
                   {}});
  cases.push_back({"prmt.b32.rc16",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) { return permuted(a, b, (c & 1) != 0 ? 0x3232 : 0x1010); },
                   {}});
  cases.push_back(
      {"prmt.b32.ecl", "rrrr", [=](u64 a, u64 b, u64 c, u64) { return permuted(a, b, kLeft[c & 3]); }, {}});
  cases.push_back(
      {"prmt.b32.ecr", "rrrr", [=](u64 a, u64 b, u64 c, u64) { return permuted(a, b, kRight[c & 3]); }, {}});
  cases.push_back({"fns.b32",
                   "rrrr",
                   [](u64 a, u64 b, u64 c, u64) -> u64 {
                     const u64 base = b;
                     const i32 offset = static_cast<i32>(c);
                     if (base > 31) return 0xffffffff;
                     if (offset == 0) return (a >> base & 1) != 0 ? base : 0xffffffff;
                     i64 count = std::abs(i64{offset}) - 1;
                     for (i64 pos = static_cast<i64>(base); pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1) {
                       if ((a >> pos & 1) != 0 && count-- == 0) return static_cast<u64>(pos);
                     }
                     return 0xffffffff;
                   },
                   {0xfffffffe, 0xfffffffd}});
  return cases;
}

template <class T>
void comparisons(std::vector<Case>& cases) {
  const std::string t = letter(sizeof(T)) == 'h' ? "phh" : letter(sizeof(T)) == 'r' ? "prr" : "pdd";
  const std::string n = ptx_name<T>();
  const auto compare = [&](const std::string& op, auto f) {
    cases.push_back({"setp." + op + "." + n,
                     t,
                     [f](u64 a, u64 b, u64, u64) { return u64{f(static_cast<T>(a), static_cast<T>(b))}; },
                     {}});
  };
  compare("eq", [](T a, T b) { return a == b; });
  compare("ne", [](T a, T b) { return a != b; });
  compare("lt", [](T a, T b) { return a < b; });
  compare("le", [](T a, T b) { return a <= b; });
  compare("gt", [](T a, T b) { return a > b; });
  compare("ge", [](T a, T b) { return a >= b; });
  if constexpr (!std::is_signed_v<T>) {
    compare("lo", [](T a, T b) { return a < b; });
    compare("ls", [](T a, T b) { return a <= b; });
    compare("hi", [](T a, T b) { return a > b; });
    compare("hs", [](T a, T b) { return a >= b; });
  }
}

std::vector<Case> comparison_cases() {
  std::vector<Case> cases;
  comparisons<u16>(cases);
  comparisons<i16>(cases);
  comparisons<u32>(cases);
  comparisons<i32>(cases);
  comparisons<u64>(cases);
  comparisons<i64>(cases);
  cases.push_back(
      {"setp.lt.and.s32", "prrp", [](u64 a, u64 b, u64 c, u64) { return u64{i32(a) < i32(b)} & c; }, {}});
  cases.push_back(
      {"setp.lt.or.s32", "prrp", [](u64 a, u64 b, u64 c, u64) { return u64{i32(a) < i32(b)} | c; }, {}});
  cases.push_back({"setp.lt.xor.s32 %d, %a, %b, !%c;",
                   "prrp",
                   [](u64 a, u64 b, u64 c, u64) { return u64{i32(a) < i32(b)} ^ (c ^ 1); },
                   {}});
  // Two destinations: q is the complement, combined in the same way.
  cases.push_back({"{ .reg .pred t; setp.lt.and.s32 t|%d, %a, %b, %c; }",
                   "prrp",
                   [](u64 a, u64 b, u64 c, u64) { return u64{i32(a) >= i32(b)} & c; },
                   {}});
  cases.push_back(
      {"setp.gt.u32 %d|_, %a, %b;", "prr", [](u64 a, u64 b, u64, u64) { return u64{a > b}; }, {}});
  cases.push_back(
      {"set.lt.u32.s32", "rrr", [](u64 a, u64 b, u64, u64) { return i32(a) < i32(b) ? 0xffffffff : 0; }, {}});
  cases.push_back(
      {"set.gt.f32.u32", "frr", [](u64 a, u64 b, u64, u64) { return a > b ? 0x3f800000 : 0; }, {}});
  cases.push_back({"set.gt.and.s32.u32",
                   "rrrp",
                   [](u64 a, u64 b, u64 c, u64) { return a > b && c != 0 ? 0xffffffff : 0; },
                   {}});
  cases.push_back({"selp.b32", "rrrp", [](u64 a, u64 b, u64 c, u64) { return c != 0 ? a : b; }, {}});
  cases.push_back({"selp.b64", "dddp", [](u64 a, u64 b, u64 c, u64) { return c != 0 ? a : b; }, {}});
  cases.push_back({"selp.b16", "hhhp", [](u64 a, u64 b, u64 c, u64) { return c != 0 ? a : b; }, {}});
  cases.push_back({"slct.u32.s32", "rrrr", [](u64 a, u64 b, u64 c, u64) { return i32(c) >= 0 ? a : b; }, {}});
  cases.push_back(
      {"slct.f64.f32", "gggf", [](u64 a, u64 b, u64 c, u64) { return as_float(c) >= 0 ? a : b; }, {}});
  cases.push_back({"and.pred", "ppp", [](u64 a, u64 b, u64, u64) { return a & b; }, {}});
  cases.push_back({"or.pred", "ppp", [](u64 a, u64 b, u64, u64) { return a | b; }, {}});
  cases.push_back({"xor.pred", "ppp", [](u64 a, u64 b, u64, u64) { return a ^ b; }, {}});
  cases.push_back({"not.pred", "pp", [](u64 a, u64, u64, u64) { return a ^ 1; }, {}});
  cases.push_back({"mov.pred", "pp", [](u64 a, u64, u64, u64) { return a; }, {}});
  return cases;
}

u64 halves(u64 a, u64 b, const std::function<int(int, int)>& f, bool is_signed) {
  u64 d = 0;
  for (int k = 0; k < 32; k += 16) {
    const int x = is_signed ? int{i16(a >> k)} : int{u16(a >> k)};
    const int y = is_signed ? int{i16(b >> k)} : int{u16(b >> k)};
    d |= u64{u16(f(x, y))} << k;
  }
  return d;
}

std::vector<Case> move_cases() {
  std::vector<Case> cases;
  cases.push_back({"mov.b16", "hh", [](u64 a, u64, u64, u64) { return a; }, {}});
  cases.push_back({"mov.b32", "rr", [](u64 a, u64, u64, u64) { return a; }, {}});
  cases.push_back({"mov.b64", "dd", [](u64 a, u64, u64, u64) { return a; }, {}});
  cases.push_back({"mov.b64 %d, {%a, %b};", "drr", [](u64 a, u64 b, u64, u64) { return b << 32 | a; }, {}});
  cases.push_back({"mov.b32 %d, {%a, %b};", "rhh", [](u64 a, u64 b, u64, u64) { return b << 16 | a; }, {}});
  cases.push_back({"mov.b64 %d, {%a, %b, %c, %e};",
                   "dhhhh",
                   [](u64 a, u64 b, u64 c, u64 d) { return d << 48 | c << 32 | b << 16 | a; },
                   {}});
  cases.push_back(
      {"{ .reg .b32 t; mov.b64 {t, %d}, %a; }", "rd", [](u64 a, u64, u64, u64) { return a >> 32; }, {}});
  cases.push_back({"mov.b64 {%d, _}, %a;", "rd", [](u64 a, u64, u64, u64) { return a; }, {}});
  cases.push_back(
      {"{ .reg .b16 t; mov.b32 {t, %d}, %a; }", "hr", [](u64 a, u64, u64, u64) { return a >> 16; }, {}});
  cases.push_back({"mov.b64 {_, _, %d, _}, %a;", "hd", [](u64 a, u64, u64, u64) { return a >> 32; }, {}});
  cases.push_back({"add.u16x2",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) {
                     return halves(
                         a, b, [](int x, int y) { return x + y; }, false);
                   },
                   {}});
  cases.push_back({"max.s16x2",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) {
                     return halves(
                         a, b, [](int x, int y) { return std::max(x, y); }, true);
                   },
                   {}});
  cases.push_back({"min.u16x2",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) {
                     return halves(
                         a, b, [](int x, int y) { return std::min(x, y); }, false);
                   },
                   {}});
  cases.push_back({"max.relu.s16x2",
                   "rrr",
                   [](u64 a, u64 b, u64, u64) {
                     return halves(
                         a, b,
                         [](int x, int y) {
                           return std::max({x, y, 0});
                         },
                         true);
                   },
                   {}});
  return cases;
}

class IntegerInstruction : public testing::TestWithParam<Case> {};
TEST_P(IntegerInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }

std::string with_index(const testing::TestParamInfo<Case>& info) {
  return name_of(info.param) + "_" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(IntegerArithmetic, IntegerInstruction, testing::ValuesIn(arithmetic_cases()),
                         with_index);
INSTANTIATE_TEST_SUITE_P(Carry, IntegerInstruction, testing::ValuesIn(carry_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(Bits, IntegerInstruction, testing::ValuesIn(bit_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(Comparison, IntegerInstruction, testing::ValuesIn(comparison_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(Move, IntegerInstruction, testing::ValuesIn(move_cases()), with_index);

}  // namespace
