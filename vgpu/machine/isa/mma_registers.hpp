// SPDX-License-Identifier: Apache-2.0
// Products of mma with sums in single precision, computed in the layout of the registers, as those
// of wgmma: register 2 h + e of all lanes has row lane / 4 + 8 h, column 2 (lane % 4) + e. So one
// step along k adds the product of a row of A, repeated for four lanes, and four columns of B,
// repeated.
#pragma once
#include <utility>

#include "machine/isa/half_rows.hpp"
#include "machine/isa/tensor_values.hpp"

namespace vgpu::machine::VGPU_ISA {

// A register of 32 bits has kElements<In> elements, next to each other along k.
template <class In>
inline constexpr u32 kElements = 4 / sizeof(In);

// to[e][lane]: element e of the lane's register.
template <class In>
[[gnu::always_inline]] inline void elements_of(const u32* from, float (*to)[kLanes]) {
  if constexpr (std::is_same_v<In, f16>) {
    widen_pairs(from, to[0], to[1]);
  } else {
    for (u32 e = 0; e < kElements<In>; ++e) {
      for (u32 lane = 0; lane < kLanes; ++lane) {
        if constexpr (sizeof(In) == 2)
          to[e][lane] = value_of(In{static_cast<u16>(from[lane] >> 16 * e)});
        else
          to[e][lane] = value_of(In{from[lane]});
      }
    }
  }
}

// Of B's elements of all lanes, those of lane % 4 == kOf: the four even columns, twice, then the
// four odd ones, twice.
template <u32 kOf, u32... I>
[[gnu::always_inline]] inline void columns_of(const float* lanes, float* to,
                                              std::integer_sequence<u32, I...>) {
  using Row [[gnu::vector_size(64)]] = float;
  const auto* const rows = reinterpret_cast<const Row*>(lanes);
  *reinterpret_cast<Row*>(to) =
      __builtin_shufflevector(rows[0], rows[1], (8 * (I % 4) + 4 * (I / 8) + kOf)...);
}

// C += A B for A of 16 x K and B of K x 8. sums[2 h + e]: C, in its registers' layout.
template <class In, u32 K>
[[gnu::always_inline]] inline void multiply_registers(std::byte* window, const u32* a_slots,
                                                      const u32* b_slots, float (*sums)[kLanes]) {
  constexpr u32 kE = kElements<In>, kParts = kLanes / Floats::kWidth;
  Floats c[4][kParts];
  for (u32 i = 0; i < 4; ++i) {
    for (u32 p = 0; p < kParts; ++p) c[i][p] = Floats::load(sums[i] + p * Floats::kWidth);
  }
  for (u32 group = 0; group < K / (4 * kE); ++group) {
    alignas(64) float a[2][kE][kLanes], b[kE][kLanes];
    elements_of<In>(slot<u32>(window, b_slots[group]), b);
    for (u32 h = 0; h < 2; ++h) elements_of<In>(slot<u32>(window, a_slots[2 * group + h]), a[h]);
    const auto step = [&]<u32 kOf>(std::integral_constant<u32, kOf>) VGPU_INLINE {
      for (u32 e = 0; e < kE; ++e) {
        alignas(64) float columns[2][8];
        columns_of<kOf>(b[e], columns[0], std::make_integer_sequence<u32, 16>());
        for (u32 h = 0; h < 2; ++h) {
          for (u32 p = 0; p < kParts; ++p) {
            const Floats row = Floats::load(a[h][e] + p * Floats::kWidth).template of_four<kOf>();
            for (u32 odd = 0; odd < 2; ++odd) {
              Floats& sum = c[2 * h + odd][p];
              sum = multiply_add(row, Floats::load_repeated(columns[odd]), sum);
            }
          }
        }
      }
    };
    step(std::integral_constant<u32, 0>());
    step(std::integral_constant<u32, 1>());
    step(std::integral_constant<u32, 2>());
    step(std::integral_constant<u32, 3>());
  }
  for (u32 i = 0; i < 4; ++i) {
    for (u32 p = 0; p < kParts; ++p) c[i][p].store(sums[i] + p * Floats::kWidth);
  }
}

}  // namespace vgpu::machine::VGPU_ISA
