// SPDX-License-Identifier: Apache-2.0
// Machine code: pairs of 16-bit floating-point numbers.
#include "machine/isa/half_rows.hpp"
#include "machine/isa/sass.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

enum class Form { kFma, kAdd, kMultiply };

// A row of pairs of halves, with sign and magnitude modifiers. One half may be used for both, or
// the halves are exchanged and the lower one is negated.
struct Halves {
  Halves(const std::byte* window, u32 offset, Modifiers m, unsigned half_at, Modifiers negate,
         Modifiers absolute)
      : unmodified(reinterpret_cast<const u32*>(window + offset)),
        keep(has(m, absolute) ? 0x7fff7fff : kAllLanes),
        flip(has(m, negate) ? 0x80008000 : 0) {
    const auto fill = [&](auto pick) VGPU_INLINE {
      for (u32 i = 0; i < kLanes; ++i) picked[i] = pick(unmodified[i]);
      unmodified = picked;
    };
    switch (bits_of(m, half_at, 2)) {
      case 1: fill([](u32 v) { return (v & 0xffff) | v << 16; }); break;
      case 2: fill([](u32 v) { return v >> 16 | (v & 0xffff0000); }); break;
      case 3: fill([](u32 v) { return v << 16 | (v >> 16 ^ 0x8000); }); break;
      default: break;
    }
  }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;
  [[gnu::always_inline]] u32 operator[](u32 i) const { return (unmodified[i] & keep) ^ flip; }
  alignas(64) u32 picked[kLanes];
  const u32* unmodified;
  u32 keep, flip;
};

// With .FTZ, which only pairs of f16 have, subnormal numbers are zeros.
[[gnu::always_inline]] inline u32 flushed(u32 bits, Modifiers m) {
  return has(m, kFlush) && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits & 0xffff;
}

template <class H>
[[gnu::always_inline]] inline void round_numbers(const float* from, u16* to) {
  if constexpr (std::is_same_v<H, f16>) {
    narrow_to_halves(from, to);
  } else {
    for (u32 i = 0; i < kHalves; ++i) to[i] = static_cast<u16>(float_to_half<H>(from[i]));
  }
}
template <class H>
[[gnu::always_inline]] inline void round_numbers(const double* from, u16* to) {
  for (u32 i = 0; i < kHalves; ++i)
    to[i] = static_cast<u16>(float_to_half<H>(single_to_odd(from[i])));
}

// All halves of an operand as numbers.
template <class H, class T>
struct Numbers {
  Numbers(const Halves& of, Modifiers m) : halves(reinterpret_cast<const u16*>(of.unmodified)) {
    if (of.keep != kAllLanes || of.flip != 0 || has(m, kFlush)) {
      const u16 keep = static_cast<u16>(of.keep), flip = static_cast<u16>(of.flip);
      for (u32 i = 0; i < kHalves; ++i)
        changed[i] = static_cast<u16>(flushed((halves[i] & keep) ^ flip, m));
      halves = changed;
    }
    if constexpr (std::is_same_v<H, f16>) {
      widen_halves(halves, values);
    } else {
      for (u32 i = 0; i < kHalves; ++i) values[i] = T{half_to_float<H>(halves[i])};
    }
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  alignas(64) T values[kHalves];
  alignas(64) u16 changed[kHalves];
  const u16* halves;
};

// Results as numbers that are rounded once more.
template <class H, Form kForm, class T>
[[gnu::always_inline]] inline void calculate(const Numbers<H, T>& a, const Numbers<H, T>& b,
                                             const Halves& of_c, Modifiers m, T* r) {
  const T *const x = a.values, *const y = b.values;
  if constexpr (kForm == Form::kFma) {
    const Numbers<H, T> c(of_c, m);
    if constexpr (std::is_same_v<T, float>) {
      multiply_add_halves(x, y, c.values, r);
    } else {
      for (u32 i = 0; i < kHalves; ++i) r[i] = multiply_add_to_odd(x[i], y[i], c.values[i]);
    }
  } else {
    for (u32 i = 0; i < kHalves; ++i) r[i] = kForm == Form::kAdd ? x[i] + y[i] : x[i] * y[i];
  }
  if (has(m, kSaturate)) {
    for (u32 i = 0; i < kHalves; ++i) r[i] = saturate(r[i]);
  }
  if (has(m, kRelu)) {
    for (u32 i = 0; i < kHalves; ++i) r[i] = r[i] <= 0 ? 0 : r[i];
  }
  if (has(m, kExtended)) {
    for (u32 i = 0; i < kHalves; ++i)
      r[i] = is_outside(a.halves[i]) || is_outside(b.halves[i]) ? 0 : r[i];
  }
}

// Single precision has room for sums, and for products of f16. bf16's products may be out of its
// range, and a sum rounded to odd cannot be rounded to single precision once more.
template <class H, Form kForm>
[[gnu::always_inline]] inline void halves_by(std::byte* window, const Insn& insn, u32 mask,
                                             Modifiers m) {
  using T = std::conditional_t<kForm == Form::kAdd || std::is_same_v<H, f16>, float, double>;
  const Halves a(window, insn.s[0], m, kHalfAAt, kNegateA, kAbsoluteA),
      b(window, insn.s[1], m, kHalfBAt, kNegateB, kAbsoluteB),
      c(window, insn.s[2], m, kHalfCAt, kNegateC, kAbsoluteC);
  alignas(64) T numbers[kHalves];
  calculate<H, kForm>(Numbers<H, T>(a, m), Numbers<H, T>(b, m), c, m, numbers);
  if (kForm == Form::kAdd && has(m, kHigh)) {  // a result in single precision
    write_lanes<float>(window, insn.d, mask,
                       [&](u32 i) { return canonical(static_cast<float>(numbers[2 * i])); });
    return;
  }
  alignas(64) u16 results[kHalves];
  round_numbers<H>(numbers, results);
  if (has(m, kFlush)) {
    for (u16& result : results) result = static_cast<u16>(flushed(result, m));
  }
  alignas(64) u32 pairs[kLanes];
  __builtin_memcpy(pairs, results, sizeof(pairs));
  blend(slot<u32>(window, insn.d), pairs, mask);
}

template <class H, Form kForm>
[[gnu::noinline]] void halves_with_modifiers(std::byte* window, const Insn& insn, u32 mask) {
  halves_by<H, kForm>(window, insn, mask, modifiers(insn));
}

template <class H, Form kForm>
void halves(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  if (modifiers(insn) == 0)
    halves_by<H, kForm>(window, insn, mask, Modifiers{});
  else
    halves_with_modifiers<H, kForm>(window, insn, mask);
}

// Mask of the lanes for whose lower (upper) halves the comparison given by the modifiers is true.
template <class H>
u32 compare_halves(Modifiers m, const Halves& a, const Halves& b, u32 shift) {
  return compare<float>(
      m, [&](u32 i) { return half_to_float<H>(flushed(a[i] >> shift, m)); },
      [&](u32 i) { return half_to_float<H>(flushed(b[i] >> shift, m)); });
}

struct TwoHalves {
  TwoHalves(const std::byte* window, const Insn& insn, Modifiers m)
      : a(window, insn.s[0], m, kHalfAAt, kNegateA, kAbsoluteA),
        b(window, insn.s[1], m, kHalfBAt, kNegateB, kAbsoluteB) {}
  Halves a, b;
};

// d, list: a predicate for the lower and one for the upper halves, or, with .H_AND (kHigh), one for
// both halves and its complement.
template <class H>
void set_predicates(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const TwoHalves halves(window, insn, m);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  u32 first = compare_halves<H>(m, halves.a, halves.b, 0),
      second = compare_halves<H>(m, halves.a, halves.b, 16);
  if (has(m, kHigh)) {
    first &= second;
    second = ~first;
  }
  if (insn.d != kNone) set_predicate(window, insn.d, combined(first, p, m), mask);
  if (insn.list != kNone) set_predicate(window, insn.list, combined(second, p, m), mask);
}

// All bits of a half, or the number 1.
template <class H>
void set_halves(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const TwoHalves halves(window, insn, m);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  const u32 low = combined(compare_halves<H>(m, halves.a, halves.b, 0), p, m),
            high = combined(compare_halves<H>(m, halves.a, halves.b, 16), p, m);
  const u32 yes = !has(m, kHigh) ? 0xffff : std::is_same_v<H, f16> ? 0x3c00 : 0x3f80;
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) {
    return ((low >> i & 1) != 0 ? yes : 0) | ((high >> i & 1) != 0 ? yes << 16 : 0);
  });
}

// If one operand is NaN the result is the other; with .NAN it is NaN. -0 is less than +0. `sign` is
// that of .XORSIGN.
template <class H>
[[gnu::always_inline]] inline u32 lesser_half(u32 a, u32 b, bool least, bool keeps_nan, u32 sign) {
  constexpr u32 kInfinity = std::is_same_v<H, f16> ? 0x7c00 : 0x7f80;
  const bool a_is_nan = (a & 0x7fff) > kInfinity, b_is_nan = (b & 0x7fff) > kInfinity;
  const auto order = [](u32 v) VGPU_INLINE {
    const i32 size = static_cast<i32>(v & 0x7fff);
    return (v & 0x8000) != 0 ? ~size : size;
  };
  const u32 number = (order(a) < order(b)) == least ? a : b;
  const u32 result = a_is_nan ? b : b_is_nan ? a : number;
  const bool nan = keeps_nan ? a_is_nan | b_is_nan : a_is_nan & b_is_nan;
  return nan ? 0x7fff : (result & 0xffff) | (sign & 0x8000);
}

template <class H>
void choose_halves(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const TwoHalves halves(window, insn, m);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  const u32 signs = mask_if(m, kWrap);
  const bool keeps_nan = has(m, kHigh);
  by_predicate(p, mask, [&](auto is_least) VGPU_INLINE {
    write_lanes<u32>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
      const u32 a = halves.a[i], b = halves.b[i];
      const u32 sign = signs & (halves.a.unmodified[i] ^ halves.b.unmodified[i]);
      return lesser_half<H>(flushed(a, m), flushed(b, m), is_least(i), keeps_nan, sign) |
             lesser_half<H>(flushed(a >> 16, m), flushed(b >> 16, m), is_least(i), keeps_nan,
                            sign >> 16)
                 << 16;
    });
  });
}

// Of three operands, without .XORSIGN.
template <class H>
void choose_of_three(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const Modifiers m = modifiers(insn);
  const TwoHalves halves(window, insn, m);
  const Halves third(window, insn.s[2], m, kHalfCAt, kNegateC, kAbsoluteC);
  const u32 p = predicate(window, insn.s[3], m, kNegateP);
  const bool keeps_nan = has(m, kHigh);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) {
    const bool least = (p >> i & 1) != 0;
    u32 result = 0;
    for (const u32 shift : {0u, 16u}) {
      const u32 first = lesser_half<H>(flushed(halves.a[i] >> shift, m),
                                       flushed(halves.b[i] >> shift, m), least, keeps_nan, 0);
      result |= lesser_half<H>(first, flushed(third[i] >> shift, m), least, keeps_nan, 0) << shift;
    }
    return result;
  });
}

template <class H>
void define_halves(OperationSink& sink, const char* fma, const char* add, const char* multiply,
                   const char* compare, const char* set, const char* choose, const char* choose3) {
  op_special(sink, fma, &halves<H, Form::kFma>);
  op_special(sink, add, &halves<H, Form::kAdd>);
  op_special(sink, multiply, &halves<H, Form::kMultiply>);
  op_special(sink, compare, &set_predicates<H>);
  op_special(sink, set, &set_halves<H>);
  op_special(sink, choose, &choose_halves<H>);
  op_special(sink, choose3, &choose_of_three<H>);
}

}  // namespace

void define_sass_half(OperationSink& sink) {
  define_halves<f16>(sink, "sass.hfma2", "sass.hadd2", "sass.hmul2", "sass.hsetp2", "sass.hset2",
                     "sass.hmnmx2", "sass.hmnmx3");
  define_halves<bf16>(sink, "sass.bfma2", "sass.badd2", "sass.bmul2", "sass.bsetp2", "sass.bset2",
                      "sass.bmnmx2", "sass.bmnmx3");
}

}  // namespace vgpu::machine::VGPU_ISA
