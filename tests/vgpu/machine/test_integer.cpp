// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, comparisons and moves, by the PTX manual's definitions.
#include <gtest/gtest.h>
#include <cmath>

#include <algorithm>
#include <limits>

#include "conformance.hpp"

namespace {

using namespace conformance;

template <class T>
using WideOf = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

// 128 bits do not overflow; the result is then truncated to the type.
template <class T>
void arithmetic(std::vector<Case>& cases) {
  using W = WideOf<T>;
  constexpr int kBits = 8 * sizeof(T);
  const auto test = [&](const std::string& op, auto f) {
    constexpr std::size_t kOperands = std::is_invocable_v<decltype(f), T, T, T> ? 3 : 2;
    add(cases, op + "." + ptx_name<T>(), types<T>(kOperands), f);
  };
  test("add", [](T a, T b) { return static_cast<T>(W(a) + W(b)); });
  test("sub", [](T a, T b) { return static_cast<T>(W(a) - W(b)); });
  test("mul.lo", [](T a, T b) { return static_cast<T>(W(a) * W(b)); });
  test("mul.hi", [](T a, T b) { return static_cast<T>(W(a) * W(b) >> kBits); });
  test("mad.lo", [](T a, T b, T c) {
    return static_cast<T>(static_cast<unsigned __int128>(W(a) * W(b)) +
                          static_cast<unsigned __int128>(W(c)));
  });
  test("mad.hi", [](T a, T b, T c) { return static_cast<T>((W(a) * W(b) >> kBits) + W(c)); });
  test("sad",
       [](T a, T b, T c) { return static_cast<T>(W(c) + (a < b ? W(b) - W(a) : W(a) - W(b))); });
  test("min", [](T a, T b) { return std::min(a, b); });
  test("max", [](T a, T b) { return std::max(a, b); });
  test("div", [](T a, T b) { return b == 0 ? T(-1) : static_cast<T>(W(a) / W(b)); });
  test("rem", [](T a, T b) {
    const T by_zero = sizeof(T) == 2 ? T(-1) : a;  // as an H100 has it
    return b == 0 ? by_zero : static_cast<T>(W(a) % W(b));
  });
  if constexpr (sizeof(T) < 8) {
    const char wide = letter(2 * sizeof(T)), narrow = letter(sizeof(T));
    add(cases, "mul.wide." + ptx_name<T>(), {wide, narrow, narrow},
        [](T a, T b) { return static_cast<u64>(W(a) * W(b)); });
    add(cases, "mad.wide." + ptx_name<T>(), {wide, narrow, narrow, wide},
        [](T a, T b, u64 c) { return static_cast<u64>(W(a) * W(b)) + c; });
  }
  if constexpr (std::is_signed_v<T>) {
    add(cases, "neg." + ptx_name<T>(), types<T>(1), [](u64 a) { return 0 - a; });
    add(cases, "abs." + ptx_name<T>(), types<T>(1),
        [](u64 a) { return static_cast<T>(a) < 0 ? 0 - a : a; });
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
  add(cases, "add.sat.s32", "rrr", [](i32 a, i32 b) { return s32(clamp32(i64{a} + b)); });
  add(cases, "sub.sat.s32", "rrr", [](i32 a, i32 b) { return s32(clamp32(i64{a} - b)); });
  add(cases, "mad.hi.sat.s32", "rrrr",
      [](i32 a, i32 b, i32 c) { return s32(clamp32((i64{a} * b >> 32) + c)); });
  add(cases, "mul24.lo.u32", "rrr", [](u64 a, u64 b) { return (a & 0xffffff) * (b & 0xffffff); });
  add(cases, "mul24.hi.u32", "rrr",
      [](u64 a, u64 b) { return (a & 0xffffff) * (b & 0xffffff) >> 16; });
  add(cases, "mul24.lo.s32", "rrr", [](u64 a, u64 b) { return s32(i64{low24(a)} * low24(b)); });
  add(cases, "mul24.hi.s32", "rrr",
      [](u64 a, u64 b) { return s32(i64{low24(a)} * low24(b) >> 16); });
  add(cases, "mad24.lo.s32", "rrrr",
      [](u64 a, u64 b, u64 c) { return s32(i64{low24(a)} * low24(b)) + c; });
  add(cases, "dp4a.s32.u32", "rrrr", [](u64 a, u64 b, u64 c) {
    for (int k = 0; k < 4; ++k) c += static_cast<u64>(i64{i8(a >> 8 * k)} * u8(b >> 8 * k));
    return c;
  });
  add(cases, "dp4a.u32.u32", "rrrr", [](u64 a, u64 b, u64 c) {
    for (int k = 0; k < 4; ++k) c += u64{u8(a >> 8 * k)} * u8(b >> 8 * k);
    return c;
  });
  add(cases, "dp2a.hi.s32.s32", "rrrr", [](u64 a, u64 b, u64 c) {
    for (int k = 0; k < 2; ++k)
      c += static_cast<u64>(i64{i16(a >> 16 * k)} * i8(b >> (16 + 8 * k)));
    return c;
  });
  add(cases, "dp2a.lo.u32.s32", "rrrr", [](u64 a, u64 b, u64 c) {
    for (int k = 0; k < 2; ++k) c += static_cast<u64>(i64{u16(a >> 16 * k)} * i8(b >> 8 * k));
    return c;
  });
  return cases;
}

// Carries: pairs of instructions, as compilers emit them.
std::vector<Case> carry_cases() {
  std::vector<Case> cases;
  const auto body = [](const std::string& text) {
    return "{ .reg .b32 l, h, m, n, o, q; mov.b64 {l, h}, %a; mov.b64 {m, n}, %b; " + text +
           " mov.b64 %d, {o, q}; }";
  };
  add(cases, body("add.cc.u32 o, l, m; addc.u32 q, h, n;"), "ddd",
      [](u64 a, u64 b) { return a + b; });
  add(cases, body("sub.cc.u32 o, l, m; subc.u32 q, h, n;"), "ddd",
      [](u64 a, u64 b) { return a - b; });
  // The low 64 bits of a 64 x 64 product: the cross terms are added to the upper half.
  add(cases,
      body("mul.lo.u32 o, l, m; mul.hi.u32 q, l, m; mad.lo.u32 q, l, n, q; mad.lo.u32 q, h, m, q;"),
      "ddd", [](u64 a, u64 b) { return a * b; });
  add(cases, body("mad.lo.cc.u32 o, l, m, h; madc.hi.u32 q, l, m, n;"), "ddd",
      [](u64 a, u64 b) { return u64{u32(a)} * u32(b) + ((a >> 32) | (b >> 32 << 32)); });
  add(cases, "{ .reg .b64 t; add.cc.u64 t, %a, %b; addc.cc.u64 t, %c, %c; addc.u64 %d, 0, 0; }",
      "dddd", [](u64 a, u64 b, u64 c) {
        const u64 in = a + b < a;
        return static_cast<u64>((static_cast<unsigned __int128>(c) + c + in) >> 64);
      });
  return cases;
}

template <class T>
void comparisons(std::vector<Case>& cases) {
  const std::string t = letter(sizeof(T)) == 'h' ? "phh" : letter(sizeof(T)) == 'r' ? "prr" : "pdd";
  const std::string n = ptx_name<T>();
  const auto compare = [&](const std::string& op, auto f) {
    add(cases, "setp." + op + "." + n, t, [f](T a, T b) { return f(a, b); });
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
  add(cases, "setp.lt.and.s32", "prrp", [](i32 a, i32 b, u64 c) { return u64{a < b} & c; });
  add(cases, "setp.lt.or.s32", "prrp", [](i32 a, i32 b, u64 c) { return u64{a < b} | c; });
  add(cases, "setp.lt.xor.s32 %d, %a, %b, !%c;", "prrp",
      [](i32 a, i32 b, u64 c) { return u64{a < b} ^ (c ^ 1); });
  // Two destinations: q is the complement, combined in the same way.
  add(cases, "{ .reg .pred t; setp.lt.and.s32 t|%d, %a, %b, %c; }", "prrp",
      [](i32 a, i32 b, u64 c) { return u64{a >= b} & c; });
  add(cases, "setp.gt.u32 %d|_, %a, %b;", "prr", [](u64 a, u64 b) { return a > b; });
  add(cases, "set.lt.u32.s32", "rrr", [](i32 a, i32 b) { return a < b ? 0xffffffff : 0; });
  add(cases, "set.gt.f32.u32", "frr", [](u64 a, u64 b) { return a > b ? 0x3f800000 : 0; });
  add(cases, "set.gt.and.s32.u32", "rrrp",
      [](u64 a, u64 b, u64 c) { return a > b && c != 0 ? 0xffffffff : 0; });
  add(cases, "selp.b32", "rrrp", [](u64 a, u64 b, u64 c) { return c != 0 ? a : b; });
  add(cases, "selp.b64", "dddp", [](u64 a, u64 b, u64 c) { return c != 0 ? a : b; });
  add(cases, "selp.b16", "hhhp", [](u64 a, u64 b, u64 c) { return c != 0 ? a : b; });
  add(cases, "slct.u32.s32", "rrrr", [](u64 a, u64 b, i32 c) { return c >= 0 ? a : b; });
  add(cases, "slct.ftz.u16.f32", "hhhf", [](u64 a, u64 b, float c) {
    const float v = c;
    return v >= 0 || std::fpclassify(v) == FP_SUBNORMAL ? a : b;
  });
  add(cases, "slct.f64.f32", "gggf", [](u64 a, u64 b, float c) { return c >= 0 ? a : b; });
  add(cases, "and.pred", "ppp", [](u64 a, u64 b) { return a & b; });
  add(cases, "or.pred", "ppp", [](u64 a, u64 b) { return a | b; });
  add(cases, "xor.pred", "ppp", [](u64 a, u64 b) { return a ^ b; });
  add(cases, "not.pred", "pp", [](u64 a) { return a ^ 1; });
  add(cases, "mov.pred", "pp", [](u64 a) { return a; });
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
  add(cases, "mov.b16", "hh", [](u64 a) { return a; });
  add(cases, "mov.b32", "rr", [](u64 a) { return a; });
  add(cases, "mov.b64", "dd", [](u64 a) { return a; });
  add(cases, "mov.b64 %d, {%a, %b};", "drr", [](u64 a, u64 b) { return b << 32 | a; });
  add(cases, "mov.b32 %d, {%a, %b};", "rhh", [](u64 a, u64 b) { return b << 16 | a; });
  add(cases, "mov.b64 %d, {%a, %b, %c, %e};", "dhhhh",
      [](u64 a, u64 b, u64 c, u64 d) { return d << 48 | c << 32 | b << 16 | a; });
  add(cases, "{ .reg .b32 t; mov.b64 {t, %d}, %a; }", "rd", [](u64 a) { return a >> 32; });
  add(cases, "mov.b64 {%d, _}, %a;", "rd", [](u64 a) { return a; });
  add(cases, "{ .reg .b16 t; mov.b32 {t, %d}, %a; }", "hr", [](u64 a) { return a >> 16; });
  add(cases, "mov.b64 {_, _, %d, _}, %a;", "hd", [](u64 a) { return a >> 32; });
  add(cases, "add.u16x2", "rrr", [](u64 a, u64 b) {
    return halves(
        a, b, [](int x, int y) { return x + y; }, false);
  });
  add(cases, "max.s16x2", "rrr", [](u64 a, u64 b) {
    return halves(
        a, b, [](int x, int y) { return std::max(x, y); }, true);
  });
  add(cases, "min.u16x2", "rrr", [](u64 a, u64 b) {
    return halves(
        a, b, [](int x, int y) { return std::min(x, y); }, false);
  });
  add(cases, "max.relu.s16x2", "rrr", [](u64 a, u64 b) {
    return halves(
        a, b,
        [](int x, int y) {
          return std::max({x, y, 0});
        },
        true);
  });
  return cases;
}

class IntegerInstruction : public testing::TestWithParam<Case> {};
TEST_P(IntegerInstruction, DoesWhatItIsDefinedToDo) { check(GetParam()); }

INSTANTIATE_TEST_SUITE_P(IntegerArithmetic, IntegerInstruction,
                         testing::ValuesIn(arithmetic_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(Carry, IntegerInstruction, testing::ValuesIn(carry_cases()), with_index);
INSTANTIATE_TEST_SUITE_P(Comparison, IntegerInstruction, testing::ValuesIn(comparison_cases()),
                         with_index);
INSTANTIATE_TEST_SUITE_P(Move, IntegerInstruction, testing::ValuesIn(move_cases()), with_index);

}  // namespace
