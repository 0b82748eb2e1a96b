// SPDX-License-Identifier: Apache-2.0
// Sums of products as Hopper's tensor cores form them. All products of one instruction and the
// summand are aligned to the largest exponent among them, cut to so many fraction bits, added
// exactly, and the sum is rounded once. What follows was found by fitting models to an H200's
// results, of which tests/golden/tensor_cores.h200.txt keeps hashes; that products are aligned and
// cut was published for these instructions before (MMA-Sim, https://github.com/microsoft/MMA-Sim).
//   - A product's exponent is the sum of its factors' exponents; the product is not normalised. A subnormal factor has the
//     exponent of the least normal number.
//   - Zeros take no part. No exponent is below -133.
//   - 25 fraction bits, magnitudes cut; 13 for 8-bit factors.
//   - f32 results are cut, to 13 fraction bits where factors have 8; f16 results are rounded to nearest. What becomes zero
//     is +0.
#pragma once
#include "engine/execute/isa/tensor_values.hpp"

namespace vgpu::execute::VGPU_ISA {

struct HopperFormat {
  i32 least_a, least_b;  // exponent of the least normal number
  i32 least_c;
  u32 fraction;  // bits that are kept
  bool half;     // the result is f16
};

template <class T>
constexpr i32 least_exponent() {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, e5m2>) return -14;
  if constexpr (std::is_same_v<T, e4m3>) return -6;
  return -126;
}
template <class A, class B, class Out>
constexpr HopperFormat hopper_format() {
  return {least_exponent<A>(), least_exponent<B>(), least_exponent<Out>(),
          sizeof(A) == 1 ? 13u : 25u, sizeof(Out) == 2};
}

// A factor is significand * 2^(exponent - 10): no factor has more than 10 fraction bits.
constexpr u32 kFactorBits = 10;
struct Factor {
  i32 significand, exponent;
};
[[gnu::always_inline]] inline Factor factor_of(float value, i32 least) {
  const u32 bits = bits_as<u32>(value);
  const u32 field = bits >> 23 & 255;
  const i32 exponent = static_cast<i32>(field == 0 ? 1 : field) - 127;
  const u32 whole = (bits & 0x7fffff) | (field == 0 ? 0u : 0x800000u);
  const i32 below = least > exponent ? least - exponent : 0;
  const i32 magnitude = static_cast<i32>(whole >> (23 - kFactorBits) >> below);
  return {(bits >> 31) != 0 ? -magnitude : magnitude, exponent + below};
}

// total * 2^exponent, rounded towards zero to f32. For f16 the last bit is set where something was
// cut, so that rounding once more is right.
inline float hopper_round(i64 total, i32 exponent, const HopperFormat& format) {
  if (total == 0) return 0;
  const bool negative = total < 0;
  const u64 magnitude = static_cast<u64>(negative ? -total : total);
  const i32 top = 63 - __builtin_clzll(magnitude);
  const i32 last = (top + exponent < -126 ? -126 : top + exponent) - 23;  // of f32
  const i32 cut = last - exponent;
  const u64 kept = cut >= 64 ? 0 : cut > 0 ? magnitude >> cut : magnitude << -cut;
  const bool rest = cut > 0 && (cut >= 64 || kept << cut != magnitude);
  u32 bits;
  if (top + exponent > 127)
    bits = 0x7f800000;
  else  // a subnormal's significand has no bit of its own for the exponent
    bits = static_cast<u32>(kept) + (static_cast<u32>(last + 23 + 126) << 23);
  if (format.half) {
    bits |= static_cast<u32>(rest);
    if (bits <= 0x33000000) return 0;  // half the least f16 or less: rounds to zero
  } else if (format.fraction < 23) {
    bits &= ~0x3ffu;
  }
  if (bits == 0) return 0;
  return bits_as<float>(bits | (negative ? 0x80000000u : 0));
}

// c[i] += the sum over k of a[k][i] b[k][i]. No number of `depth` products is beyond 32.
template <u32 kWidth>
struct HopperProducts {
  static constexpr u32 kMostDepth = 32;
  alignas(64) float a[kMostDepth][kWidth], b[kMostDepth][kWidth];
};
template <u32 kWidth>
void hopper_sums(const HopperProducts<kWidth>& of, u32 depth, const HopperFormat& format,
                 float* c) {
  constexpr i32 kLeast = -133;
  alignas(64) i32 products[HopperProducts<kWidth>::kMostDepth][kWidth];
  alignas(64) i32 exponents[HopperProducts<kWidth>::kMostDepth][kWidth];
  alignas(64) i32 top[kWidth], summand[kWidth], summand_exponent[kWidth];
  for (u32 i = 0; i < kWidth; ++i) {
    const u32 bits = bits_as<u32>(c[i]);
    const u32 field = bits >> 23 & 255;
    const i32 exponent = static_cast<i32>(field == 0 ? 1 : field) - 127;
    const i32 below = format.least_c > exponent ? format.least_c - exponent : 0;
    const i32 magnitude =
        static_cast<i32>(((bits & 0x7fffff) | (field == 0 ? 0u : 0x800000u)) >> below);
    summand[i] = (bits >> 31) != 0 ? -magnitude : magnitude;
    summand_exponent[i] = exponent + below;
    top[i] = magnitude != 0 && summand_exponent[i] > kLeast ? summand_exponent[i] : kLeast;
  }
  for (u32 k = 0; k < depth; ++k) {
    for (u32 i = 0; i < kWidth; ++i) {
      const Factor x = factor_of(of.a[k][i], format.least_a),
                   y = factor_of(of.b[k][i], format.least_b);
      const i32 product = x.significand * y.significand, exponent = x.exponent + y.exponent;
      products[k][i] = product;
      exponents[k][i] = exponent;
      top[i] = product != 0 && exponent > top[i] ? exponent : top[i];
    }
  }
  // Units of 2^(top - fraction). Of 16 products of 27 bits each half fits a word.
  const u32 left = format.fraction > 2 * kFactorBits ? format.fraction - 2 * kFactorBits : 0;
  const i32 right =
      format.fraction < 2 * kFactorBits ? static_cast<i32>(2 * kFactorBits - format.fraction) : 0;
  alignas(64) i32 low[kWidth] = {}, high[kWidth] = {};
  for (u32 k = 0; k < depth; ++k) {
    i32* const to = k % 2 == 0 ? low : high;
    for (u32 i = 0; i < kWidth; ++i) {
      const u32 magnitude = static_cast<u32>(products[k][i] < 0 ? -products[k][i] : products[k][i])
                            << left;
      const i32 shift = top[i] - exponents[k][i] + right;
      const i32 cut = static_cast<i32>(shift > 31 ? 0 : magnitude >> (shift < 0 ? 0 : shift));
      to[i] += products[k][i] < 0 ? -cut : cut;
    }
  }
  for (u32 i = 0; i < kWidth; ++i) {
    const u64 magnitude = static_cast<u64>(summand[i] < 0 ? -i64{summand[i]} : i64{summand[i]})
                          << 2;  // 25 bits
    const i32 shift = top[i] - summand_exponent[i] + 25 - static_cast<i32>(format.fraction);
    const i64 cut = summand[i] == 0 || shift > 63 ? 0 : static_cast<i64>(magnitude >> shift);
    const i64 total = i64{low[i]} + high[i] + (summand[i] < 0 ? -cut : cut);
    // Infinities and NaNs: in double nothing finite overflows on the way.
    double special = c[i];
    for (u32 k = 0; k < depth; ++k) special += double{of.a[k][i]} * of.b[k][i];
    c[i] = special - special == 0
               ? hopper_round(total, top[i] - static_cast<i32>(format.fraction), format)
               : canonical(static_cast<float>(special));
  }
}

}  // namespace vgpu::execute::VGPU_ISA
