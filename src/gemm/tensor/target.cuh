// SPDX-License-Identifier: Apache-2.0
// The destination C, and the store of a warpgroup's sums directly from registers, for any alpha,
// beta, edge and alignment.
#pragma once
#include "device/round.cuh"
#include "gemm/tensor/tensor_tile.cuh"

#include <cstdint>

namespace ladder {

// C as passed to kernels.
template <class Out>
struct Target {
  Out* gC;
  std::int64_t ld;
  int m, n;
  float alpha, beta;
  bool pairs;  // pairs from even columns on are aligned for one store
};

template <class Out>
__device__ __forceinline__ void store_element(const Target<Out>& c, Out* g, float sum) {
  const float before = c.beta == 0.0F ? 0.0F : c.beta * static_cast<float>(*g);
  *g = from_float(c.alpha * sum + before, Out{});
}

// Stores two neighbours, the first in an even column. Requires c.pairs and beta = 0.
template <class Out>
__device__ __forceinline__ void store_pair(const Target<Out>& c, Out* g, float x, float y) {
  if constexpr (sizeof(Out) == 4) {
    *reinterpret_cast<float2*>(g) = make_float2(c.alpha * x, c.alpha * y);
  } else {
    *reinterpret_cast<std::uint32_t*>(g) = pack_two(c.alpha * x, c.alpha * y, Out{});
  }
}

// Stores columns kBegin to kEnd of the tile at (row, col) from registers, for any alpha, beta, edge
// and alignment.
template <int kBegin, int kEnd, class T>
__device__ __forceinline__ void store_columns(const Product<T>& product,
                                              const Target<typename T::Out>& c, int row, int col) {
  constexpr bool kAll = kBegin == 0 && kEnd == T::BN;
  static_assert(kAll || (!T::kTf32 && kBegin % 8 == 0 && kEnd % 8 == 0),
                "whole groups of eight columns");
  constexpr int kFirst = kAll ? 0 : kBegin / 2,
                kLast = kAll ? T::kSums : kEnd / 2;  // index among the thread's sums
  const int end = min(c.n, col + kEnd);
  const bool inside = col + product.col() + (kAll ? T::WN : kEnd) <= end;
  row += product.row() + product.lane_row();
  col += product.col() + product.lane_col();
  const int m = c.m - row, n = end - col;  // rows and columns up to the edge of C
  auto* const gC = c.gC + row * c.ld + col;
  if (c.pairs && c.beta == 0.0F && inside) {
    Product<T>::template for_each_pair<kFirst, kLast>([&](int i, int j, int first, int second) {
      if (i < m) store_pair(c, gC + i * c.ld + j, product.sums[first], product.sums[second]);
    });
  } else {
    Product<T>::template for_each_pair<kFirst, kLast>([&](int i, int j, int first, int second) {
      if (i < m && j < n) store_element(c, gC + i * c.ld + j, product.sums[first]);
      if (i < m && j + 1 < n) store_element(c, gC + i * c.ld + j + 1, product.sums[second]);
      asm volatile("" ::: "memory");  // in order: all reads of C at once exceed the registers
    });
  }
}

}  // namespace ladder
