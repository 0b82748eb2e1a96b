// SPDX-License-Identifier: Apache-2.0
// MUFU's functions of single-precision numbers, with an H200's results bit for bit. The hardware
// (Oberman and Siu, "A High-Performance Area-Efficient Multifunction Interpolator", 2005)
// interpolates with a parabola in each of 64 or 128 segments of a function, in fixed point, and
// cuts the sum to 24 bits. All sums and products here are exact in double precision. The
// coefficients are those of bench/h200/mufu_fit.py. Subnormal operands and results are zero.
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

// A segment's coefficients in one word, so that lanes look up one number each: 32 bits, and in
// another unit 18 bits and 14 bits.
template <u32 kSegments>
struct Parabolas {
  constexpr explicit Parabolas(const Interpolation<kSegments>& f)
      : unit(f.linear_unit < f.square_unit ? f.linear_unit : f.square_unit),
        constant_units(f.constant_unit / unit),
        bias_units(f.bias / unit) {
    const i32 linear_units = static_cast<i32>(f.linear_unit / unit),
              square_units = static_cast<i32>(f.square_unit / unit);
    for (u32 i = 0; i < kSegments; ++i) {
      const Coefficients& c = f.segments[i];
      const u32 linear = static_cast<u32>(c.linear * linear_units),
                square = static_cast<u32>(c.square * square_units);
      segments[i] = u64{static_cast<u32>(c.constant)} << 32 | linear << 14 | (square & 0x3fff);
    }
  }
  double unit, constant_units, bias_units;
  u64 segments[kSegments]{};
};

constexpr Parabolas kExp2Parabolas(mufu_tables::ex2), kLog2Parabolas(mufu_tables::lg2),
    kSineParabolas(mufu_tables::sin);
constexpr Parabolas kReciprocalParabolas(mufu_tables::rcp),
    kInverseRootParabolas(mufu_tables::rsqrt), kRootParabolas(mufu_tables::sqrt);

// The square of a number of 17 bits in units of 2^19, without the partial products of two bits that
// are below a unit.
[[gnu::always_inline]] inline u32 square_units(u32 x) {
  const u32 upper = x >> 9;
  u32 sum = upper * upper >> 1;
  for (u32 bit = 2; bit < 9; ++bit)
    sum += x >> (18 - bit) & static_cast<u32>(static_cast<i32>(x << (31 - bit)) >> 31);
  return sum;
}

// The upper bits of an argument are the segment, the lower 17 the distance from its start.
constexpr u32 kSegmentAt = 17, kDistance = (1u << kSegmentAt) - 1;
template <u32 kSegments>
[[gnu::always_inline]] inline double interpolate(const Parabolas<kSegments>& f, u64 segment,
                                                 u32 argument) {
  const u32 x = argument & kDistance, lower = static_cast<u32>(segment);
  const i32 constant = static_cast<i32>(segment >> 32), linear = static_cast<i32>(lower) >> 14,
            square = static_cast<i32>(lower << 18) >> 18;
  return ((constant * f.constant_units + f.bias_units) + linear * double(static_cast<i32>(x)) +
          square * double(static_cast<i32>(square_units(x)))) *
         f.unit;
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

// A function has the argument of a number, and the result of what was interpolated there.
struct Reciprocal {
  [[gnu::always_inline]] static const auto& parabolas() { return kReciprocalParabolas; }
  [[gnu::always_inline]] static u32 argument(const Parts& p) { return p.mantissa << 1; }
  [[gnu::always_inline]] static u32 result(const Parts& p, double value) {
    const i32 scaled = static_cast<i32>(cut(value)) + ((127 - static_cast<i32>(p.exponent)) << 23);
    u32 result = scaled < 0x800000 ? 0 : static_cast<u32>(scaled);
    result = p.infinite() ? 0 : result;
    return (p.zero() ? kInfiniteBits : result) | p.sign;
  }
};

// A number is m 4^e, m from 1 to 4; the argument is that of m.
[[gnu::always_inline]] inline u32 root_argument(const Parts& p) {
  return p.mantissa | (~p.exponent & 1) << 23;
}
[[gnu::always_inline]] inline u32 half_exponent(const Parts& p) {
  return ((p.exponent + 1) >> 1) - 64;
}

struct InverseRoot {
  [[gnu::always_inline]] static const auto& parabolas() { return kInverseRootParabolas; }
  [[gnu::always_inline]] static u32 argument(const Parts& p) { return root_argument(p); }
  [[gnu::always_inline]] static u32 result(const Parts& p, double value) {
    const u32 single = root_argument(p) == 0 ? kOneBits : cut(value);
    u32 result = single - (half_exponent(p) << 23);
    result = p.infinite() ? 0 : result;
    result = p.sign != 0 ? kNanBits : result;
    return p.zero() ? kInfiniteBits | p.sign : result;
  }
};

struct Root {
  [[gnu::always_inline]] static const auto& parabolas() { return kRootParabolas; }
  [[gnu::always_inline]] static u32 argument(const Parts& p) { return root_argument(p); }
  [[gnu::always_inline]] static u32 result(const Parts& p, double value) {
    u32 result = cut(value) + (half_exponent(p) << 23);
    result = p.infinite() ? kInfiniteBits : result;
    result = p.sign != 0 ? kNanBits : result;
    return p.zero() ? p.sign : result;
  }
};

struct Exp2 {
  [[gnu::always_inline]] static const auto& parabolas() { return kExp2Parabolas; }
  // With 23 bits after the point. Negative numbers with a fraction are complements, one unit too
  // low.
  [[gnu::always_inline]] static i32 fixed(const Parts& p) {
    constexpr float kUnits = 0x1p23F, kMost = 255;
    const float size = bits_as<float>(p.bits & ~kSignBit);
    const i32 units = static_cast<i32>((size < kMost ? size : kMost) * kUnits);
    const i32 negative = (units & 0x7fffff) != 0 ? ~units : -units;
    return p.sign != 0 ? negative : units;
  }
  [[gnu::always_inline]] static u32 argument(const Parts& p) {
    return static_cast<u32>(fixed(p)) & 0x7fffff;
  }
  [[gnu::always_inline]] static u32 result(const Parts& p, double value) {
    const i32 whole = fixed(p) >> 23;
    u32 result = cut(value) + (static_cast<u32>(whole) << 23);
    result = whole < -126 ? 0 : result;
    return whole > 127 ? kInfiniteBits : result;
  }
};

struct Log2 {
  [[gnu::always_inline]] static const auto& parabolas() { return kLog2Parabolas; }
  [[gnu::always_inline]] static u32 argument(const Parts& p) { return p.mantissa; }
  // Towards zero to a multiple of 2^-36, which only numbers below 2^-13 need not be.
  [[gnu::always_inline]] static u32 whole_units(u32 single) {
    constexpr u32 kExponent = 127 - 13, kMost = 23;
    const u32 exponent = single >> 23 & 255;
    const u32 below = exponent < kExponent ? kExponent - exponent : 0;
    const u32 bits = below < kMost ? below : kMost;
    return single >> bits << bits;
  }
  [[gnu::always_inline]] static u32 result(const Parts& p, double value) {
    u32 result = whole_units(cut(static_cast<i32>(p.exponent) - 127 + value));
    result = p.bits == kOneBits ? 0 : result;
    result = p.infinite() ? kInfiniteBits : result;
    result = p.sign != 0 ? kNanBits : result;
    return p.zero() ? kInfiniteBits | kSignBit : result;
  }
};

// The sine or cosine of turns. What is below 2^-25 turns is dropped. Within every second quarter
// the complement is taken, which is one unit less than the distance from the quarter's end.
template <bool kCosine>
struct SineOfTurns {
  [[gnu::always_inline]] static const auto& parabolas() { return kSineParabolas; }
  static constexpr u32 kQuarter = 1u << 23;
  // Modulo a turn.
  [[gnu::always_inline]] static u32 units(const Parts& p) {
    constexpr double kUnits = 0x1p25, kWhole = 0x1p52;
    const double size = double{bits_as<float>(p.bits & ~kSignBit)} * kUnits;
    const double scaled = size < kWhole ? size : 0.0;  // else whole turns
    // kWhole + x has the integer next to x in its lower bits.
    const double shifted = kWhole + scaled;
    const u64 units = bits_as<u64>(shifted) - (shifted - kWhole > scaled ? 1 : 0);
    return static_cast<u32>(units) & (4 * kQuarter - 1);
  }
  [[gnu::always_inline]] static u32 argument(const Parts& p) {
    const u32 u = units(p), complement = 0 - ((u / kQuarter ^ (kCosine ? 1 : 0)) & 1);
    return (u ^ complement) & (kQuarter - 1);
  }
  [[gnu::always_inline]] static u32 result(const Parts& p, double value) {
    const u32 quarter = units(p) / kQuarter + (kCosine ? 1 : 0);
    const u32 result = cut(value) ^ (quarter & 2) << 30 ^ (kCosine ? 0 : p.sign);
    return p.exponent == 255 ? kNanBits : result;
  }
};

// The function of operand(lane) for every lane.
template <class Function, class Operand>
[[gnu::always_inline]] inline void mufu(float* results, Operand operand) {
  alignas(64) u32 arguments[kLanes];
  alignas(64) u64 segments[kLanes];
  for (u32 i = 0; i < kLanes; ++i) arguments[i] = Function::argument(Parts(operand(i)));
  for (u32 i = 0; i < kLanes; ++i)
    segments[i] = Function::parabolas().segments[arguments[i] >> kSegmentAt];
  for (u32 i = 0; i < kLanes; ++i) {
    const Parts p(operand(i));
    const double value = interpolate(Function::parabolas(), segments[i], arguments[i]);
    results[i] = bits_as<float>(p.nan() ? kNanBits : Function::result(p, value));
  }
}

}  // namespace vgpu::machine::VGPU_ISA
