// SPDX-License-Identifier: Apache-2.0
// Arithmetic in the 16-bit formats, single and in pairs. Every result is the exact value rounded
// once. Sums of two 11- or 8-bit significands, and their products, may first be rounded to 24 bits
// without changing the result. Exceptions are bfloat16 products outside single precision's range
// and the fused operation; both are computed in double precision and rounded to odd.
#include <cmath>

#include "machine/isa/compare.hpp"
#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

template <class H>
struct Traits;
template <>
struct Traits<f16> {
  static constexpr Format kFormat = kHalf;
  [[gnu::always_inline]] static f16 round(float a) { return to_half(a); }
  [[gnu::always_inline]] static f16 product(float a, float b) { return to_half(a * b); }
};
template <>
struct Traits<bf16> {
  static constexpr Format kFormat = kBfloat;
  [[gnu::always_inline]] static bf16 round(float a) { return to_bfloat(a); }
  [[gnu::always_inline]] static bf16 product(float a, float b) {
    return to_bfloat(single_to_odd(double{a} * double{b}));
  }
};

enum class After { kNothing, kSaturate, kRelu };

template <class H, bool kFlush>
[[gnu::always_inline]] inline H flush_half(H a) {
  constexpr u16 kExponent = Traits<H>::kFormat.exponent == 5 ? 0x7c00 : 0x7f80;
  if constexpr (kFlush) a.bits = (a.bits & kExponent) == 0 ? a.bits & 0x8000 : a.bits;
  return a;
}

template <class H, bool kFlush, After kAfter>
[[gnu::always_inline]] inline H finish(H a) {
  a = flush_half<H, kFlush>(a);
  const float value = to_float(a);
  if constexpr (kAfter == After::kSaturate) return Traits<H>::round(saturate(value));
  if constexpr (kAfter == After::kRelu) a.bits = value < 0 || a.bits == 0x8000 ? 0 : a.bits;
  a.bits = !is_nan(value) ? a.bits : u16{0x7fff};
  return a;
}

template <class H>
[[gnu::always_inline]] inline H fused(H a, H b, H c) {
  return Traits<H>::round(single_to_odd(
      multiply_add_to_odd(double{to_float(a)}, double{to_float(b)}, double{to_float(c)})));
}

template <class H>
[[gnu::always_inline]] inline H half_of(u32 pair, int n) {
  return H{static_cast<u16>(pair >> 16 * n)};
}
template <class H>
[[gnu::always_inline]] inline u32 join(H low, H high) {
  return low.bits | static_cast<u32>(high.bits) << 16;
}

// The scalar operation f under `name`.H and both halves of a pair under `name`.Hx2.
template <class H, class F>
void define_unary(OperationSink& sink, const char* name, const char* one, const char* two, F) {
  op_each(sink, name, one, [](H a) { return F{}(a); });
  op_each(sink, name, two,
          [](u32 a) { return join(F{}(half_of<H>(a, 0)), F{}(half_of<H>(a, 1))); });
}
template <class H, class F>
void define_binary(OperationSink& sink, const char* name, const char* one, const char* two, F) {
  op(sink, name, one, [](H a, H b) { return F{}(a, b); });
  op(sink, name, two, [](u32 a, u32 b) {
    return join(F{}(half_of<H>(a, 0), half_of<H>(b, 0)), F{}(half_of<H>(a, 1), half_of<H>(b, 1)));
  });
}
template <class H, class F>
void define_ternary(OperationSink& sink, const char* name, const char* one, const char* two, F) {
  op_each(sink, name, one, [](H a, H b, H c) { return F{}(a, b, c); });
  op_each(sink, name, two, [](u32 a, u32 b, u32 c) {
    return join(F{}(half_of<H>(a, 0), half_of<H>(b, 0), half_of<H>(c, 0)),
                F{}(half_of<H>(a, 1), half_of<H>(b, 1), half_of<H>(c, 1)));
  });
}

template <class H, bool kFlush, After kAfter>
void define_arithmetic(OperationSink& sink, const char* adds, const char* subs, const char* muls,
                       const char* fmas, const char* one, const char* two) {
  define_binary<H>(sink, adds, one, two, [](H a, H b) {
    return finish<H, kFlush, kAfter>(
        Traits<H>::round(to_float(flush_half<H, kFlush>(a)) + to_float(flush_half<H, kFlush>(b))));
  });
  define_binary<H>(sink, subs, one, two, [](H a, H b) {
    return finish<H, kFlush, kAfter>(
        Traits<H>::round(to_float(flush_half<H, kFlush>(a)) - to_float(flush_half<H, kFlush>(b))));
  });
  define_binary<H>(sink, muls, one, two, [](H a, H b) {
    return finish<H, kFlush, kAfter>(
        Traits<H>::product(to_float(flush_half<H, kFlush>(a)), to_float(flush_half<H, kFlush>(b))));
  });
  define_ternary<H>(sink, fmas, one, two, [](H a, H b, H c) {
    return finish<H, kFlush, kAfter>(
        fused(flush_half<H, kFlush>(a), flush_half<H, kFlush>(b), flush_half<H, kFlush>(c)));
  });
}

template <class H>
[[gnu::always_inline]] inline H canonical_half(H a) {
  return is_nan(to_float(a)) ? H{0x7fff} : a;
}
template <class H>
[[gnu::always_inline]] inline H nan_first(H a, H b, H r) {
  const float x = to_float(a), y = to_float(b);
  return H{is_nan(x) || is_nan(y) ? u16{0x7fff} : r.bits};
}
template <class H>
[[gnu::always_inline]] inline H magnitude(H a) {
  return H{static_cast<u16>(a.bits & 0x7fff)};
}
template <class H>
[[gnu::always_inline]] inline H with_signs(H a, H b, H r) {
  return H{static_cast<u16>((r.bits & 0x7fff) | ((a.bits ^ b.bits) & 0x8000))};
}

template <class H, bool kMax, bool kFlush>
void define_extremes(OperationSink& sink, const char* plain, const char* nan, const char* sign,
                     const char* nan_sign, const char* one, const char* two) {
  define_binary<H>(sink, plain, one, two, [](H a, H b) {
    return extreme_half<H, kMax>(flush_half<H, kFlush>(a), flush_half<H, kFlush>(b));
  });
  define_binary<H>(sink, nan, one, two, [](H a, H b) {
    return nan_first(a, b,
                     extreme_half<H, kMax>(flush_half<H, kFlush>(a), flush_half<H, kFlush>(b)));
  });
  define_binary<H>(sink, sign, one, two, [](H a, H b) {
    const H r = extreme_half<H, kMax>(magnitude(flush_half<H, kFlush>(a)),
                                      magnitude(flush_half<H, kFlush>(b)));
    return (r.bits & 0x7fff) == 0x7fff ? r : with_signs(a, b, r);
  });
  define_binary<H>(sink, nan_sign, one, two, [](H a, H b) {
    const H r = extreme_half<H, kMax>(magnitude(flush_half<H, kFlush>(a)),
                                      magnitude(flush_half<H, kFlush>(b)));
    return nan_first(a, b, with_signs(a, b, r));
  });
}

template <class H>
void define_signs(OperationSink& sink, const char* one, const char* two) {
  const auto negated = [](H a) { return H{static_cast<u16>(a.bits ^ 0x8000)}; };
  using Negated = decltype(negated);
  define_unary<H>(sink, "abs", one, two, [](H a) { return canonical_half(magnitude(a)); });
  define_unary<H>(sink, "neg", one, two, [](H a) { return canonical_half(Negated{}(a)); });
  define_unary<H>(sink, "abs.ftz", one, two,
                  [](H a) { return canonical_half(magnitude(flush_half<H, true>(a))); });
  define_unary<H>(sink, "neg.ftz", one, two,
                  [](H a) { return canonical_half(Negated{}(flush_half<H, true>(a))); });
}

template <class H>
H through_double(H a, double (*f)(double)) {
  return finish<H, false, After::kNothing>(
      H{static_cast<u16>(narrow(f(double{to_float(a)}), Traits<H>::kFormat, Rounding::kNearest))});
}

template <class H>
void define_functions(OperationSink& sink, const char* ex2, const char* one, const char* two) {
  define_unary<H>(sink, ex2, one, two,
                  [](H a) { return through_double(a, [](double x) { return std::exp2(x); }); });
  define_unary<H>(sink, "tanh.approx", one, two,
                  [](H a) { return through_double(a, [](double x) { return std::tanh(x); }); });
}

template <class H>
void define_format(OperationSink& sink, const char* one, const char* two) {
  define_arithmetic<H, false, After::kNothing>(sink, "add add.rn", "sub sub.rn", "mul mul.rn",
                                               "fma.rn", one, two);
  define_arithmetic<H, false, After::kSaturate>(sink, "add.sat add.rn.sat", "sub.sat sub.rn.sat",
                                                "mul.sat mul.rn.sat", "fma.rn.sat", one, two);
  define_ternary<H>(sink, "fma.rn.relu", one, two,
                    [](H a, H b, H c) { return finish<H, false, After::kRelu>(fused(a, b, c)); });
  define_ternary<H>(sink, "fma.rn.oob", one, two, [](H a, H b, H c) {
    return is_outside(a.bits) || is_outside(b.bits) ? H{0} : fused(a, b, c);
  });
  define_ternary<H>(sink, "fma.rn.oob.relu", one, two, [](H a, H b, H c) {
    return is_outside(a.bits) || is_outside(b.bits)
               ? H{0}
               : finish<H, false, After::kRelu>(fused(a, b, c));
  });
  define_extremes<H, false, false>(sink, "min", "min.NaN", "min.xorsign.abs", "min.NaN.xorsign.abs",
                                   one, two);
  define_extremes<H, true, false>(sink, "max", "max.NaN", "max.xorsign.abs", "max.NaN.xorsign.abs",
                                  one, two);
  define_signs<H>(sink, one, two);
}

// setp of a pair: the low halves' result goes to p, the high ones' to q. set writes a mask or 1.0
// to each half.
enum class Test { kEq, kNe, kLt, kLe, kGt, kGe, kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
constexpr const char* kTestNames[] = {"eq.",  "ne.",  "lt.",  "le.",  "gt.",  "ge.",  "equ.",
                                      "neu.", "ltu.", "leu.", "gtu.", "geu.", "num.", "nan."};
[[gnu::always_inline]] inline bool holds(Test test, float x, float y) {
  const bool unordered = is_nan(x) || is_nan(y);
  switch (test) {
    case Test::kEq: return x == y;
    case Test::kNe: return !unordered && x != y;
    case Test::kLt: return x < y;
    case Test::kLe: return x <= y;
    case Test::kGt: return x > y;
    case Test::kGe: return x >= y;
    case Test::kEqu: return unordered || x == y;
    case Test::kNeu: return unordered || x != y;
    case Test::kLtu: return unordered || x < y;
    case Test::kLeu: return unordered || x <= y;
    case Test::kGtu: return unordered || x > y;
    case Test::kGeu: return unordered || x >= y;
    case Test::kNum: return !unordered;
    case Test::kNan: return unordered;
  }
  return false;
}

template <class H, Test kTest, bool kFlush>
[[gnu::always_inline]] inline bool holds(u32 a, u32 b, unsigned half) {
  return holds(kTest, to_float(flush_half<H, kFlush>(half_of<H>(a, half))),
               to_float(flush_half<H, kFlush>(half_of<H>(b, half))));
}

template <class H, Test kTest, bool kFlush>
void compare_pair(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  const u32* const b = slot<u32>(window, insn.s[1]);
  u32 low = 0, high = 0;
  for (u32 i = 0; i < kLanes; ++i) {
    low |= static_cast<u32>(holds<H, kTest, kFlush>(a[i], b[i], 0)) << i;
    high |= static_cast<u32>(holds<H, kTest, kFlush>(a[i], b[i], 1)) << i;
  }
  if (insn.sub != kCombineNone) {
    u32 c = *slot<u32>(window, insn.s[2]);
    if ((insn.flags & kFlagNegate) != 0) c = ~c;
    low = insn.sub == kCombineAnd ? low & c : insn.sub == kCombineOr ? low | c : low ^ c;
    high = insn.sub == kCombineAnd ? high & c : insn.sub == kCombineOr ? high | c : high ^ c;
  }
  if (insn.d != kNone) set_predicate(window, insn.d, low, mask);
  if (insn.list != kNone) set_predicate(window, insn.list, high, mask);
}

template <class H, Test kTest, u16 kTrue, bool kFlush>
void set_pair(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32* const a = slot<u32>(window, insn.s[0]);
  const u32* const b = slot<u32>(window, insn.s[1]);
  write_lanes<u32>(window, insn.d, mask, [&](u32 i) {
    const bool low = holds<H, kTest, kFlush>(a[i], b[i], 0),
               high = holds<H, kTest, kFlush>(a[i], b[i], 1);
    return (low ? kTrue : 0u) | (high ? static_cast<u32>(kTrue) << 16 : 0u);
  });
}

template <class H, Test kTest, u16 kOne, bool kFlush>
void define_pair_test(OperationSink& sink, const char* setp, const char* set_mask,
                      const char* set_one) {
  constexpr Shape kTests{Arg::kAbsent, {Arg::kInt32, Arg::kInt32}};
  constexpr Shape kSets{Arg::kInt32, {Arg::kInt32, Arg::kInt32}};
  constexpr const char* kName = kTestNames[static_cast<int>(kTest)];
  sink.add_joined("setp.", kName, setp, kTests, &compare_pair<H, kTest, kFlush>);
  sink.add_joined("set.", kName, set_mask, kSets, &set_pair<H, kTest, 0xffff, kFlush>);
  sink.add_joined("set.", kName, set_one, kSets, &set_pair<H, kTest, kOne, kFlush>);
}
template <class H, u16 kOne, bool kFlush, std::size_t... K>
void define_pair_tests(OperationSink& sink, const char* setp, const char* set_mask,
                       const char* set_one, std::index_sequence<K...>) {
  (define_pair_test<H, static_cast<Test>(K), kOne, kFlush>(sink, setp, set_mask, set_one), ...);
}

}  // namespace

void define_half(OperationSink& sink) {
  define_format<f16>(sink, ".f16", ".f16x2");
  define_format<bf16>(sink, ".bf16", ".bf16x2");
  define_arithmetic<f16, true, After::kNothing>(sink, "add.ftz add.rn.ftz", "sub.ftz sub.rn.ftz",
                                                "mul.ftz mul.rn.ftz", "fma.rn.ftz", ".f16",
                                                ".f16x2");
  define_arithmetic<f16, true, After::kSaturate>(
      sink, "add.ftz.sat add.rn.ftz.sat", "sub.ftz.sat sub.rn.ftz.sat",
      "mul.ftz.sat mul.rn.ftz.sat", "fma.rn.ftz.sat", ".f16", ".f16x2");
  define_ternary<f16>(sink, "fma.rn.ftz.relu", ".f16", ".f16x2", [](f16 a, f16 b, f16 c) {
    return finish<f16, true, After::kRelu>(
        fused(flush_half<f16, true>(a), flush_half<f16, true>(b), flush_half<f16, true>(c)));
  });
  define_extremes<f16, false, true>(sink, "min.ftz", "min.ftz.NaN", "min.ftz.xorsign.abs",
                                    "min.ftz.NaN.xorsign.abs", ".f16", ".f16x2");
  define_extremes<f16, true, true>(sink, "max.ftz", "max.ftz.NaN", "max.ftz.xorsign.abs",
                                   "max.ftz.NaN.xorsign.abs", ".f16", ".f16x2");
  define_functions<f16>(sink, "ex2.approx", ".f16", ".f16x2");
  define_functions<bf16>(sink, "ex2.approx.ftz", ".bf16", ".bf16x2");
  define_float_tests<f16>(sink, "f16", [](f16 a) { return to_float(a); });
  define_float_tests<f16>(sink, "ftz.f16",
                          [](f16 a) { return to_float(flush_half<f16, true>(a)); });
  define_float_tests<bf16>(sink, "bf16", [](bf16 a) { return to_float(a); });
  using All = std::make_index_sequence<std::size(kTestNames)>;
  define_pair_tests<f16, 0x3c00, false>(sink, "f16x2", "u32.f16x2", "f16x2.f16x2", All());
  define_pair_tests<f16, 0x3c00, true>(sink, "ftz.f16x2", "ftz.u32.f16x2", "ftz.f16x2.f16x2",
                                       All());
  define_pair_tests<bf16, 0x3f80, false>(sink, "bf16x2", "u32.bf16x2", "bf16x2.bf16x2", All());
}

}  // namespace vgpu::machine::VGPU_ISA
