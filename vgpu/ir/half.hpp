// SPDX-License-Identifier: Apache-2.0
// 16-bit floating point. The functions are inlined: code of each instruction set calls them.
#pragma once
#include <type_traits>

#include "ir/program.hpp"

namespace vgpu::ir {

template <class T>
[[gnu::always_inline]] inline T bits_as(auto value) {
  static_assert(sizeof(T) == sizeof(value));
  return __builtin_bit_cast(T, value);
}

// As stored.
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

[[gnu::always_inline]] inline float flush(float a) {
  const u32 bits = bits_as<u32>(a);
  return bits_as<float>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}

// Conversions to and from the lower halves of words that are 0 above, to the nearest even number,
// written so that the compiler vectorises them.
template <class H>
[[gnu::always_inline]] inline float half_to_float(u32 bits) {
  if constexpr (std::is_same_v<H, bf16>) return bits_as<float>(bits << 16);
  const u32 sign = (bits & 0x8000u) << 16;
  const u32 magnitude = bits & 0x7fffu;
  const u32 subnormal = bits_as<u32>(static_cast<float>(static_cast<i32>(magnitude)) * 0x1p-24F);
  const u32 normal = (magnitude << 13) + 0x38000000u;
  const u32 special = (magnitude << 13) | 0x7f800000u;
  return bits_as<float>(sign | (magnitude >= 0x7c00 ? special
                                : magnitude < 0x400 ? subnormal
                                                    : normal));
}
template <class H>
[[gnu::always_inline]] inline u32 float_to_half(float a) {
  const u32 bits = bits_as<u32>(a);
  const u32 magnitude = bits & 0x7fffffffu;
  if constexpr (std::is_same_v<H, bf16>)
    return magnitude > 0x7f800000u ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  const u32 sign = bits >> 16 & 0x8000u;
  const u32 normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13;
  const u32 subnormal = bits_as<u32>(bits_as<float>(magnitude) + 0.5F) - 0x3f000000u;
  const u32 code = magnitude >= 0x47800000u   ? 0x7c00u
                   : magnitude >= 0x38800000u ? normal
                                              : subnormal;
  return magnitude > 0x7f800000u ? 0x7fffu : sign | code;
}
[[gnu::always_inline]] inline float to_float(f16 h) { return half_to_float<f16>(h.bits); }
[[gnu::always_inline]] inline float to_float(bf16 b) { return half_to_float<bf16>(b.bits); }
[[gnu::always_inline]] inline f16 to_half(float a) {
  return f16{static_cast<u16>(float_to_half<f16>(a))};
}
[[gnu::always_inline]] inline bf16 to_bfloat(float a) {
  return bf16{static_cast<u16>(float_to_half<bf16>(a))};
}

}  // namespace vgpu::ir
