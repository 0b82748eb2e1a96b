// SPDX-License-Identifier: Apache-2.0
// Sums of products as Hopper's tensor cores compute them. All products of one instruction and the
// addend are aligned to the largest exponent among them, truncated to a fixed number of fraction
// bits and added exactly; the sum is rounded once. The rules below were found by fitting models to
// an H200's results, whose hashes are in tests/golden/tensor_cores.h200.txt. That these
// instructions align and truncate products was published before (MMA-Sim,
// https://github.com/microsoft/MMA-Sim).
//   - A product's exponent is the sum of its factors' exponents; the product is not normalised. A
//     subnormal factor has the exponent of the least normal number.
//   - Zeros do not affect the largest exponent, which is at least -133.
//   - Aligned magnitudes are truncated to 25 fraction bits, with 8-bit factors to 13.
//   - f32 results are truncated, with 8-bit factors to 13 fraction bits; f16 results are rounded to
//     nearest. A zero result is +0.
#pragma once
#include "machine/isa/tensor_values.hpp"

namespace vgpu::machine::VGPU_ISA {

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

// total * 2^exponent, rounded towards zero to f32. For f16 the last bit is set if bits were
// dropped, so that the second rounding is correct.
inline float hopper_round(i64 total, i32 exponent, const HopperFormat& format) {
  if (total == 0) return 0;
  const bool negative = total < 0;
  const u64 magnitude = static_cast<u64>(negative ? -total : total);
  const i32 top = 63 - __builtin_clzll(magnitude);
  // Exponent of the last bit of the f32 result.
  const i32 last = (top + exponent < -126 ? -126 : top + exponent) - 23;
  const i32 cut = last - exponent;
  const u64 kept = cut >= 64 ? 0 : cut > 0 ? magnitude >> cut : magnitude << -cut;
  const bool rest = cut > 0 && (cut >= 64 || kept << cut != magnitude);
  u32 bits;
  if (top + exponent > 127)
    bits = 0x7f800000;
  else  // a subnormal has no implicit bit that increments the exponent field
    bits = static_cast<u32>(kept) + (static_cast<u32>(last + 23 + 126) << 23);
  if (format.half) {
    bits |= static_cast<u32>(rest);
    if (bits <= 0x33000000) return 0;  // at most half the least f16: rounds to zero
  } else if (format.fraction < 23) {
    bits &= ~0x3ffu;
  }
  if (bits == 0) return 0;
  return bits_as<float>(bits | (negative ? 0x80000000u : 0));
}

// c[i] += the sum over k of a[k][i] b[k][i], for k < depth. `depth` is at most 32.
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
  // Sums in units of 2^(top - fraction). The sum of half of the products, 16 of 27 bits each, fits
  // in 32 bits.
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
    // Infinities and NaNs: no finite sum overflows in double precision.
    double special = c[i];
    for (u32 k = 0; k < depth; ++k) special += double{of.a[k][i]} * of.b[k][i];
    c[i] = special - special == 0
               ? hopper_round(total, top[i] - static_cast<i32>(format.fraction), format)
               : canonical(static_cast<float>(special));
  }
}

}  // namespace vgpu::machine::VGPU_ISA
