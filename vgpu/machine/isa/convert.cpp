// SPDX-License-Identifier: Apache-2.0
// cvt between all integer and floating-point types. 8-bit values are held in 16-bit registers,
// sign- or zero-extended according to their type.

#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

// A type's name in cvt and its representation in a register.
template <class T>
struct Named {
  using Value = T;
  using Stored =
      std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, i16, u16>, T>;
  const char* name;
};
constexpr Named<u8> kU8{"u8"};
constexpr Named<i8> kS8{"s8"};
constexpr Named<u16> kU16{"u16"};
constexpr Named<i16> kS16{"s16"};
constexpr Named<u32> kU32{"u32"};
constexpr Named<i32> kS32{"s32"};
constexpr Named<u64> kU64{"u64"};
constexpr Named<i64> kS64{"s64"};
constexpr Named<f16> kF16{"f16"};
constexpr Named<bf16> kBf16{"bf16"};
constexpr Named<float> kF32{"f32"};
constexpr Named<double> kF64{"f64"};

template <class F>
void for_each_integer(F f) {
  f(kU8), f(kS8), f(kU16), f(kS16), f(kU32), f(kS32), f(kU64), f(kS64);
}

// "cvt.", or with how it rounds, "cvt.rn."; then ".ftz", ".sat" or both.
struct Prefix {
  const char *rounding = "cvt.", *modifiers = "";
};

// Adds the operation `prefix`to.from.
template <class F, class To, class From>
void define(OperationSink& sink, Prefix prefix, Named<To> to, Named<From> from, F) {
  sink.add_conversion(prefix.rounding, prefix.modifiers, to.name, from.name, Signature<F>::shape(),
                      &Signature<F>::template all<F>);
}

// As op_each().
template <class F, class To, class From>
void define_each(OperationSink& sink, Prefix prefix, Named<To> to, Named<From> from, F) {
  sink.add_conversion(prefix.rounding, prefix.modifiers, to.name, from.name, Signature<F>::shape(),
                      &Signature<F>::template each<F>);
}

template <class D>
constexpr D lowest() {
  return std::is_signed_v<D> ? static_cast<D>(D(1) << (8 * sizeof(D) - 1)) : D(0);
}
template <class D>
constexpr D highest() {
  return static_cast<D>(~lowest<D>());
}

template <class D, class S>
[[gnu::always_inline]] inline D clamp_integer(S value) {
  if constexpr (std::is_signed_v<S>) {
    if constexpr (std::is_signed_v<D>) {
      if (i64{value} < i64{lowest<D>()}) return lowest<D>();
      return i64{value} > i64{highest<D>()} ? highest<D>() : static_cast<D>(value);
    } else {
      if (value < 0) return 0;
    }
  }
  return static_cast<u64>(value) > static_cast<u64>(highest<D>()) ? highest<D>()
                                                                  : static_cast<D>(value);
}

void define_integers(OperationSink& sink) {
  for_each_integer([&](auto to) {
    for_each_integer([&](auto from) {
      using D = typename decltype(to)::Value;
      using S = typename decltype(from)::Value;
      using StoredD = typename decltype(to)::Stored;
      using StoredS = typename decltype(from)::Stored;
      define(sink, {}, to, from,
             [](StoredS a) { return static_cast<StoredD>(static_cast<D>(static_cast<S>(a))); });
      define(sink, {"cvt.", "sat."}, to, from,
             [](StoredS a) { return static_cast<StoredD>(clamp_integer<D>(static_cast<S>(a))); });
    });
  });
}

// Rounds to an integral value of the same type.
template <Rounding kMode, class T>
[[gnu::always_inline]] inline T integral(T a) {
  if constexpr (sizeof(T) == 4) {
    switch (kMode) {
      case Rounding::kZero: return __builtin_truncf(a);
      case Rounding::kDown: return __builtin_floorf(a);
      case Rounding::kUp: return __builtin_ceilf(a);
      default: return __builtin_rintf(a);
    }
  } else {
    switch (kMode) {
      case Rounding::kZero: return __builtin_trunc(a);
      case Rounding::kDown: return __builtin_floor(a);
      case Rounding::kUp: return __builtin_ceil(a);
      default: return __builtin_rint(a);
    }
  }
}

// Converts to D, clamped to its range. `kWide`: the result for NaN depends on the types in the
// instruction.
template <class D, Rounding kMode, bool kWide, class T>
[[gnu::always_inline]] inline D to_integer(T a) {
  constexpr T kLimit =
      static_cast<T>(u64{1} << (8 * sizeof(D) - 1)) * (std::is_signed_v<D> ? T(1) : T(2));
  const T x = integral<kMode>(a);
  const bool below = std::is_signed_v<D> ? x < -kLimit : x < T(0);
  const bool above = x >= kLimit;
  const bool no_number = is_nan(x);
  const D inside = static_cast<D>(below || above || no_number ? T(0) : x);
  const D nan = kWide ? static_cast<D>(D(1) << (8 * sizeof(D) - 1)) : D(0);
  return no_number ? nan : below ? lowest<D>() : above ? highest<D>() : inside;
}

template <Rounding kMode>
void define_float_to_integer(OperationSink& sink, const char* rounding) {
  for_each_integer([&](auto to) {
    using D = typename decltype(to)::Value;
    using StoredD = typename decltype(to)::Stored;
    constexpr bool k64 = sizeof(D) == 8;
    // The range is clamped either way.
    for (const Prefix prefix : {Prefix{rounding, ""}, Prefix{rounding, "sat."}}) {
      define(sink, prefix, to, kF32,
             [](float a) { return static_cast<StoredD>(to_integer<D, kMode, k64>(a)); });
      define(sink, prefix, to, kF64,
             [](double a) { return static_cast<StoredD>(to_integer<D, kMode, true>(a)); });
      define(sink, prefix, to, kF16,
             [](f16 a) { return static_cast<StoredD>(to_integer<D, kMode, k64>(to_float(a))); });
      define(sink, prefix, to, kBf16,
             [](bf16 a) { return static_cast<StoredD>(to_integer<D, kMode, k64>(to_float(a))); });
    }
    for (const Prefix prefix : {Prefix{rounding, "ftz."}, Prefix{rounding, "ftz.sat."}}) {
      define(sink, prefix, to, kF32,
             [](float a) { return static_cast<StoredD>(to_integer<D, kMode, k64>(flush(a))); });
    }
  });
}

// The integer rounded to odd as a double: bits that do not fit are ORed into the last one, so that
// a second rounding to a shorter significand is correct.
template <class S>
[[gnu::always_inline]] inline double to_odd_double(S value) {
  const bool negative = std::is_signed_v<S> && value < S(0);
  u64 magnitude = negative ? u64{0} - static_cast<u64>(value) : static_cast<u64>(value);
  double scale = 1;
  if constexpr (sizeof(S) == 8) {
    if (magnitude >> 53 != 0) {
      magnitude = magnitude >> 11 | ((magnitude & 0x7ff) != 0 ? 1 : 0);
      scale = 0x1p11;
    }
  }
  const double result = static_cast<double>(static_cast<i64>(magnitude)) * scale;
  return negative ? -result : result;
}

// One rounding: both halves are exact, only their sum is rounded.
template <Rounding kMode, class S>
[[gnu::always_inline]] inline double integer_to_double(S value) {
  const double high = static_cast<double>(static_cast<i32>(static_cast<i64>(value) >> 32)) +
                      (!std::is_signed_v<S> && static_cast<u64>(value) >> 63 != 0 ? 0x1p32 : 0.0);
  const double low = static_cast<double>(static_cast<i64>(static_cast<u32>(value)));
  // A zero must stay +0 under every mode.
  if (value == S(0)) return 0.0;
  return rounded<kMode>([](double x, double y, double) { return x + y; }, high * 0x1p32, low, 0.0);
}

// Of at most 32 bits, without a change of the host's rounding mode: the nearest number, or its
// neighbour.
template <Rounding kMode, class S>
[[gnu::always_inline]] inline float integer_to_single(S value) {
  const double exact = static_cast<double>(value);
  const float nearest = static_cast<float>(exact);
  const u32 bits = bits_as<u32>(nearest);
  const u32 negative = bits >> 31;
  const u32 below = double{nearest} < exact ? 1 : 0;
  const u32 above = double{nearest} > exact ? 1 : 0;
  // Neighbours in their order: the next one up, or down, has one more or one less in `bits`.
  const u32 up = kMode == Rounding::kUp ? below : kMode == Rounding::kZero ? below & negative : 0;
  const u32 down = kMode == Rounding::kDown   ? above
                   : kMode == Rounding::kZero ? above & (negative ^ 1)
                                              : 0;
  const u32 step = up - down;
  return bits_as<float>(bits + (negative != 0 ? 0 - step : step));
}

// Rounds once to the type T of 16 bits.
template <Rounding kMode, class T>
T narrow_to(double a) {
  constexpr Format kFormat = std::is_same_v<T, f16> ? kHalf : kBfloat;
  return T{static_cast<u16>(narrow(a, kFormat, kMode))};
}

template <Rounding kMode>
void define_integer_to_float(OperationSink& sink, Prefix prefix) {
  for_each_integer([&](auto from) {
    using S = typename decltype(from)::Value;
    using Stored = typename decltype(from)::Stored;
    if constexpr (kMode == Rounding::kNearest) {
      define(sink, prefix, kF32, from,
             [](Stored a) { return static_cast<float>(static_cast<S>(a)); });
      define(sink, prefix, kF64, from,
             [](Stored a) { return static_cast<double>(static_cast<S>(a)); });
    } else {
      if constexpr (sizeof(S) < 8) {
        define(sink, prefix, kF32, from,
               [](Stored a) { return integer_to_single<kMode>(static_cast<S>(a)); });
      } else {
        define_each(sink, prefix, kF32, from, [](Stored a) {
          return bits_as<float>(narrow(to_odd_double(static_cast<S>(a)), kSingle, kMode));
        });
      }
      define_each(sink, prefix, kF64, from,
                  [](Stored a) { return integer_to_double<kMode>(static_cast<S>(a)); });
    }
    define_each(sink, prefix, kF16, from,
                [](Stored a) { return narrow_to<kMode, f16>(to_odd_double(static_cast<S>(a))); });
    define_each(sink, prefix, kBf16, from,
                [](Stored a) { return narrow_to<kMode, bf16>(to_odd_double(static_cast<S>(a))); });
  });
}

template <Rounding kMode>
float double_to_float(double a) {
  if constexpr (kMode == Rounding::kNearest) {
    if (!is_nan(a)) return static_cast<float>(a);
  }
  return bits_as<float>(narrow_double(a, kSingle, kMode));
}

// Conversions to a narrower floating-point format.
template <Rounding kMode>
void define_narrowing(OperationSink& sink, const char* rounding) {
  const Prefix plain{rounding, ""}, ftz{rounding, "ftz."}, sat{rounding, "sat."};
  define_each(sink, plain, kF32, kF64, [](double a) { return double_to_float<kMode>(a); });
  define_each(sink, ftz, kF32, kF64, [](double a) { return flush(double_to_float<kMode>(a)); });
  define_each(sink, sat, kF32, kF64, [](double a) { return saturate(double_to_float<kMode>(a)); });
  define_each(sink, {rounding, "ftz.sat."}, kF32, kF64,
              [](double a) { return saturate(flush(double_to_float<kMode>(a))); });
  if constexpr (kMode == Rounding::kNearest) {
    define(sink, plain, kF16, kF32, [](float a) { return to_half(a); });
    define(sink, ftz, kF16, kF32, [](float a) { return to_half(flush(a)); });
    define(sink, sat, kF16, kF32, [](float a) { return to_half(saturate(a)); });
    define(sink, plain, kBf16, kF32, [](float a) { return to_bfloat(a); });
    define(sink, ftz, kBf16, kF32, [](float a) { return to_bfloat(flush(a)); });
  } else {
    define_each(sink, plain, kF16, kF32, [](float a) { return narrow_to<kMode, f16>(a); });
    define_each(sink, ftz, kF16, kF32, [](float a) { return narrow_to<kMode, f16>(flush(a)); });
    define_each(sink, sat, kF16, kF32, [](float a) { return narrow_to<kMode, f16>(saturate(a)); });
    define_each(sink, plain, kBf16, kF32, [](float a) { return narrow_to<kMode, bf16>(a); });
    define_each(sink, ftz, kBf16, kF32, [](float a) { return narrow_to<kMode, bf16>(flush(a)); });
  }
  define_each(sink, plain, kF16, kF64,
              [](double a) { return f16{static_cast<u16>(narrow_double(a, kHalf, kMode))}; });
  define_each(sink, plain, kBf16, kF64,
              [](double a) { return bf16{static_cast<u16>(narrow_double(a, kBfloat, kMode))}; });
  define_each(sink, plain, kBf16, kF16, [](f16 a) { return narrow_to<kMode, bf16>(to_float(a)); });
  define_each(sink, plain, kF16, kBf16, [](bf16 a) { return narrow_to<kMode, f16>(to_float(a)); });
}

void define_widening(OperationSink& sink) {
  define(sink, {}, kF64, kF32, [](float a) { return widen(a); });
  define(sink, {"cvt.", "ftz."}, kF64, kF32, [](float a) { return widen(canonical(flush(a))); });
  define(sink, {"cvt.", "sat."}, kF64, kF32,
         [](float a) { return static_cast<double>(saturate(a)); });
  define(sink, {}, kF32, kF16, [](f16 a) { return canonical(to_float(a)); });
  define(sink, {"cvt.", "ftz."}, kF32, kF16, [](f16 a) { return canonical(to_float(a)); });
  define(sink, {"cvt.", "sat."}, kF32, kF16, [](f16 a) { return saturate(to_float(a)); });
  define(sink, {}, kF64, kF16, [](f16 a) { return widen(to_float(a)); });
  define(sink, {}, kF32, kBf16, [](bf16 a) { return to_float(a); });
  define(sink, {"cvt.", "ftz."}, kF32, kBf16, [](bf16 a) { return canonical(flush(to_float(a))); });
  define(sink, {}, kF64, kBf16, [](bf16 a) { return widen(to_float(a)); });
  define(sink, {}, kF32, kF32, [](float a) { return a; });
  define(sink, {"cvt.", "ftz."}, kF32, kF32, [](float a) { return canonical(flush(a)); });
  define(sink, {"cvt.", "sat."}, kF32, kF32, [](float a) { return saturate(a); });
  define(sink, {"cvt.", "ftz.sat."}, kF32, kF32, [](float a) { return saturate(flush(a)); });
  define(sink, {}, kF64, kF64, [](double a) { return a; });
  define(sink, {"cvt.", "sat."}, kF64, kF64, [](double a) { return saturate(a); });
  define(sink, {}, kF16, kF16, [](f16 a) { return is_nan(to_float(a)) ? f16{0x7fff} : a; });
  define(sink, {}, kBf16, kBf16, [](bf16 a) { return is_nan(to_float(a)) ? bf16{0x7fff} : a; });
  define(sink, {"cvt.", "sat."}, kF16, kF16, [](f16 a) { return to_half(saturate(to_float(a))); });
}

template <Rounding kMode>
void define_integral(OperationSink& sink, const char* rounding) {
  const Prefix plain{rounding, ""}, ftz{rounding, "ftz."}, sat{rounding, "sat."};
  define(sink, plain, kF32, kF32, [](float a) { return canonical(integral<kMode>(a)); });
  define(sink, ftz, kF32, kF32, [](float a) { return canonical(integral<kMode>(flush(a))); });
  define(sink, sat, kF32, kF32, [](float a) { return saturate(integral<kMode>(a)); });
  define(sink, {rounding, "ftz.sat."}, kF32, kF32,
         [](float a) { return saturate(integral<kMode>(flush(a))); });
  define(sink, plain, kF64, kF64, [](double a) { return keep_nan(integral<kMode>(a), a); });
  define(sink, sat, kF64, kF64, [](double a) { return saturate(integral<kMode>(a)); });
  define(sink, plain, kF16, kF16, [](f16 a) { return to_half(integral<kMode>(to_float(a))); });
  define(sink, plain, kBf16, kBf16, [](bf16 a) { return to_bfloat(integral<kMode>(to_float(a))); });
}

// Packs two values into one register: the first operand goes to the upper half.
template <Format kFormat, Rounding kMode, bool kRelu, bool kFinite>
[[gnu::always_inline]] inline u32 narrow_one(float a) {
  const u32 code = narrow(double{a}, kFormat, kMode, kFinite);
  if constexpr (kRelu)
    return a < 0 || code >> (kFormat.exponent + kFormat.fraction) != 0 ? 0 : code;
  return code;
}

template <Format kFormat, Rounding kMode, bool kRelu, bool kFinite>
void define_packed16(OperationSink& sink, const char* name, const char* pair, const char* single) {
  op_each(sink, name, pair, [](float a, float b) {
    return narrow_one<kFormat, kMode, kRelu, kFinite>(a) << 16 |
           narrow_one<kFormat, kMode, kRelu, kFinite>(b);
  });
  if (single != nullptr) {
    op_each(sink, name, single, [](float a) {
      return static_cast<u16>(narrow_one<kFormat, kMode, kRelu, kFinite>(a));
    });
  }
}
template <Format kFormat>
void define_all_packed16(OperationSink& sink, const char* pair, const char* single) {
  constexpr Rounding kRn = Rounding::kNearest, kRz = Rounding::kZero;
  define_packed16<kFormat, kRz, false, false>(sink, "cvt.rz.", pair, nullptr);
  define_packed16<kFormat, kRn, true, false>(sink, "cvt.rn.relu.", pair, single);
  define_packed16<kFormat, kRz, true, false>(sink, "cvt.rz.relu.", pair, single);
  define_packed16<kFormat, kRn, false, true>(sink, "cvt.rn.satfinite.", pair, single);
  define_packed16<kFormat, kRz, false, true>(sink, "cvt.rz.satfinite.", pair, single);
  define_packed16<kFormat, kRn, true, true>(sink, "cvt.rn.relu.satfinite.", pair, single);
  define_packed16<kFormat, kRz, true, true>(sink, "cvt.rz.relu.satfinite.", pair, single);
}

// tf32 is kept in the upper bits of a 32-bit register.
template <Rounding kMode, bool kRelu>
void define_tf32(OperationSink& sink, const char* name) {
  op_each(sink, name, [](float a) { return narrow_one<kTf32, kMode, kRelu, false>(a) << 13; });
}

// Rounds ties away from zero, in steps as machine code does: NaN keeps the bits that tf32 has.
template <bool kFinite>
[[gnu::always_inline]] inline u32 tf32_ties_away(float a) {
  constexpr u32 kInfinity = 0x7f800000, kUnit = 0x2000;
  const auto finite = [](u32 bits) { return (bits & kInfinity) != kInfinity; };
  const u32 bits = bits_as<u32>(a);
  const u32 result = (bits + (finite(bits) ? kUnit / 2 : 0)) & ~(kUnit - 1);
  return kFinite && !finite(result) ? result - kUnit : result;
}

// An 8-bit number as f16.
template <Format kFormat, bool kRelu>
[[gnu::always_inline]] inline u32 byte_to_half(u32 byte) {
  struct Table {
    Table() {
      for (u32 code = 0; code < 256; ++code) {
        halves[code] = static_cast<u16>(narrow_one<kHalf, Rounding::kNearest, kRelu, false>(
            static_cast<float>(widen(code, kFormat))));
      }
    }
    u16 halves[256];
  };
  static const Table all;
  return all.halves[byte];
}

// Pairs of 8-bit numbers from FP32 and from pairs of f16, always to the largest finite number, and
// back.
template <Format kFormat, bool kRelu>
void define_bytes(OperationSink& sink, const char* from_singles, const char* from_halves,
                  const char* to_halves) {
  constexpr Rounding kRn = Rounding::kNearest;
  op_each(sink, from_singles, [](float a, float b) {
    return static_cast<u16>(narrow_one<kFormat, kRn, kRelu, true>(a) << 8 |
                            narrow_one<kFormat, kRn, kRelu, true>(b));
  });
  op_each(sink, from_halves, [](u32 a) {
    const float high = to_float(f16{static_cast<u16>(a >> 16)}),
                low = to_float(f16{static_cast<u16>(a)});
    return static_cast<u16>(narrow_one<kFormat, kRn, kRelu, true>(high) << 8 |
                            narrow_one<kFormat, kRn, kRelu, true>(low));
  });
  op_each(sink, to_halves, [](u16 a) {
    return byte_to_half<kFormat, kRelu>(a >> 8) << 16 | byte_to_half<kFormat, kRelu>(a & 0xff);
  });
}

// Two integers of a few bits below those that c has already.
template <u32 kBits, bool kSigned>
[[gnu::always_inline]] inline u32 pack_narrow(i32 a, i32 b, u32 c) {
  constexpr i32 kMask = (1 << kBits) - 1, kMost = kSigned ? kMask / 2 : kMask,
                kLeast = kSigned ? -kMost - 1 : 0;
  const auto field = [](i32 x) {
    return static_cast<u32>((x < kLeast ? kLeast : x > kMost ? kMost : x) & kMask);
  };
  return c << 2 * kBits | field(a) << kBits | field(b);
}
template <u32 kBits>
void define_pack(OperationSink& sink, const char* of_unsigned, const char* of_signed) {
  op(sink, of_unsigned, [](i32 a, i32 b, u32 c) { return pack_narrow<kBits, false>(a, b, c); });
  op(sink, of_signed, [](i32 a, i32 b, u32 c) { return pack_narrow<kBits, true>(a, b, c); });
}

void define_packed(OperationSink& sink) {
  constexpr Rounding kRn = Rounding::kNearest, kRz = Rounding::kZero;
  op(sink, "cvt.rn.f16x2.f32",
     [](float a, float b) { return u32{to_half(a).bits} << 16 | to_half(b).bits; });
  define_all_packed16<kHalf>(sink, "f16x2.f32", "f16.f32");
  op(sink, "cvt.rn.bf16x2.f32",
     [](float a, float b) { return u32{to_bfloat(a).bits} << 16 | to_bfloat(b).bits; });
  define_all_packed16<kBfloat>(sink, "bf16x2.f32", "bf16.f32");

  op(sink, "cvt.rna.tf32.f32", [](float a) { return tf32_ties_away<false>(a); });
  op(sink, "cvt.rna.satfinite.tf32.f32", [](float a) { return tf32_ties_away<true>(a); });
  define_tf32<kRn, false>(sink, "cvt.rn.tf32.f32");
  define_tf32<kRn, true>(sink, "cvt.rn.relu.tf32.f32");
  define_tf32<kRz, false>(sink, "cvt.rz.tf32.f32");
  define_tf32<kRz, true>(sink, "cvt.rz.relu.tf32.f32");

  define_bytes<kE4m3, false>(sink, "cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e4m3x2.f16x2",
                             "cvt.rn.f16x2.e4m3x2");
  define_bytes<kE4m3, true>(sink, "cvt.rn.relu.satfinite.e4m3x2.f32",
                            "cvt.rn.relu.satfinite.e4m3x2.f16x2", "cvt.rn.relu.f16x2.e4m3x2");
  define_bytes<kE5m2, false>(sink, "cvt.rn.satfinite.e5m2x2.f32", "cvt.rn.satfinite.e5m2x2.f16x2",
                             "cvt.rn.f16x2.e5m2x2");
  define_bytes<kE5m2, true>(sink, "cvt.rn.relu.satfinite.e5m2x2.f32",
                            "cvt.rn.relu.satfinite.e5m2x2.f16x2", "cvt.rn.relu.f16x2.e5m2x2");

  op(sink, "cvt.pack.sat.u16.s32", [](i32 a, i32 b) {
    return static_cast<u32>(clamp_integer<u16>(a)) << 16 | clamp_integer<u16>(b);
  });
  op(sink, "cvt.pack.sat.s16.s32", [](i32 a, i32 b) {
    return static_cast<u32>(clamp_integer<i16>(a)) << 16 | static_cast<u16>(clamp_integer<i16>(b));
  });
  define_pack<4>(sink, "cvt.pack.sat.u4.s32.b32", "cvt.pack.sat.s4.s32.b32");
  define_pack<2>(sink, "cvt.pack.sat.u2.s32.b32", "cvt.pack.sat.s2.s32.b32");
  op(sink, "cvt.pack.sat.u8.s32.b32", [](i32 a, i32 b, u32 c) {
    return c << 16 | static_cast<u32>(clamp_integer<u8>(a)) << 8 | clamp_integer<u8>(b);
  });
  op(sink, "cvt.pack.sat.s8.s32.b32", [](i32 a, i32 b, u32 c) {
    return c << 16 | static_cast<u32>(static_cast<u8>(clamp_integer<i8>(a))) << 8 |
           static_cast<u8>(clamp_integer<i8>(b));
  });
}

template <Rounding kMode>
void define_rounded(OperationSink& sink, const char* to_float, const char* to_integer) {
  define_float_to_integer<kMode>(sink, to_integer);
  define_integer_to_float<kMode>(sink, {to_float, ""});
  define_narrowing<kMode>(sink, to_float);
  define_integral<kMode>(sink, to_integer);
}

}  // namespace

void define_convert(OperationSink& sink) {
  define_integers(sink);
  define_rounded<Rounding::kNearest>(sink, "cvt.rn.", "cvt.rni.");
  define_rounded<Rounding::kZero>(sink, "cvt.rz.", "cvt.rzi.");
  define_rounded<Rounding::kDown>(sink, "cvt.rm.", "cvt.rmi.");
  define_rounded<Rounding::kUp>(sink, "cvt.rp.", "cvt.rpi.");
  define_widening(sink);
  define_packed(sink);
}

}  // namespace vgpu::machine::VGPU_ISA
