// SPDX-License-Identifier: Apache-2.0
// How sums of split operands get to C: the lines' scales are undone, alpha and beta applied. Elements of lines that hold
// Inf or NaN have no words; they are computed from the operands themselves, in binary32.
#pragma once
#include "device/split_pass.cuh"
#include "device/tensor_exchange.cuh"
#include "device/tile_store.cuh"

#include <cstdint>

namespace ladder {

// What an epilogue needs beside the sums.
struct SplitTarget {
  Target<float> c;
  SplitOperand a, b;
  int k;
  std::int64_t col_step = 1;  // of C, from column to column; c.ld from row to row
};

// Calls all lanes for each lane whose element (row, col) is `exceptional`: they share its k.
__device__ __forceinline__ void store_exceptional(const SplitTarget& x, bool exceptional, int row, int col) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (unsigned left = __ballot_sync(0xFFFFFFFFU, exceptional); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const std::int64_t i = __shfl_sync(0xFFFFFFFFU, row, owner), j = __shfl_sync(0xFFFFFFFFU, col, owner);
    const std::int64_t line_a = x.a.along_k ? x.a.ld : 1, step_a = x.a.along_k ? 1 : x.a.ld;
    const std::int64_t line_b = x.b.along_k ? x.b.ld : 1, step_b = x.b.along_k ? 1 : x.b.ld;
    float sum = 0.0F;
    for (int k = lane; k < x.k; k += 32) {
      sum = __fmaf_rn(x.a.g[i * line_a + k * step_a], x.b.g[j * line_b + k * step_b], sum);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, distance);
    if (lane == 0) store_element(x.c, x.c.gC + i * x.c.ld + j * x.col_step, sum);
  }
}

constexpr int kScalesAtOnce = 16;  // quads of sums

// The scales of a thread's columns, for kMany quads of its sums from `quad` on: all loads at once, since each is as long on its
// way as many quads take to be stored.
template <int kMany>
__device__ __forceinline__ void load_scales(int2 (&scale)[kMany], const SplitOperand& b, int col, int quad) {
#pragma unroll
  for (int i = 0; i < kMany; ++i)
    scale[i] = __ldg(reinterpret_cast<const int2*>(b.gExponent + col + 8 * (quad + i)));
}

// The sums for_each_pair_of(i) to (i + 3) of a tile whose first element of this thread is (row, col). Returns whether any
// of its elements is exceptional, and leaves those.
template <class T>
__device__ __forceinline__ bool store_scaled_quad(const SplitTarget& x, const float* quad, int i, int row,
                                                  int col, int scale_low, int scale_high, int2 scale,
                                                  bool whole_pairs) {
  bool exceptional = false;
  const int first = col + 2 * i;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const int line = row + 8 * e, scale_row = e == 0 ? scale_low : scale_high;
    const bool odd_left = scale_row == kExceptional || scale.x == kExceptional;
    const bool odd_right = scale_row == kExceptional || scale.y == kExceptional;
    exceptional |= odd_left || odd_right;
    if (line >= x.c.m) continue;
    const float left = times_power(quad[2 * e], -scale_row - scale.x);
    const float right = times_power(quad[2 * e + 1], -scale_row - scale.y);
    float* const gC = x.c.gC + line * x.c.ld + first;
    if (whole_pairs && !odd_left && !odd_right) {
      store_pair(x.c, gC, left, right);
    } else {
      if (first < x.c.n && !odd_left) store_element(x.c, gC, left);
      if (first + 1 < x.c.n && !odd_right) store_element(x.c, gC + 1, right);
    }
  }
  return exceptional;
}

// A warpgroup's part of the tile at (row, col).
template <class T>
__device__ __forceinline__ void store_split(const Product<T>& product, const SplitTarget& x, int row,
                                            int col) {
  const bool whole_pairs = x.c.pairs && x.c.beta == 0.0F && col + product.col() + T::WN <= x.c.n;
  row += product.row() + product.lane_row();
  col += product.col() + product.lane_col();
  const int scale_low = __ldg(x.a.gExponent + row), scale_high = __ldg(x.a.gExponent + row + 8);
  bool exceptional = false;
  constexpr int kAtOnce = kQuads<T> < kScalesAtOnce ? kQuads<T> : kScalesAtOnce;
#pragma unroll
  for (int from = 0; from < kQuads<T>; from += kAtOnce) {
    int2 scale[kAtOnce];
    load_scales(scale, x.b, col, from);
#pragma unroll
    for (int q = 0; q < kAtOnce; ++q) {
      const int i = 4 * (from + q);
      exceptional |= store_scaled_quad<T>(x, product.sums + i, i, row, col, scale_low, scale_high, scale[q],
                                          whole_pairs);
    }
  }
  if (!__any_sync(0xFFFFFFFFU, exceptional)) return;
#pragma unroll 1
  for (int i = 0; i < T::kSums; ++i) {
    const int r = row + 8 * (i / 2 % 2), c = col + 8 * (i / 4) + i % 2;
    const bool inside = r < x.c.m && c < x.c.n;
    const bool odd = inside && (x.a.gExponent[r] == kExceptional || x.b.gExponent[c] == kExceptional);
    store_exceptional(x, odd, r, c);
  }
}

constexpr int kAdders = 4;  // groups of 128 threads that share the parts of an element

// add_parts of tensor_exchange.cuh, for sums of split operands: adds the `parts` of each tile and stores it.
template <class T, int kBand>
__global__ void __launch_bounds__(kAdders* kWarpgroup)
    add_split_parts(const __grid_constant__ SplitTarget x, float* gPartial, const __grid_constant__ Plan plan,
                    int parts, const int* gChoice, int choice) {
  __shared__ float4 s[kAdders][kWarpgroup];
  if (!split_detail::wanted(gChoice, choice)) return;
  const int tid = static_cast<int>(threadIdx.x) % kWarpgroup,
            adder = static_cast<int>(threadIdx.x) / kWarpgroup;
  const int quad = static_cast<int>(blockIdx.x) % kQuads<T>, rest = static_cast<int>(blockIdx.x) / kQuads<T>;
  const int warpgroup = rest % T::kWarpgroups, tile = rest / T::kWarpgroups;
  const std::int64_t stride =
      std::int64_t{plan.whole_tiles} * T::kWarpgroups * kQuads<T> * kWarpgroup;  // to the next part
  const float4* g = quads_of<T>(gPartial, tile, warpgroup) + quad * kWarpgroup;
  float4 sum{};
  const int begin = parts * adder / kAdders, end = parts * (adder + 1) / kAdders;
#pragma unroll 8
  for (int part = begin; part < end; ++part) {
    const float4 four = __ldcg(g + part * stride);
    sum.x += four.x, sum.y += four.y, sum.z += four.z, sum.w += four.w;
  }
  s[adder][tid] = sum;
  __syncthreads();
  if (adder > 0) return;
#pragma unroll
  for (int i = 1; i < kAdders; ++i) {
    const float4 four = s[i][tid];
    sum.x += four.x, sum.y += four.y, sum.z += four.z, sum.w += four.w;
  }
  const TilePlace place = place_of<kBand>(plan, tile);
  const Product<T> product(warpgroup);
  const int row = place.m * T::BM + product.row() + product.lane_row();
  const int col = place.n * T::BN + product.col() + product.lane_col();
  const float r[4] = {sum.x, sum.y, sum.z, sum.w};
  const int scale_low = x.a.gExponent[row], scale_high = x.a.gExponent[row + 8];
  const bool whole_pairs = x.c.pairs && x.c.beta == 0.0F && col + 8 * quad + 2 <= x.c.n;
  int2 scale[1];
  load_scales(scale, x.b, col, quad);
  const bool odd =
      store_scaled_quad<T>(x, r, 4 * quad, row, col, scale_low, scale_high, scale[0], whole_pairs);
  if (!__any_sync(0xFFFFFFFFU, odd)) return;
  for (int e = 0; e < 4; ++e) {
    const int line = row + 8 * (e / 2), c = col + 8 * quad + e % 2;
    const bool inside = line < x.c.m && c < x.c.n;
    const bool here = inside && (x.a.gExponent[line] == kExceptional || x.b.gExponent[c] == kExceptional);
    store_exceptional(x, here, line, c);
  }
}

}  // namespace ladder
