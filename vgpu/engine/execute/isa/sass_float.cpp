// SPDX-License-Identifier: Apache-2.0
// Machine code: floating point. MUFU's functions are the host library's in double precision, rounded; the hardware's
// differ from them in the last place.
#include <cmath>

#include "engine/execute/isa/sass.hpp"

namespace vgpu::execute::VGPU_ISA {
namespace {

using namespace sass;
using Single = Sign<u32>;
using Wide = Sign<u64>;

// f(x, y, z) under the rounding mode in the modifiers: nearest, down, up, zero.
template <class T, class F>
T rounded_by(unsigned mode, F f, T x, T y, T z) {
  switch (mode) {
    case 0:
      return f(x, y, z);
    case 1:
      return rounded<Rounding::kDown>(f, x, y, z);
    case 2:
      return rounded<Rounding::kUp>(f, x, y, z);
    default:
      return rounded<Rounding::kZero>(f, x, y, z);
  }
}

// Signs of the product and of the summand, nothing else: the usual FFMA.
template <bool kMinusProduct, bool kMinusSummand>
void multiply_add(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const float *a = slot<float>(window, insn.s[0]), *b = slot<float>(window, insn.s[1]),
              *c = slot<float>(window, insn.s[2]);
  write_lanes<float>(
      window, insn.d, mask, [&](u32 i) __attribute__((always_inline)) {
        return canonical(__builtin_fmaf(kMinusProduct ? -a[i] : a[i], b[i], kMinusSummand ? -c[i] : c[i]));
      });
}

// a * b + c, a + b or a * b with all modifiers.
enum class Form { kFma, kAdd, kMultiply };
template <Form kForm>
void single(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB), sc(m, kNegateC, kAbsoluteC);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]),
            *c = slot<u32>(window, insn.s[2]);
  const auto compute = [](float x, float y, float z) __attribute__((always_inline)) {
    if constexpr (kForm == Form::kFma)
      return __builtin_fmaf(x, y, z);
    else if constexpr (kForm == Form::kAdd)
      return x + y;
    else
      return x * y;
  };
  const unsigned rounding = bits_of(m, kRoundingAt, 2);
  if (rounding == 0 && !has(m, kFlush | kSaturate)) {
    write_lanes<float>(
        window, insn.d, mask, [&](u32 i) __attribute__((always_inline)) {
          return canonical(compute(bits_as<float>(sa(a[i])), bits_as<float>(sb(b[i])),
                                   kForm == Form::kFma ? bits_as<float>(sc(c[i])) : 0));
        });
    return;
  }
  float* const d = slot<float>(window, insn.d);
  const bool flushes = has(m, kFlush), saturates = has(m, kSaturate);
  const auto in = [&](float x) { return flushes ? flush(x) : x; };
  for (u32 left = mask; left != 0; left &= left - 1) {
    const u32 i = static_cast<u32>(__builtin_ctz(left));
    const float z = kForm == Form::kFma ? in(bits_as<float>(sc(c[i]))) : 0;
    float r = rounded_by(rounding, compute, in(bits_as<float>(sa(a[i]))), in(bits_as<float>(sb(b[i]))), z);
    if (flushes) r = flush(r);
    d[i] = saturates ? saturate(r) : canonical(r);
  }
}

template <Form kForm>
void wide(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Wide sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB), sc(m, kNegateC, kAbsoluteC);
  const Pair a(window, insn.s[0]), b(window, insn.s[1]), c(window, insn.s[2]);
  const auto compute = [](double x, double y, double z) __attribute__((always_inline)) {
    if constexpr (kForm == Form::kFma)
      return __builtin_fma(x, y, z);
    else if constexpr (kForm == Form::kAdd)
      return x + y;
    else
      return x * y;
  };
  const unsigned rounding = bits_of(m, kRoundingAt, 2);
  if (rounding == 0) {
    write_pairs(
        window, insn.d, mask, [&](u32 i) __attribute__((always_inline)) {
          const double z = kForm == Form::kFma ? bits_as<double>(sc(c[i])) : 0;
          return bits_as<u64>(canonical(compute(bits_as<double>(sa(a[i])), bits_as<double>(sb(b[i])), z)));
        });
    return;
  }
  write_pairs(window, insn.d, mask, [&](u32 i) {
    if ((mask >> i & 1) == 0) return u64{0};
    const double z = kForm == Form::kFma ? bits_as<double>(sc(c[i])) : 0;
    return bits_as<u64>(
        canonical(rounded_by(rounding, compute, bits_as<double>(sa(a[i])), bits_as<double>(sb(b[i])), z)));
  });
}

// The lesser where s[3], the greater elsewhere; a NaN gives way to the other operand, -0 is less than +0.
void minmax(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  const bool flushes = has(m, kFlush);
  write_lanes<float>(window, insn.d, mask, [&](u32 i) {
    float x = bits_as<float>(sa(a[i])), y = bits_as<float>(sb(b[i]));
    if (flushes) x = flush(x), y = flush(y);
    const bool least = (p >> i & 1) != 0;
    const u32 both = least ? bits_as<u32>(x) | bits_as<u32>(y) : bits_as<u32>(x) & bits_as<u32>(y);
    const float number = x == y ? bits_as<float>(both) : (least ? x < y : x > y) ? x : y;
    return canonical(is_nan(x) ? y : is_nan(y) ? x : number);
  });
}

void select(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  write_lanes<u32>(
      window, insn.d,
      mask, [&](u32 i) __attribute__((always_inline)) { return (p >> i & 1) != 0 ? sa(a[i]) : sb(b[i]); });
}

// Lanes that compare as the modifiers say.
template <class T, class A, class B>
[[gnu::always_inline]] inline u32 compare(Modifiers m, A a, B b) {
  u32 less = 0, equal = 0, greater = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const T x = a(i), y = b(i);
    less |= static_cast<u32>(x < y) << i;
    equal |= static_cast<u32>(x == y) << i;
    greater |= static_cast<u32>(x > y) << i;
  }
  const u32 unordered = ~(less | equal | greater);
  const unsigned how = bits_of(m, kCompareAt, 4);
  u32 result = (how & 8) != 0 ? unordered : 0;
  if ((how & 1) != 0) result |= less;
  if ((how & 2) != 0) result |= equal;
  if ((how & 4) != 0) result |= greater;
  return result;
}

void combine(std::byte* window, const Insn& insn, Modifiers m, u32 result, u32 mask) {
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  const unsigned how = bits_of(m, kCombineAt, 2);
  const auto with = [&](u32 r) { return how == 0 ? r & p : how == 1 ? r | p : r ^ p; };
  if (insn.d != kNone) set_predicate(window, insn.d, with(result), mask);
  if (insn.list != kNone) set_predicate(window, insn.list, with(~result), mask);
}

void compare_singles(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  u32 result;
  if (has(m, kFlush)) {
    result = compare<float>(
        m, [&](u32 i) { return flush(bits_as<float>(sa(a[i]))); },
        [&](u32 i) { return flush(bits_as<float>(sb(b[i]))); });
  } else {
    result = compare<float>(
        m, [&](u32 i) { return bits_as<float>(sa(a[i])); }, [&](u32 i) { return bits_as<float>(sb(b[i])); });
  }
  combine(window, insn, m, result, mask);
}

void compare_doubles(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Wide sa(m, kNegateA, kAbsoluteA), sb(m, kNegateB, kAbsoluteB);
  const Pair a(window, insn.s[0]), b(window, insn.s[1]);
  const u32 result = compare<double>(
      m, [&](u32 i) { return bits_as<double>(sa(a[i])); }, [&](u32 i) { return bits_as<double>(sb(b[i])); });
  combine(window, insn, m, result, mask);
}

// Whether the quotient a / b needs the slow path: where exponents are at their limits or far apart.
void check_division(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 *a = slot<u32>(window, insn.s[0]), *b = slot<u32>(window, insn.s[1]);
  u32 slow = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    const i32 x = static_cast<i32>(a[i] >> 23 & 255), y = static_cast<i32>(b[i] >> 23 & 255), apart = x - y;
    const bool extreme = x <= 23 || x == 255 || y == 0 || y >= 253 || apart >= 126 || apart <= -126;
    slow |= static_cast<u32>(extreme) << i;
  }
  set_predicate(window, insn.d, slow, mask);
}

enum Function { kCos, kSin, kExp2, kLog2, kRcp, kRsqrt, kRcp64, kRsqrt64, kSqrt, kTanh };

u32 upper_half(double value) { return static_cast<u32>(bits_as<u64>(canonical(value)) >> 32); }

u32 evaluate(unsigned function, u32 bits) {
  const double upper = bits_as<double>(u64{bits} << 32);
  if (function == kRcp64) return upper_half(1.0 / upper);
  if (function == kRsqrt64) return upper_half(1.0 / __builtin_sqrt(upper));
  constexpr double kTurn = 6.283185307179586477;
  const double x = flush(bits_as<float>(bits));  // sines take turns, not radians
  double result = 0;
  switch (function) {
    case kCos:
      result = std::cos(x * kTurn);
      break;
    case kSin:
      result = std::sin(x * kTurn);
      break;
    case kExp2:
      result = std::exp2(x);
      break;
    case kLog2:
      result = std::log2(x);
      break;
    case kRcp:
      result = 1.0 / x;
      break;
    case kRsqrt:
      result = 1.0 / __builtin_sqrt(x);
      break;
    case kSqrt:
      result = __builtin_sqrt(x);
      break;
    default:
      result = std::tanh(x);
  }
  return bits_as<u32>(canonical(flush(static_cast<float>(result))));
}

void function(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Single sa(m, kNegateA, kAbsoluteA);
  const u32* const a = slot<u32>(window, insn.s[0]);
  u32* const d = slot<u32>(window, insn.d);
  for (u32 left = mask; left != 0; left &= left - 1) {
    const u32 i = static_cast<u32>(__builtin_ctz(left));
    d[i] = evaluate(insn.sub, sa(a[i]));
  }
}

// A row of pairs of halves, one of which may stand for both, with sign and magnitude.
struct Halves {
  Halves(const std::byte* window, u32 offset, Modifiers m, unsigned half_at, Modifiers negate,
         Modifiers absolute)
      : row(reinterpret_cast<const u32*>(window + offset)),
        half(bits_of(m, half_at, 2)),
        keep(has(m, absolute) ? 0x7fff7fff : kAllLanes),
        flip(has(m, negate) ? 0x80008000 : 0) {}
  [[gnu::always_inline]] u32 operator[](u32 i) const {
    u32 v = row[i];
    if (half == 1) v = (v & 0xffff) | v << 16;
    if (half == 2) v = (v >> 16) | (v & 0xffff0000);
    return (v & keep) ^ flip;
  }
  const u32* row;
  unsigned half;
  u32 keep, flip;
};

template <class H>
[[gnu::always_inline]] inline double number(u32 bits) {
  return double{to_float(H{static_cast<u16>(bits)})};
}

template <class H, Form kForm>
[[gnu::always_inline]] inline u32 half_result(u32 a, u32 b, u32 c, bool saturates, bool single_result) {
  const double x = number<H>(a), y = number<H>(b), z = number<H>(c);
  double r;
  if constexpr (kForm == Form::kFma)
    r = multiply_add_to_odd(x, y, z);
  else if constexpr (kForm == Form::kAdd)
    r = x + y;
  else
    r = x * y;
  if (saturates) r = saturate(r);
  if (single_result) return bits_as<u32>(canonical(static_cast<float>(r)));
  return narrow(r, std::is_same_v<H, f16> ? kHalf : kBfloat, Rounding::kNearest);
}

template <class H, Form kForm>
void halves(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const Halves a(window, insn.s[0], m, kHalfAAt, kNegateA, kAbsoluteA),
      b(window, insn.s[1], m, kHalfBAt, kNegateB, kAbsoluteB),
      c(window, insn.s[2], m, kHalfCAt, kNegateC, kAbsoluteC);
  const bool saturates = has(m, kSaturate), single_result = has(m, kHigh);
  u32* const d = slot<u32>(window, insn.d);
  for (u32 left = mask; left != 0; left &= left - 1) {
    const u32 i = static_cast<u32>(__builtin_ctz(left));
    const u32 low = half_result<H, kForm>(a[i], b[i], c[i], saturates, single_result);
    if (single_result) {
      d[i] = low;
      continue;
    }
    const u32 high = half_result<H, kForm>(a[i] >> 16, b[i] >> 16, c[i] >> 16, saturates, false);
    d[i] = low | high << 16;
  }
}

}  // namespace

void define_sass_float(OperationSink& sink) {
  op_special(sink, "sass.ffma.minus", &multiply_add<true, false>);
  op_special(sink, "sass.ffma.less", &multiply_add<false, true>);
  op_special(sink, "sass.ffma.minus.less", &multiply_add<true, true>);
  op_special(sink, "sass.ffma", &single<Form::kFma>);
  op_special(sink, "sass.fadd", &single<Form::kAdd>);
  op_special(sink, "sass.fmul", &single<Form::kMultiply>);
  op_special(sink, "sass.dfma", &wide<Form::kFma>);
  op_special(sink, "sass.dadd", &wide<Form::kAdd>);
  op_special(sink, "sass.dmul", &wide<Form::kMultiply>);
  op_special(sink, "sass.fmnmx", &minmax);
  op_special(sink, "sass.fsel", &select);
  op_special(sink, "sass.fsetp", &compare_singles);
  op_special(sink, "sass.dsetp", &compare_doubles);
  op_special(sink, "sass.fchk", &check_division);
  op_special(sink, "sass.mufu", &function);
  op_special(sink, "sass.hfma2", &halves<f16, Form::kFma>);
  op_special(sink, "sass.hadd2", &halves<f16, Form::kAdd>);
  op_special(sink, "sass.hmul2", &halves<f16, Form::kMultiply>);
  op_special(sink, "sass.bfma2", &halves<bf16, Form::kFma>);
  op_special(sink, "sass.badd2", &halves<bf16, Form::kAdd>);
  op_special(sink, "sass.bmul2", &halves<bf16, Form::kMultiply>);
}

}  // namespace vgpu::execute::VGPU_ISA
