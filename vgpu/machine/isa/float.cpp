// SPDX-License-Identifier: Apache-2.0
// Single and double precision. Operations that PTX defines by IEEE 754 are exact. Of the functions
// with .approx, tanh and those of doubles are computed by the host in double precision and rounded:
// at least as accurate as the hardware, but not bitwise equal.
#include <cmath>

#include "machine/isa/mufu.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

template <class T>
[[gnu::always_inline]] inline T fused(T a, T b, T c) {
  if constexpr (sizeof(T) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
}
template <class T>
[[gnu::always_inline]] inline T root(T a) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(a);
  else
    return __builtin_sqrt(a);
}

template <bool kFlush, class T>
[[gnu::always_inline]] inline T in(T a) {
  if constexpr (kFlush)
    return flush(a);
  else
    return a;
}
// A result. `operands`: in the order in which one that is NaN becomes the result.
template <bool kFlush, bool kSaturate, class T, class... Operands>
[[gnu::always_inline]] inline T out(T a, Operands... operands) {
  if constexpr (kFlush) a = flush(a);
  if constexpr (kSaturate)
    return saturate(a);
  else if constexpr (sizeof(T) == 8)
    return keep_nan(a, operands...);
  else
    return canonical(a);
}

// Vectorised for rounding to nearest, otherwise lane by lane.
template <Rounding kMode, class F>
void define_rounded(OperationSink& sink, const char* name, const char* suffix, F f) {
  if constexpr (kMode == Rounding::kNearest)
    op(sink, name, suffix, f);
  else
    op_each(sink, name, suffix, f);
}

template <class T, Rounding kMode, bool kFlush, bool kSaturate>
void define_arithmetic(OperationSink& sink, const char* suffix) {
  define_rounded<kMode>(sink, "add", suffix, [](T a, T b) {
    return out<kFlush, kSaturate>(
        rounded<kMode>([](T x, T y, T) { return x + y; }, in<kFlush>(a), in<kFlush>(b), T(0)), b,
        a);
  });
  define_rounded<kMode>(sink, "sub", suffix, [](T a, T b) {
    return out<kFlush, kSaturate>(
        rounded<kMode>([](T x, T y, T) { return x - y; }, in<kFlush>(a), in<kFlush>(b), T(0)), b,
        a);
  });
  define_rounded<kMode>(sink, "mul", suffix, [](T a, T b) {
    return out<kFlush, kSaturate>(
        rounded<kMode>([](T x, T y, T) { return x * y; }, in<kFlush>(a), in<kFlush>(b), T(0)), b,
        a);
  });
  define_rounded<kMode>(sink, "fma mad", suffix, [](T a, T b, T c) {
    return out<kFlush, kSaturate>(rounded<kMode>([](T x, T y, T z) { return fused(x, y, z); },
                                                 in<kFlush>(a), in<kFlush>(b), in<kFlush>(c)),
                                  b, c, a);
  });
}

template <class T, Rounding kMode, bool kFlush>
void define_quotients(OperationSink& sink, const char* suffix) {
  define_rounded<kMode>(sink, "div", suffix, [](T a, T b) {
    return out<kFlush, false>(
        rounded<kMode>([](T x, T y, T) { return x / y; }, in<kFlush>(a), in<kFlush>(b), T(0)), a,
        b);
  });
  define_rounded<kMode>(sink, "rcp", suffix, [](T a) {
    return out<kFlush, false>(
        rounded<kMode>([](T x, T one, T) { return one / x; }, in<kFlush>(a), T(1), T(0)), a);
  });
  define_rounded<kMode>(sink, "sqrt", suffix, [](T a) {
    return out<kFlush, false>(
        rounded<kMode>([](T x, T, T) { return root(x); }, in<kFlush>(a), T(0), T(0)), a);
  });
}

// `op` without a rounding modifier is .rn; sums and products may be written either way.
void define_f32(OperationSink& sink) {
  constexpr Rounding kRn = Rounding::kNearest, kRz = Rounding::kZero, kRm = Rounding::kDown,
                     kRp = Rounding::kUp;
  for (const char* s : {".f32", ".rn.f32"}) define_arithmetic<float, kRn, false, false>(sink, s);
  for (const char* s : {".ftz.f32", ".rn.ftz.f32"})
    define_arithmetic<float, kRn, true, false>(sink, s);
  for (const char* s : {".sat.f32", ".rn.sat.f32"})
    define_arithmetic<float, kRn, false, true>(sink, s);
  for (const char* s : {".ftz.sat.f32", ".rn.ftz.sat.f32"})
    define_arithmetic<float, kRn, true, true>(sink, s);
  define_arithmetic<float, kRz, false, false>(sink, ".rz.f32");
  define_arithmetic<float, kRm, false, false>(sink, ".rm.f32");
  define_arithmetic<float, kRp, false, false>(sink, ".rp.f32");
  define_arithmetic<float, kRz, true, false>(sink, ".rz.ftz.f32");
  define_arithmetic<float, kRm, true, false>(sink, ".rm.ftz.f32");
  define_arithmetic<float, kRp, true, false>(sink, ".rp.ftz.f32");
  define_arithmetic<float, kRz, false, true>(sink, ".rz.sat.f32");
  define_arithmetic<float, kRm, false, true>(sink, ".rm.sat.f32");
  define_arithmetic<float, kRp, false, true>(sink, ".rp.sat.f32");
  define_arithmetic<float, kRz, true, true>(sink, ".rz.ftz.sat.f32");
  define_arithmetic<float, kRm, true, true>(sink, ".rm.ftz.sat.f32");
  define_arithmetic<float, kRp, true, true>(sink, ".rp.ftz.sat.f32");
  define_quotients<float, kRn, false>(sink, ".rn.f32");
  define_quotients<float, kRn, true>(sink, ".rn.ftz.f32");
  define_quotients<float, kRz, false>(sink, ".rz.f32");
  define_quotients<float, kRm, false>(sink, ".rm.f32");
  define_quotients<float, kRp, false>(sink, ".rp.f32");
  define_quotients<float, kRz, true>(sink, ".rz.ftz.f32");
  define_quotients<float, kRm, true>(sink, ".rm.ftz.f32");
  define_quotients<float, kRp, true>(sink, ".rp.ftz.f32");
}

// The upper 32 bits of a number, the others 0; of a subnormal number a zero. NaN is canonical, as
// in single precision.
[[gnu::always_inline]] inline double upper_half(double a) {
  constexpr u64 kExponent = u64{0x7ff} << 52, kUpper = ~u64{0} << 32;
  const u64 bits = bits_as<u64>(a);
  const double upper = bits_as<double>(bits & ((bits & kExponent) == 0 ? u64{1} << 63 : kUpper));
  return is_nan(a) && is_nan(upper) ? bits_as<double>(0x7fffffff00000000ull) : upper;
}

void define_f64(OperationSink& sink) {
  for (const char* s : {".f64", ".rn.f64"})
    define_arithmetic<double, Rounding::kNearest, false, false>(sink, s);
  define_arithmetic<double, Rounding::kZero, false, false>(sink, ".rz.f64");
  define_arithmetic<double, Rounding::kDown, false, false>(sink, ".rm.f64");
  define_arithmetic<double, Rounding::kUp, false, false>(sink, ".rp.f64");
  define_quotients<double, Rounding::kNearest, false>(sink, ".rn.f64");
  define_quotients<double, Rounding::kZero, false>(sink, ".rz.f64");
  define_quotients<double, Rounding::kDown, false>(sink, ".rm.f64");
  define_quotients<double, Rounding::kUp, false>(sink, ".rp.f64");
  op(sink, "rsqrt.approx.f64", [](double a) { return keep_nan(1.0 / root(a), a); });
  // From the upper 32 bits, for the upper 32 bits.
  op(sink, "rcp.approx.ftz.f64", [](double a) { return upper_half(1.0 / upper_half(a)); });
  op(sink, "rsqrt.approx.ftz.f64", [](double a) { return upper_half(1.0 / root(upper_half(a))); });
}

// As the compiler's instructions compute them: the product with 1 / (2 pi) is rounded towards zero.
[[gnu::always_inline]] inline float turns_of(float radians) {
  constexpr float kTurns = 0x1.45f306p-3F;
  const double product = double{radians} * double{kTurns};
  const float nearest = static_cast<float>(product);
  const bool beyond = __builtin_fabs(double{nearest}) > __builtin_fabs(product);
  return bits_as<float>(bits_as<u32>(nearest) - (beyond ? 1 : 0));
}

// Machine code's functions flush subnormal numbers. Without .ftz the compiler scales operands for
// which this matters. `operand` makes the function's operand from those of the instruction, and
// `result` the instruction's from the function's.
template <class Function, class Operand, class Result, class... Sources>
struct Approximation {
  static void all(Warp&, std::byte* window, const Insn& insn, u32 mask) {
    apply(window, insn, mask, std::index_sequence_for<Sources...>());
  }
  template <std::size_t... K>
  [[gnu::always_inline]] static void apply(std::byte* window, const Insn& insn, u32 mask,
                                           std::index_sequence<K...>) {
    [&](const Source<Sources>... s) VGPU_INLINE {
      alignas(64) float results[kLanes];
      mufu<Function>(results, [&](u32 i) VGPU_INLINE { return Operand{}(s[i]...); });
      write_lanes<float>(window, insn.d, mask, [&](u32 i) VGPU_INLINE {
        return canonical(Result{}(results[i], s[i]...));
      });
    }(Source<Sources>(window, insn.s[K])...);
  }
};
template <class Function, class Operand, class Result>
void approximate(OperationSink& sink, const char* name, const char* suffix, Operand, Result) {
  using One = float (*)(float);
  if constexpr (std::is_convertible_v<Operand, One>)
    sink.add(name, suffix, {Arg::kFloat32, {Arg::kFloat32}},
             &Approximation<Function, Operand, Result, float>::all);
  else
    sink.add(name, suffix, {Arg::kFloat32, {Arg::kFloat32, Arg::kFloat32}},
             &Approximation<Function, Operand, Result, float, float>::all);
}

template <bool kFlush>
[[gnu::always_inline]] inline bool is_scaled(float a) {
  return !kFlush && __builtin_fabsf(a) < 0x1p-126F;
}
template <bool kFlush>
[[gnu::always_inline]] inline float scaled(float a) {
  return is_scaled<kFlush>(a) ? a * 0x1p24F : a;
}
// Of a divisor. `kLarge`: also of those whose reciprocals would be flushed.
template <bool kFlush, bool kLarge>
[[gnu::always_inline]] inline float scale(float a) {
  const bool large = kLarge && __builtin_fabsf(a) > 0x1p126F;
  return large ? 0x1p-2F : is_scaled<kFlush>(a) ? 0x1p24F : 1;
}

template <bool kFlush, bool kLarge>
void define_approximate_quotient(OperationSink& sink, const char* name, const char* suffix) {
  approximate<Reciprocal>(
      sink, name, suffix, [](float, float b) VGPU_INLINE { return b * scale<kFlush, kLarge>(b); },
      [](float reciprocal, float a, float b) VGPU_INLINE {
        return out<kFlush, false>(in<kFlush>(in<kFlush>(a) * scale<kFlush, kLarge>(b)) *
                                  reciprocal);
      });
}

template <bool kFlush>
void define_approximate(OperationSink& sink, const char* suffix) {
  define_approximate_quotient<kFlush, false>(sink, "div.approx", suffix);
  define_approximate_quotient<kFlush, true>(sink, "div.full", suffix);
  approximate<Reciprocal>(
      sink, "rcp.approx", suffix, [](float a) VGPU_INLINE { return a * scale<kFlush, !kFlush>(a); },
      [](float r, float a) VGPU_INLINE { return r * scale<kFlush, !kFlush>(a); });
  approximate<Root>(
      sink, "sqrt.approx", suffix, [](float a) VGPU_INLINE { return scaled<kFlush>(a); },
      [](float r, float a) VGPU_INLINE { return r * (is_scaled<kFlush>(a) ? 0x1p-12F : 1); });
  approximate<InverseRoot>(
      sink, "rsqrt.approx", suffix, [](float a) VGPU_INLINE { return scaled<kFlush>(a); },
      [](float r, float a) VGPU_INLINE { return r * (is_scaled<kFlush>(a) ? 0x1p12F : 1); });
  approximate<Log2>(
      sink, "lg2.approx", suffix, [](float a) VGPU_INLINE { return scaled<kFlush>(a); },
      [](float r, float a) VGPU_INLINE { return r - (is_scaled<kFlush>(a) ? 24.0F : 0); });
  // The root of a power that is subnormal, squared.
  approximate<Exp2>(
      sink, "ex2.approx", suffix,
      [](float a) VGPU_INLINE { return !kFlush && a < -126 ? a * 0.5F : a; },
      [](float r, float a) VGPU_INLINE { return !kFlush && a < -126 ? r * r : r; });
  const auto turns = [](float a) VGPU_INLINE { return turns_of(in<kFlush>(a)); };
  const auto same = [](float r, float) VGPU_INLINE { return r; };
  approximate<SineOfTurns<false>>(sink, "sin.approx", suffix, turns, same);
  approximate<SineOfTurns<true>>(sink, "cos.approx", suffix, turns, same);
}

// Minimum or maximum. If one operand is NaN the result is the other; -0 is less than +0.
template <class T, bool kMax>
[[gnu::always_inline]] inline T extreme(T a, T b) {
  using U = std::conditional_t<sizeof(T) == 4, u32, u64>;
  const U equal = kMax ? bits_as<U>(a) & bits_as<U>(b) : bits_as<U>(a) | bits_as<U>(b);
  const T picked = (kMax ? a > b : a < b) ? a : b;
  const T number = a == b ? bits_as<T>(equal) : picked;
  return is_nan(a) ? b : is_nan(b) ? a : number;
}
[[gnu::always_inline]] inline float magnitude(float a) {
  return bits_as<float>(bits_as<u32>(a) & 0x7fffffff);
}
[[gnu::always_inline]] inline float with_signs(float a, float b, float of) {
  return bits_as<float>((bits_as<u32>(of) & 0x7fffffff) |
                        ((bits_as<u32>(a) ^ bits_as<u32>(b)) & 0x80000000));
}

template <bool kMax, bool kFlush>
void define_extremes(OperationSink& sink, const char* name, const char* nan, const char* sign,
                     const char* nan_sign) {
  op(sink, name, [](float a, float b) {
    return canonical(extreme<float, kMax>(in<kFlush>(a), in<kFlush>(b)));
  });
  op(sink, nan, [](float a, float b) {
    const float r = extreme<float, kMax>(in<kFlush>(a), in<kFlush>(b));
    return canonical(is_nan(a) ? a : is_nan(b) ? b : r);
  });
  op(sink, sign, [](float a, float b) {
    const float r = extreme<float, kMax>(magnitude(in<kFlush>(a)), magnitude(in<kFlush>(b)));
    return canonical(with_signs(a, b, r));
  });
  op(sink, nan_sign, [](float a, float b) {
    const float r = extreme<float, kMax>(magnitude(in<kFlush>(a)), magnitude(in<kFlush>(b)));
    return canonical(is_nan(a) ? a : is_nan(b) ? b : with_signs(a, b, r));
  });
}

// Signs are changed by sums with zero, which make NaN canonical or quiet.
void define_signs(OperationSink& sink) {
  op(sink, "abs.f32", [](float a) { return canonical(magnitude(a)); });
  op(sink, "abs.ftz.f32", [](float a) { return canonical(magnitude(flush(a))); });
  op(sink, "neg.f32", [](u32 a) { return bits_as<u32>(canonical(-bits_as<float>(a))); });
  op(sink, "neg.ftz.f32", [](float a) { return bits_as<u32>(canonical(-flush(a))); });
  op(sink, "abs.f64", [](u64 a) {
    const double x = bits_as<double>(a);
    return bits_as<u64>(keep_nan(__builtin_fabs(x), x));
  });
  op(sink, "neg.f64", [](u64 a) {
    const double x = bits_as<double>(a);
    return bits_as<u64>(keep_nan(-x, x));
  });
  // The result takes the sign of the first operand.
  op(sink, "copysign.f32", [](u32 a, u32 b) { return (a & 0x80000000) | (b & 0x7fffffff); });
  op(sink, "copysign.f64",
     [](u64 a, u64 b) { return (a & 0x8000000000000000) | (b & 0x7fffffffffffffff); });
}

}  // namespace

void define_float(OperationSink& sink) {
  define_f32(sink);
  define_f64(sink);
  define_approximate<false>(sink, ".f32");
  define_approximate<true>(sink, ".ftz.f32");
  op_each(sink, "tanh.approx.f32",
          [](float a) { return canonical(static_cast<float>(std::tanh(static_cast<double>(a)))); });
  define_extremes<false, false>(sink, "min.f32", "min.NaN.f32", "min.xorsign.abs.f32",
                                "min.NaN.xorsign.abs.f32");
  define_extremes<false, true>(sink, "min.ftz.f32", "min.ftz.NaN.f32", "min.ftz.xorsign.abs.f32",
                               "min.ftz.NaN.xorsign.abs.f32");
  define_extremes<true, false>(sink, "max.f32", "max.NaN.f32", "max.xorsign.abs.f32",
                               "max.NaN.xorsign.abs.f32");
  define_extremes<true, true>(sink, "max.ftz.f32", "max.ftz.NaN.f32", "max.ftz.xorsign.abs.f32",
                              "max.ftz.NaN.xorsign.abs.f32");
  op(sink, "min.f64", [](double a, double b) { return quiet(extreme<double, false>(a, b)); });
  op(sink, "max.f64", [](double a, double b) { return quiet(extreme<double, true>(a, b)); });
  define_signs(sink);
}

}  // namespace vgpu::machine::VGPU_ISA
