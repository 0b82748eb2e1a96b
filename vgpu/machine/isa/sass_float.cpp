// SPDX-License-Identifier: Apache-2.0
// Machine code: floating point. MUFU.TANH and MUFU of doubles are computed by the host in double
// precision and rounded; the hardware's results may differ.
#include <cmath>

#include "machine/isa/elementary.hpp"
#include "machine/isa/mufu.hpp"
#include "machine/isa/pair_order.hpp"
#include "machine/isa/sass.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

using Single = Sign<u32>;
using Wide = Sign<u64>;

// f(x, y, z) in the rounding mode given by the modifiers: nearest, down, up, zero.
template <class T, class F>
T rounded_by(unsigned mode, F f, T x, T y, T z) {
  switch (mode) {
    case 0: return f(x, y, z);
    case 1: return rounded<Rounding::kDown>(f, x, y, z);
    case 2: return rounded<Rounding::kUp>(f, x, y, z);
    default: return rounded<Rounding::kZero>(f, x, y, z);
  }
}

// Runs f, which computes `r` from the other arrays, in this rounding mode. That the arrays are in
// memory before and after keeps the computation in the mode's scope.
template <class F>
[[gnu::always_inline]] inline void with_rounding(unsigned mode, float* x, float* y, float* z,
                                                 float* r, F f) {
  constexpr FloatControl kModes[] = {0, kRoundDown, kRoundUp, kRoundToZero};
  const FloatControl saved = float_control();
  asm volatile("" : : "r"(x), "r"(y), "r"(z), "r"(r) : "memory");
  set_float_control((saved & ~kRoundingBits) | kModes[mode]);
  asm volatile("" : : : "memory");
  f();
  asm volatile("" : : : "memory");
  set_float_control(saved);
  asm volatile("" : : "r"(r) : "memory");
}

// The frequent FFMA: no modifiers but the signs of product and summand.
template <bool kMinusProduct, bool kMinusSummand>
void multiply_add(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const float *a = slot<float>(window, insn.s[0]), *b = slot<float>(window, insn.s[1]),
              *c = slot<float>(window, insn.s[2]);
  write_lanes<float>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
    return canonical(
        __builtin_fmaf(kMinusProduct ? -a[i] : a[i], b[i], kMinusSummand ? -c[i] : c[i]));
  });
}

// a * b + c, a + b or a * b with all modifiers. kScaled: a * b times the power of two that
// Insn::sub names (4: 1), rounded once.
enum class Form { kFma, kAdd, kMultiply, kScaled };
template <Form kForm>
void single(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB),
      sc(m, kNegateC, kAbsoluteC);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const auto compute = [](float x, float y, float z) VGPU_INLINE {
    if constexpr (kForm == Form::kFma)
      return __builtin_fmaf(x, y, z);
    else if constexpr (kForm == Form::kAdd)
      return x + y;
    else if constexpr (kForm == Form::kScaled)
      return static_cast<float>(double{x} * double{y} * double{z});
    else
      return x * y;
  };
  const float scale = kForm == Form::kScaled ? std::ldexp(1.0F, insn.sub - 4) : 0;
  const unsigned rounding = bits_of(m, kRoundingAt, 2);
  if (rounding == 0 && !has(m, kSaturate)) {
    const auto write = [&]<bool kFlushes>() VGPU_INLINE {
      const auto flushed = [](float x) VGPU_INLINE { return kFlushes ? flush(x) : x; };
      write_lanes<float>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
        const float x = flushed(bits_as<float>(sa(a[i]))), y = flushed(bits_as<float>(sb(b[i])));
        const float z = kForm == Form::kFma ? flushed(bits_as<float>(sc(c[i]))) : scale;
        return canonical(flushed(compute(x, y, z)));
      });
    };
    if (has(m, kFlush))
      write.template operator()<true>();
    else
      write.template operator()<false>();
    return;
  }
  const bool flushes = has(m, kFlush), saturates = has(m, kSaturate);
  const auto in = [&](u32 bits) VGPU_INLINE {
    return flushes ? flush(bits_as<float>(bits)) : bits_as<float>(bits);
  };
  alignas(64) float x[kLanes], y[kLanes], z[kLanes], r[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    x[i] = in(sa(a[i]));
    y[i] = in(sb(b[i]));
    z[i] = kForm == Form::kFma ? in(sc(c[i])) : scale;
  }
  with_rounding(rounding, x, y, z, r, [&]() VGPU_INLINE {
    for (u32 i = 0; i < kLanes; ++i) r[i] = compute(x[i], y[i], z[i]);
  });
  write_lanes<float>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
    const float result = flushes ? flush(r[i]) : r[i];
    return saturates ? saturate(result) : canonical(result);
  });
}

// FSWZADD. The two bits of `sub` for a lane say what it computes: 0 is a + b, 1 is a - b, 2 is
// b - a, and 3 is 0 + b. Bits 6 and 7 belong to the first of each four neighbouring lanes (a quad),
// bits 0 and 1 to the last. Without kHigh (.NDV), all lanes of a quad that has an inactive lane get
// 0. Measured on an H200.
void swizzled_add(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const float *a = slot<float>(window, insn.s[0]), *b = slot<float>(window, insn.s[1]);
  const bool flushes = has(m, kFlush);
  alignas(64) float x[kLanes], y[kLanes], r[kLanes];
  for (u32 i = 0; i < kLanes; ++i) {
    const unsigned signs = insn.sub >> (6 - 2 * (i % 4)) & 3;
    x[i] = signs == 3 ? 0 : signs == 2 ? -a[i] : a[i];
    y[i] = signs == 1 ? -b[i] : b[i];
    if (flushes) x[i] = flush(x[i]), y[i] = flush(y[i]);
  }
  with_rounding(bits_of(m, kRoundingAt, 2), x, y, r, r, [&]() VGPU_INLINE {
    for (u32 i = 0; i < kLanes; ++i) r[i] = x[i] + y[i];
  });
  const u32 pairs = warp.mask & warp.mask >> 1,
            whole = has(m, kHigh) ? kAllLanes : (pairs & pairs >> 2 & 0x11111111) * 15;
  write_lanes<float>(window, insn.d, mask, [&](u32 i) {
    return (whole >> i & 1) == 0 ? 0 : canonical(flushes ? flush(r[i]) : r[i]);
  });
}

constexpr auto kSigns = kNegateA | kNegateB | kNegateC | kAbsoluteA | kAbsoluteB | kAbsoluteC;

template <Form kForm>
[[gnu::always_inline]] inline double wide_result(double x, double y, double z) {
  if constexpr (kForm == Form::kFma)
    return __builtin_fma(x, y, z);
  else if constexpr (kForm == Form::kAdd)
    return x + y;
  else
    return x * y;
}

// To nearest, whole rows at a time. False, and nothing is written, if a result is NaN.
template <Form kForm, class A, class B, class C>
[[gnu::always_inline]] inline bool wide_by_rows(std::byte* window, const Insn& insn, u32 mask,
                                                A of_a, B of_b, C of_c) {
  alignas(64) u64 x[kLanes], y[kLanes], z[kLanes], results[kLanes];
  load_pairs(window, insn.s[0], x);
  load_pairs(window, insn.s[1], y);
  if (kForm == Form::kFma) load_pairs(window, insn.s[2], z);
  for (u32 i = 0; i < kLanes; ++i) {
    results[i] =
        bits_as<u64>(wide_result<kForm>(bits_as<double>(of_a(x[i])), bits_as<double>(of_b(y[i])),
                                        kForm == Form::kFma ? bits_as<double>(of_c(z[i])) : 0));
  }
  if (__builtin_expect(any_nan(results), 0)) return false;
  store_pairs(window, insn.d, mask, results);
  return true;
}

template <Form kForm>
[[gnu::noinline]] void wide_with_modifiers(std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Wide sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB), sc(m, kNegateC, kAbsoluteC);
  const unsigned rounding = bits_of(m, kRoundingAt, 2);
  if (rounding == 0 && wide_by_rows<kForm>(window, insn, mask, sa, sb, sc)) return;
  const Pair a(window, insn.s[0]), b(window, insn.s[1]), c(window, insn.s[2]);
  write_pairs(window, insn.d, mask, [&](u32 i) {
    if ((mask >> i & 1) == 0) return u64{0};
    const double z = kForm == Form::kFma ? bits_as<double>(sc(c[i])) : 0;
    const double result = rounded_by(rounding, wide_result<kForm>, bits_as<double>(sa(a[i])),
                                     bits_as<double>(sb(b[i])), z);
    const double x = bits_as<double>(a[i]), y = bits_as<double>(b[i]);
    if constexpr (kForm == Form::kFma)
      return bits_as<u64>(keep_nan(result, y, bits_as<double>(c[i]), x));
    else
      return bits_as<u64>(keep_nan(result, y, x));
  });
}

template <Form kForm>
void wide(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const auto as_is = [](u64 bits) VGPU_INLINE { return bits; };
  const auto minus = [](u64 bits) VGPU_INLINE { return bits ^ u64 { 1 } << 63; };
  const auto rows = [&](auto of_a, auto of_b, auto of_c) VGPU_INLINE {
    return wide_by_rows<kForm>(window, insn, mask, of_a, of_b, of_c);
  };
  bool written = false;
  switch (modifiers(insn) & (kSigns | 3 << kRoundingAt)) {
    case 0: written = rows(as_is, as_is, as_is); break;
    case kNegateA: written = rows(minus, as_is, as_is); break;
    case kNegateB: written = rows(as_is, minus, as_is); break;
    case kNegateC: written = rows(as_is, as_is, minus); break;
    default: break;
  }
  if (!written) wide_with_modifiers<kForm>(window, insn, mask);
}

// The minimum or maximum of two numbers; -0 is less than +0. If one is NaN, the other.
template <bool kLeast>
[[gnu::always_inline]] inline float extreme_number(float x, float y) {
  const u32 a = bits_as<u32>(x), b = bits_as<u32>(y);
  const float equal = bits_as<float>(kLeast ? a | b : a & b);
  const float number = (kLeast ? x < y : x > y) ? x : y;
  const float result = x == y ? equal : number;  // y if one is NaN
  return is_nan(y) ? x : result;
}

// The minimum if s[3], else the maximum. If one operand is NaN the result is the other, with .NAN
// it is NaN. With .XORSIGN the result, of magnitudes, is negative where one of the operands was.
void minmax(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  if (!has(m, kFlush | kHigh | kWrap)) {
    by_predicate(p, mask, [&](auto least) VGPU_INLINE {
      write_lanes<float>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
        const float x = bits_as<float>(sa(a[i])), y = bits_as<float>(sb(b[i]));
        return canonical(least(i) ? extreme_number<true>(x, y) : extreme_number<false>(x, y));
      });
    });
    return;
  }
  const bool flushes = has(m, kFlush), keeps_nan = has(m, kHigh);
  const u32 sign = mask_if(m, kWrap) & 0x80000000;
  write_lanes<float>(window, insn.d, mask, [&](u32 i) {
    float x = bits_as<float>(sa(a[i])), y = bits_as<float>(sb(b[i]));
    if (flushes) x = flush(x), y = flush(y);
    const float number =
        (p >> i & 1) != 0 ? extreme_number<true>(x, y) : extreme_number<false>(x, y);
    const float r = keeps_nan && is_nan(x) ? x : keeps_nan && is_nan(y) ? y : number;
    return canonical(bits_as<float>(bits_as<u32>(r) ^ ((a[i] ^ b[i]) & sign)));
  });
}

void select(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  write_lanes<u32>(window, insn.d, mask,
                   [&](u32 i) VGPU_INLINE { return (p >> i & 1) != 0 ? sa(a[i]) : sb(b[i]); });
}

u32 singles_that_compare(std::byte* window, const Insn& insn, Modifiers m) {
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  if (has(m, kFlush)) {
    return compare<float>(
        m, [&](u32 i) { return flush(bits_as<float>(sa(a[i]))); },
        [&](u32 i) { return flush(bits_as<float>(sb(b[i]))); });
  }
  return compare<float>(
      m, [&](u32 i) { return bits_as<float>(sa(a[i])); },
      [&](u32 i) { return bits_as<float>(sb(b[i])); });
}

void compare_singles(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  combine(window, insn, m, singles_that_compare(window, insn, m), mask);
}

// 1 if the comparison and the predicate together are true, else 0.
void set_singles(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const u32 ones =
      combined(singles_that_compare(window, insn, m), predicate(window, insn.s[3], m, kNegateP), m);
  write_lanes<float>(window, insn.d, mask,
                     [&](u32 i) { return (ones >> i & 1) != 0 ? 1.0F : 0.0F; });
}

// Selects the minimum (maximum) of two doubles. d: a is selected; list: both are NaN. -0 is less
// than +0.
void choose_double(std::byte* window, const Insn& insn, u32 mask, bool greater) {
  const Modifiers m = modifiers(insn);
  const Wide sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const Pair a(window, insn.s[0]), b(window, insn.s[1]);
  // No short-circuit evaluation, so that both loops vectorise.
  const auto nan = [](double x) VGPU_INLINE { return u32{is_nan(x)}; };
  const u32 first = lanes_where([&](u32 i) VGPU_INLINE {
    const u64 bits = sa(a[i]);
    const double x = bits_as<double>(bits), y = bits_as<double>(sb(b[i]));
    const bool wins = greater ? x > y : x < y, lesser = (bits >> 63 != 0) != greater;
    return (u32{wins} | (u32{x == y} & u32{lesser}) | (nan(y) & (nan(x) ^ 1))) != 0;
  });
  const u32 neither = lanes_where([&](u32 i) VGPU_INLINE {
    return (nan(bits_as<double>(sa(a[i]))) & nan(bits_as<double>(sb(b[i])))) != 0;
  });
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  if (insn.d != kNone) set_predicate(window, insn.d, first & p, mask);
  if (insn.list != kNone) set_predicate(window, insn.list, neither & p, mask);
}

void compare_doubles(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const unsigned how = bits_of(m, kCompareAt, 4);
  if (how == 0 || how == 15) {
    choose_double(window, insn, mask, how == 15);
    return;
  }
  const Wide sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const Pair a(window, insn.s[0]), b(window, insn.s[1]);
  const u32 result = compare<double>(
      m, [&](u32 i) { return bits_as<double>(sa(a[i])); },
      [&](u32 i) { return bits_as<double>(sb(b[i])); });
  combine(window, insn, m, result, mask);
}

// FCHK: whether a / b needs more than a reciprocal, one Newton step and the correction by the
// remainder. The result depends on the exponents alone, as measured on an H200 for all pairs of
// exponents (by the time of each, and tests/golden/h200.csv).
void check_division(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  u32 slow = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const i32 x = static_cast<i32>(a[i] >> 23 & 255), y = static_cast<i32>(b[i] >> 23 & 255),
              apart = x - y;
    const bool extreme = x < 25 || x == 255 || y < 2 || y >= 252 || apart > 126 || apart < -124;
    slow |= static_cast<u32>(extreme) << i;
  }
  set_predicate(window, insn.d, slow, mask);
}

enum Function { kCos, kSin, kExp2, kLog2, kRcp, kRsqrt, kRcp64, kRsqrt64, kSqrt, kTanh };

// By an estimate where it is certain, else by the host library.
void write_tanh(std::byte* window, const Insn& insn, u32 mask) {
  const Single sa(modifiers(insn), kNegateA, kAbsoluteA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  const auto operand = [&](u32 i) VGPU_INLINE { return double{flush(bits_as<float>(sa(a[i])))}; };
  alignas(64) float results[kLanes];
  const u32 doubtful =
      mask & round_estimates(results, [&](u32 i) VGPU_INLINE { return estimate_tanh(operand(i)); });
  for (const u32 i : SetBits(doubtful)) results[i] = static_cast<float>(std::tanh(operand(i)));
  write_lanes<float>(window, insn.d, mask,
                     [&](u32 i) VGPU_INLINE { return canonical(flush(results[i])); });
}

template <class Function>
void write_function(std::byte* window, const Insn& insn, u32 mask) {
  const Single sa(modifiers(insn), kNegateA, kAbsoluteA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  alignas(64) float results[kLanes];
  mufu<Function>(results, [&](u32 i) VGPU_INLINE { return bits_as<float>(sa(a[i])); });
  blend(slot<float>(window, insn.d), results, mask);
}

void function(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  switch (insn.sub) {
    case kCos: return write_function<SineOfTurns<true>>(window, insn, mask);
    case kSin: return write_function<SineOfTurns<false>>(window, insn, mask);
    case kExp2: return write_function<Exp2>(window, insn, mask);
    case kLog2: return write_function<Log2>(window, insn, mask);
    case kRcp: return write_function<Reciprocal>(window, insn, mask);
    case kRsqrt: return write_function<InverseRoot>(window, insn, mask);
    case kSqrt: return write_function<Root>(window, insn, mask);
    case kTanh: return write_tanh(window, insn, mask);
    default: break;
  }
  const Single sa(modifiers(insn), kNegateA, kAbsoluteA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  // The upper halves of doubles.
  const auto write_upper = [&](auto f) VGPU_INLINE {
    write_lanes<u32>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
      const double value = f(bits_as<double>(u64{sa(a[i])} << 32));
      return is_nan(value) ? 0x7fffffff : static_cast<u32>(bits_as<u64>(value) >> 32);
    });
  };
  if (insn.sub == kRcp64)
    write_upper([](double x) VGPU_INLINE { return 1.0 / x; });
  else
    write_upper([](double x) VGPU_INLINE { return 1.0 / __builtin_sqrt(x); });
}

}  // namespace

void define_sass_float(OperationSink& sink) {
  op_special(sink, "sass.ffma.minus", &multiply_add<true, false>);
  op_special(sink, "sass.ffma.less", &multiply_add<false, true>);
  op_special(sink, "sass.ffma.minus.less", &multiply_add<true, true>);
  op_special(sink, "sass.ffma", &single<Form::kFma>);
  op_special(sink, "sass.fadd", &single<Form::kAdd>);
  op_special(sink, "sass.fmul", &single<Form::kMultiply>);
  op_special(sink, "sass.fmul.scaled", &single<Form::kScaled>);
  op_special(sink, "sass.dfma", &wide<Form::kFma>);
  op_special(sink, "sass.dadd", &wide<Form::kAdd>);
  op_special(sink, "sass.dmul", &wide<Form::kMultiply>);
  op_special(sink, "sass.fmnmx", &minmax);
  op_special(sink, "sass.fsel", &select);
  op_special(sink, "sass.fset", &set_singles);
  op_special(sink, "sass.fsetp", &compare_singles);
  op_special(sink, "sass.dsetp", &compare_doubles);
  op_special(sink, "sass.fswzadd", &swizzled_add);
  op_special(sink, "sass.fchk", &check_division);
  op_special(sink, "sass.mufu", &function);
}

}  // namespace vgpu::machine::VGPU_ISA
