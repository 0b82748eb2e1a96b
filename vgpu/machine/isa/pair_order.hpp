// SPDX-License-Identifier: Apache-2.0
// 64-bit values of all lanes, from a row of lower and a row of upper halves into an array and back.
// The array's order is that in which instructions of the host interleave halves within 16 bytes: a
// function of each value alone needs no other order.
#pragma once
#include <utility>

#include "machine/isa/lanes.hpp"

namespace vgpu::machine::VGPU_ISA {

#if defined(__AVX512F__)
inline constexpr u32 kHostVector = 64;  // bytes
#elif defined(__AVX2__)
inline constexpr u32 kHostVector = 32;
#else
inline constexpr u32 kHostVector = 16;
#endif
inline constexpr u32 kHostWords = kHostVector / 4;
using HostWords [[gnu::vector_size(kHostVector)]] = u32;

// Every four elements of the result are elements A and B of the four of x, and C and D of y; with
// kByTurns, A of x, C of y, B of x, D of y.
template <u32 A, u32 B, u32 C, u32 D, bool kByTurns, u32... I>
[[gnu::always_inline]] inline HostWords picked(HostWords x, HostWords y,
                                               std::integer_sequence<u32, I...>) {
  constexpr u32 kPlaces[] = {A, kByTurns ? C + kHostWords : B, kByTurns ? B : C + kHostWords,
                             D + kHostWords};
  return __builtin_shufflevector(x, y, (I / 4 * 4 + kPlaces[I % 4])...);
}

[[gnu::always_inline]] inline void join_rows(const std::byte* lower, const std::byte* upper,
                                             u64* to) {
  constexpr auto kAll = std::make_integer_sequence<u32, kHostWords>();
  const auto *const low = reinterpret_cast<const HostWords*>(lower),
                    *const high = reinterpret_cast<const HostWords*>(upper);
  auto* const out = reinterpret_cast<HostWords*>(to);
  for (u32 i = 0; i < kLanes / kHostWords; ++i) {
    out[2 * i] = picked<0, 1, 0, 1, true>(low[i], high[i], kAll);
    out[2 * i + 1] = picked<2, 3, 2, 3, true>(low[i], high[i], kAll);
  }
}

[[gnu::always_inline]] inline void load_pairs(const std::byte* window, u32 offset, u64* to) {
  join_rows(window + offset, window + offset + 4 * kLanes, to);
}
// A row of words as the lower halves. The upper ones have no meaning.
[[gnu::always_inline]] inline void load_words(const std::byte* window, u32 offset, u64* to) {
  join_rows(window + offset, window + offset, to);
}

// c += a * b of the lower halves.
template <bool kSigned>
[[gnu::always_inline]] inline void multiply_add_words(const u64* a, const u64* b, u64* c) {
#if defined(__AVX512F__)
  for (u32 i = 0; i < kLanes; i += kHostVector / 8) {
    const __m512i x = _mm512_load_si512(a + i), y = _mm512_load_si512(b + i);
    const __m512i product =
        kSigned ? _mm512_maskz_mul_epi32(0xff, x, y) : _mm512_maskz_mul_epu32(0xff, x, y);
    _mm512_store_si512(c + i, _mm512_add_epi64(product, _mm512_load_si512(c + i)));
  }
#else
  for (u32 i = 0; i < kLanes; ++i) {
    const u32 x = static_cast<u32>(a[i]), y = static_cast<u32>(b[i]);
    c[i] += kSigned ? static_cast<u64>(i64{static_cast<i32>(x)} * static_cast<i32>(y)) : u64{x} * y;
  }
#endif
}

[[gnu::always_inline]] inline bool any_nan(const u64* doubles) {
#if defined(__AVX512F__)
  u32 nans = 0;
  for (u32 i = 0; i < kLanes; i += kHostVector / 8) {
    const __m512d x = _mm512_load_pd(doubles + i);
    nans |= _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q);
  }
#else
  u64 nans = 0;
  for (u32 i = 0; i < kLanes; ++i) nans |= is_nan(bits_as<double>(doubles[i])) ? 1 : 0;
#endif
  return nans != 0;
}

[[gnu::always_inline]] inline void store_pairs(std::byte* window, u32 offset, u32 mask,
                                               const u64* from) {
  constexpr auto kAll = std::make_integer_sequence<u32, kHostWords>();
  alignas(64) HostWords low[kLanes / kHostWords], high[kLanes / kHostWords];
  const auto* const in = reinterpret_cast<const HostWords*>(from);
  for (u32 i = 0; i < kLanes / kHostWords; ++i) {
    low[i] = picked<0, 2, 0, 2, false>(in[2 * i], in[2 * i + 1], kAll);
    high[i] = picked<1, 3, 1, 3, false>(in[2 * i], in[2 * i + 1], kAll);
  }
  blend(slot<u32>(window, offset), reinterpret_cast<const u32*>(low), mask);
  blend(slot<u32>(window, offset) + kLanes, reinterpret_cast<const u32*>(high), mask);
}

}  // namespace vgpu::machine::VGPU_ISA
