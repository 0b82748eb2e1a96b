// SPDX-License-Identifier: Apache-2.0
// MUFU's functions of single-precision numbers, with an H200's results bit for bit. The hardware
// (Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator", 2005)
// interpolates with a parabola in each of 64 or 128 segments of a function, in fixed point, and cuts
// the sum to 24 bits. All sums and products here are exact in double precision. The coefficients are
// those of bench/h200/mufu_fit.py. Subnormal operands and results are zero.
#pragma once
#include "machine/isa/floats.hpp"

namespace vgpu::machine::VGPU_ISA {

struct Coefficients {
  i32 constant, linear, square;
};
template <u32 kSegments>
struct Interpolation {
  double bias, constant_unit, linear_unit, square_unit;
  Coefficients segments[kSegments];
};
namespace mufu_tables {
#include "machine/isa/mufu_tables.inc"
}

template <u32 kSegments>
struct Parabolas {
  constexpr explicit Parabolas(const Interpolation<kSegments>& f) {
    for (u32 i = 0; i < kSegments; ++i) {
      constant[i] = f.segments[i].constant * f.constant_unit + f.bias;
      linear[i] = f.segments[i].linear * f.linear_unit;
      square[i] = f.segments[i].square * f.square_unit;
    }
  }
  double constant[kSegments]{}, linear[kSegments]{}, square[kSegments]{};
};
inline constexpr Parabolas kExp2Parabolas(mufu_tables::ex2), kLog2Parabolas(mufu_tables::lg2),
    kSineParabolas(mufu_tables::sin);
inline constexpr Parabolas kReciprocalParabolas(mufu_tables::rcp),
    kInverseRootParabolas(mufu_tables::rsqrt), kRootParabolas(mufu_tables::sqrt);

// The square of a number of 17 bits in units of 2^19, without the partial products of two bits that
// are below a unit.
[[gnu::always_inline]] inline u32 square_units(u32 x) {
  const u32 upper = x >> 9;
  u32 sum = upper * upper >> 1;
  for (u32 bit = 2; bit < 9; ++bit) sum += x >> (18 - bit) & (0 - (x >> bit & 1));
  return sum;
}

// The upper bits of `argument` are the segment, the lower 17 the distance from its start.
template <u32 kSegments>
[[gnu::always_inline]] inline double interpolate(const Parabolas<kSegments>& f, u32 argument) {
  const u32 segment = argument >> 17, x = argument & 0x1ffff;
  return f.constant[segment] + f.linear[segment] * static_cast<i32>(x) +
         f.square[segment] * static_cast<i32>(square_units(x));
}
// The bits of the single-precision number next to `value` towards zero.
[[gnu::always_inline]] inline u32 cut(double value) {
  return bits_as<u32>(static_cast<float>(bits_as<double>(bits_as<u64>(value) & ~u64{0x1fffffff})));
}

inline constexpr u32 kSignBit = 0x80000000, kInfiniteBits = 0x7f800000, kOneBits = 0x3f800000,
                     kNanBits = 0x7fffffff;
struct Parts {
  [[gnu::always_inline]] explicit Parts(float a)
      : bits(bits_as<u32>(a)),
        sign(bits & kSignBit),
        exponent(bits >> 23 & 255),
        mantissa(bits & 0x7fffff) {}
  [[gnu::always_inline]] bool zero() const { return exponent == 0; }
  [[gnu::always_inline]] bool infinite() const { return (bits & ~kSignBit) == kInfiniteBits; }
  [[gnu::always_inline]] bool nan() const { return (bits & ~kSignBit) > kInfiniteBits; }
  u32 bits, sign, exponent, mantissa;
};

[[gnu::always_inline]] inline float mufu_rcp(float a) {
  const Parts p(a);
  const u32 single = cut(interpolate(kReciprocalParabolas, p.mantissa << 1));
  const i32 scaled = static_cast<i32>(single) + ((127 - static_cast<i32>(p.exponent)) << 23);
  u32 result = scaled < 0x800000 ? 0 : static_cast<u32>(scaled);
  result = p.infinite() ? 0 : result;
  result = p.zero() ? kInfiniteBits : result;
  return bits_as<float>(p.nan() ? kNanBits : result | p.sign);
}

// A number is m 4^e, m from 1 to 4: `argument` is that of m.
struct RootParts : Parts {
  [[gnu::always_inline]] explicit RootParts(float a)
      : Parts(a),
        argument(mantissa | (~exponent & 1) << 23),
        half_exponent((static_cast<i32>(exponent + 1) >> 1) - 64) {}
  u32 argument;
  i32 half_exponent;
};

[[gnu::always_inline]] inline float mufu_rsqrt(float a) {
  const RootParts p(a);
  const u32 single =
      p.argument == 0 ? kOneBits : cut(interpolate(kInverseRootParabolas, p.argument));
  u32 result = single - (static_cast<u32>(p.half_exponent) << 23);
  result = p.infinite() ? 0 : result;
  result = p.sign != 0 ? kNanBits : result;
  result = p.zero() ? kInfiniteBits | p.sign : result;
  return bits_as<float>(p.nan() ? kNanBits : result);
}

[[gnu::always_inline]] inline float mufu_sqrt(float a) {
  const RootParts p(a);
  const u32 single = cut(interpolate(kRootParabolas, p.argument));
  u32 result = single + (static_cast<u32>(p.half_exponent) << 23);
  result = p.infinite() ? kInfiniteBits : result;
  result = p.sign != 0 ? kNanBits : result;
  result = p.zero() ? p.sign : result;
  return bits_as<float>(p.nan() ? kNanBits : result);
}

// The argument has 23 bits after the point. Negative ones with a fraction are complements, one unit
// too low.
[[gnu::always_inline]] inline float mufu_exp2(float a) {
  constexpr float kUnits = 0x1p23F, kMost = 255;
  const Parts p(a);
  const float size = __builtin_fabsf(a);
  const i32 units = static_cast<i32>((size < kMost ? size : kMost) * kUnits);
  const i32 negative = (units & 0x7fffff) != 0 ? ~units : -units;
  const i32 fixed = p.sign != 0 ? negative : units;
  const u32 single = cut(interpolate(kExp2Parabolas, static_cast<u32>(fixed) & 0x7fffff));
  const i32 whole = fixed >> 23;
  u32 result = single + (static_cast<u32>(whole) << 23);
  result = whole < -126 ? 0 : result;
  result = whole > 127 ? kInfiniteBits : result;
  return bits_as<float>(p.nan() ? kNanBits : result);
}

[[gnu::always_inline]] inline float mufu_log2(float a) {
  const Parts p(a);
  const double fraction = interpolate(kLog2Parabolas, p.mantissa);
  u32 result = cut(static_cast<i32>(p.exponent) - 127 + fraction);
  result = p.bits == kOneBits ? 0 : result;
  result = p.infinite() ? kInfiniteBits : result;
  result = p.sign != 0 ? kNanBits : result;
  result = p.zero() ? kInfiniteBits | kSignBit : result;
  return bits_as<float>(p.nan() ? kNanBits : result);
}

// The sine or cosine of turns. What is below 2^-25 turns is dropped. Within every second quarter
// the complement is taken, which is one unit less than the distance from the quarter's end.
template <bool kCosine>
[[gnu::always_inline]] inline float mufu_sine(float turns) {
  constexpr double kUnits = 0x1p25, kWhole = 0x1p52;
  const Parts p(turns);
  const double size = __builtin_fabs(double{turns});
  const double scaled = size * kUnits < kWhole ? size * kUnits : 0.0;  // else whole turns
  // kWhole + x has the integer next to x in its lower bits.
  const double shifted = kWhole + scaled;
  const u64 units = bits_as<u64>(shifted) - (shifted - kWhole > scaled ? 1 : 0);
  const u32 quarter = static_cast<u32>(units >> 23) & 3;
  const u32 complement = 0 - ((quarter ^ (kCosine ? 1 : 0)) & 1);
  const u32 folded = (static_cast<u32>(units) ^ complement) & 0x7fffff;
  const u32 negative = ((kCosine ? quarter + 1 : quarter) & 2) << 30;
  const u32 result = cut(interpolate(kSineParabolas, folded)) ^ negative ^ (kCosine ? 0 : p.sign);
  return bits_as<float>(p.exponent == 255 ? kNanBits : result);
}

}  // namespace vgpu::machine::VGPU_ISA
