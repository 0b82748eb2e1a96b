// SPDX-License-Identifier: Apache-2.0
// Epilogue of split products: undoes the scales and applies alpha and beta. Exceptional elements
// (their row or column has Inf or NaN) are recomputed from the operands in FP32.
#pragma once
#include "device/launch.cuh"
#include "gemm/split/choice.cuh"
#include "gemm/split/pass.cuh"
#include "gemm/tensor/tensor_exchange.cuh"
#include "gemm/tensor/tile_store.cuh"

#include <cstdint>

namespace ladder {

// Parameters of the epilogue.
struct SplitTarget {
  Target<float> c;
  SplitOperand a, b;
  int k;
  std::int64_t col_step = 1;  // distance of C's columns; c.ld is that of its rows
};

// Recomputes every exceptional element with the whole warp; the lanes split its dot product along
// k.
__device__ __forceinline__ void store_exceptional(const SplitTarget& x, bool exceptional, int row,
                                                  int col) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (unsigned left = __ballot_sync(0xFFFFFFFFU, exceptional); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const std::int64_t i = __shfl_sync(0xFFFFFFFFU, row, owner),
                       j = __shfl_sync(0xFFFFFFFFU, col, owner);
    const std::int64_t vector_a = x.a.along_k ? x.a.ld : 1, step_a = x.a.along_k ? 1 : x.a.ld;
    const std::int64_t vector_b = x.b.along_k ? x.b.ld : 1, step_b = x.b.along_k ? 1 : x.b.ld;
    float sum = 0.0F;
    for (int k = lane; k < x.k; k += 32) {
      sum = __fmaf_rn(x.a.g[i * vector_a + k * step_a], x.b.g[j * vector_b + k * step_b], sum);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFFU, sum, distance);
    if (lane == 0) store_element(x.c, x.c.gC + i * x.c.ld + j * x.col_step, sum);
  }
}

constexpr int kScalesAtOnce = 8;  // groups of four sums ("groups")

// Loads the scales of a thread's columns, for kMany groups of its sums from group `four` on. The
// loads overlap, because the latency of one equals the time of storing many groups.
template <int kMany>
__device__ __forceinline__ void load_scales(int2 (&scale)[kMany], const SplitOperand& b, int col,
                                            int four) {
#pragma unroll
  for (int i = 0; i < kMany; ++i)
    scale[i] = __ldg(reinterpret_cast<const int2*>(b.gExponent + col + 8 * (four + i)));
}

// Plain scales: any two of them combine to one normal factor, and none is exceptional.
constexpr int kMostPlain = 63;

// Whether the scales of the rows or columns from `first` to first + kMany, if in bounds, are plain.
// Called by whole warps. It also prefetches the scales to L1.
template <int kMany>
__device__ __forceinline__ bool plain_vectors(const SplitOperand& x, int first) {
  static_assert(kMany % 32 == 0, "a scale per lane");
  const int lane = static_cast<int>(threadIdx.x) % 32;
  bool plain = true;
#pragma unroll
  for (int i = 0; i < kMany; i += 32) {
    const int vector = first + i + lane;
    const int scale = vector < x.vectors ? __ldg(x.gExponent + vector) : 0;
    plain &= scale >= -kMostPlain && scale <= kMostPlain;
  }
  return __all_sync(0xFFFFFFFFU, plain);
}
// The same for a tile's rows and columns.
template <class T>
__device__ __forceinline__ bool plain_scales(const SplitTarget& x, int row, int col) {
  return plain_vectors<T::BM>(x.a, row) & plain_vectors<T::BN>(x.b, col);
}

// A thread's two rows and their scales: row[0] has the sums 4 i and 4 i + 1, row[1] has 4 i + 2 and
// 4 i + 3.
struct SplitRows {
  int row[2], scale[2];
};

// Stores kMany groups of a thread's sums from column `col` on. Requires plain scales and beta = 0.
template <int kMany>
__device__ __forceinline__ void store_plain(const float* sums, const SplitTarget& x,
                                            const SplitRows& rows, int col,
                                            const int2 (&scale)[kMany]) {
  float* const gC = x.c.gC + col * x.col_step;
  float* const gRow[2] = {gC + rows.row[0] * x.c.ld, gC + rows.row[1] * x.c.ld};
  const float of_row[2] = {power_of_two(-rows.scale[0]), power_of_two(-rows.scale[1])};
  const int left = x.c.n - col;  // columns
#pragma unroll
  for (int q = 0; q < kMany; ++q) {
    const float of_first = power_of_two(-scale[q].x), of_second = power_of_two(-scale[q].y);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float* const two = sums + 4 * q + 2 * e;
      float* const g = gRow[e] + 8 * q * x.col_step;
      if (rows.row[e] < x.c.m && 8 * q < left) *g = x.c.alpha * (two[0] * (of_row[e] * of_first));
      if (rows.row[e] < x.c.m && 8 * q + 1 < left)
        g[x.col_step] = x.c.alpha * (two[1] * (of_row[e] * of_second));
    }
  }
}

// The same if all columns are in bounds and the rows of C are 16-byte aligned. Neighbouring lanes
// exchange two sums, so that each stores a float4 of one row: half as many stores.
template <int kMany>
__device__ __forceinline__ void store_float4s(const float* sums, const SplitTarget& x,
                                              const SplitRows& rows, int col,
                                              const int2 (&scale)[kMany]) {
  static_assert(kMany % 2 == 0, "of two groups, a lane stores one");
  const bool odd = threadIdx.x % 2 != 0;
  float* const gC =
      x.c.gC + col + (odd ? 6 : 0);  // an odd lane has the next group, two columns before its own
  const float of_row[2] = {power_of_two(-rows.scale[0]), power_of_two(-rows.scale[1])};
#pragma unroll
  for (int q = 0; q < kMany; q += 2) {
    const float of_col[4] = {power_of_two(-scale[q].x), power_of_two(-scale[q].y),
                             power_of_two(-scale[q + 1].x), power_of_two(-scale[q + 1].y)};
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float r[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        r[i] = x.c.alpha * (sums[4 * (q + i / 2) + 2 * e + i % 2] * (of_row[e] * of_col[i]));
      const float first = __shfl_xor_sync(0xFFFFFFFFU, odd ? r[0] : r[2], 1),
                  second = __shfl_xor_sync(0xFFFFFFFFU, odd ? r[1] : r[3], 1);
      const float4 four =
          odd ? float4{first, second, r[2], r[3]} : float4{r[0], r[1], first, second};
      if (rows.row[e] < x.c.m) *reinterpret_cast<float4*>(gC + rows.row[e] * x.c.ld + 8 * q) = four;
    }
  }
}

// The same for any alignment of C and any beta. Lanes exchange sums, so that each store of a warp
// has 32 consecutive elements of one row. Without the exchange it would have four elements, every
// second one, of each of eight rows: too many sectors for the memory bandwidth.
template <int kMany>
__device__ __forceinline__ void store_rows(const float* sums, const SplitTarget& x,
                                           const SplitRows& rows, int col,
                                           const int2 (&scale)[kMany]) {
  static_assert(kMany % 4 == 0, "32 columns");
  const int group = static_cast<int>(threadIdx.x) % 32 / 4;
  const int first = col + group / 2 * 8 + group % 2;  // of this lane's columns, once exchanged
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const float of_row = power_of_two(-rows.scale[e]);
    int row[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) row[i] = __shfl_sync(0xFFFFFFFFU, rows.row[e], 4 * i);
#pragma unroll
    for (int q = 0; q < kMany; q += 4) {
      float r[8], before[8];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* const two = sums + 4 * (q + i) + 2 * e;
        r[2 * i] = two[0] * (of_row * power_of_two(-scale[q + i].x));
        r[2 * i + 1] = two[1] * (of_row * power_of_two(-scale[q + i].y));
      }
      transpose_lanes<4>(r);
      float* const gC = x.c.gC + first + 8 * q;
      const bool inside = first + 8 * q < x.c.n;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const bool reads = x.c.beta != 0.0F && inside && row[i] < x.c.m;
        before[i] = reads ? x.c.beta * gC[row[i] * x.c.ld] : -0.0F;  // adding -0 changes no sum
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (inside && row[i] < x.c.m) gC[row[i] * x.c.ld] = x.c.alpha * r[i] + before[i];
      }
    }
  }
}

// Stores the four sums at `four`, of columns col + 2 i and col + 2 i + 1. Exceptional elements are
// not stored; returns whether there are any.
__device__ __forceinline__ bool store_scaled4(const SplitTarget& x, const float* four, int i,
                                              const SplitRows& rows, int col, int2 scale,
                                              bool whole_pairs) {
  bool exceptional = false;
  const int first = col + 2 * i;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    const bool odd_left = rows.scale[e] == kExceptional || scale.x == kExceptional;
    const bool odd_right = rows.scale[e] == kExceptional || scale.y == kExceptional;
    exceptional |= odd_left || odd_right;
    if (rows.row[e] >= x.c.m) continue;
    const float left = times_power(four[2 * e], -rows.scale[e] - scale.x);
    const float right = times_power(four[2 * e + 1], -rows.scale[e] - scale.y);
    float* const gC = x.c.gC + rows.row[e] * x.c.ld + first * x.col_step;
    if (whole_pairs && !odd_left && !odd_right) {
      store_pair(x.c, gC, left, right);
    } else {
      if (first < x.c.n && !odd_left) store_element(x.c, gC, left);
      if (first + 1 < x.c.n && !odd_right) store_element(x.c, gC + x.col_step, right);
    }
  }
  return exceptional;
}

// Recomputes the exceptional elements of these groups from the operands. Called by whole warps.
__device__ __forceinline__ void store_exceptional_of(const SplitTarget& x, const SplitRows& rows,
                                                     int col, int first4, int end4) {
#pragma unroll 1
  for (int i = 4 * first4; i < 4 * end4; ++i) {
    const int row = i / 2 % 2 == 0 ? rows.row[0] : rows.row[1], c = col + i / 4 * 8 + i % 2;
    const int scale = i / 2 % 2 == 0 ? rows.scale[0] : rows.scale[1];
    const bool inside = row < x.c.m && c < x.c.n;
    store_exceptional(x, inside && (scale == kExceptional || x.b.gExponent[c] == kExceptional), row,
                      c);
  }
}

// Stores kMany groups of a thread's sums from column `col` on. whole: all columns are in bounds, C
// permits float4 stores, and beta = 0. Returns as store_scaled4().
template <int kMany>
__device__ __forceinline__ bool store_some(const float* sums, const SplitTarget& x,
                                           const SplitRows& rows, int col, bool whole, bool plain) {
  int2 scale[kMany];
  load_scales(scale, x.b, col, 0);
  bool exceptional = false;
  if (plain && whole) {
    store_float4s(sums, x, rows, col, scale);
  } else if (plain && x.col_step == 1) {
    store_rows(sums, x, rows, col, scale);
  } else if (plain && x.c.beta == 0.0F) {
    store_plain(sums, x, rows, col, scale);
  } else {
#pragma unroll
    for (int q = 0; q < kMany; ++q)
      exceptional |= store_scaled4(x, sums + 4 * q, 4 * q, rows, col, scale[q], whole);
  }
  return exceptional;
}

// Stores groups kFirst to kEnd of a thread's sums, which end before column end_col, and overwrites
// them. plain: all scales of the warp are plain. The loop moves later sums to the first registers,
// which keeps the code small: a block with one tile runs it once and waits for every instruction to
// arrive from memory.
template <int kFirst, int kEnd, int kAtOnce = kScalesAtOnce>
__device__ __forceinline__ void store_scaled(float* sums, const SplitTarget& x,
                                             const SplitRows& rows, int col, int end_col,
                                             bool plain) {
  constexpr int kFloat4s = kEnd - kFirst, kMany = kFloat4s < kAtOnce ? kFloat4s : kAtOnce;
  static_assert(kFloat4s % kMany == 0, "whole iterations");
  const bool whole = x.c.ld % 4 == 0 && reinterpret_cast<std::uintptr_t>(x.c.gC) % 16 == 0 &&
                     x.col_step == 1 && x.c.beta == 0.0F && end_col <= x.c.n;
  bool exceptional = false;
  int at = col + 8 * kFirst;
#pragma unroll 1
  for (int turn = 0; turn < kFloat4s / kMany; ++turn) {
    exceptional |= store_some<kMany>(sums + 4 * kFirst, x, rows, at, whole, plain);
#pragma unroll
    for (int i = 4 * kFirst; i < 4 * (kEnd - kMany); ++i) sums[i] = sums[i + 4 * kMany];
    at += 8 * kMany;
  }
  if (__any_sync(0xFFFFFFFFU, exceptional)) store_exceptional_of(x, rows, col, kFirst, kEnd);
}

// Stores groups kFirst to kEnd of a warpgroup's part of the tile at (row, col). plain: all its
// scales are plain. Overwrites the sums.
template <class T, int kFirst = 0, int kEnd = kFloat4s<T>>
__device__ __forceinline__ void store_split(Product<T>& product, const SplitTarget& x, int row,
                                            int col, bool plain) {
  row += product.row() + product.lane_row();
  const SplitRows rows{{row, row + 8},
                       {__ldg(x.a.gExponent + row), __ldg(x.a.gExponent + row + 8)}};
  col += product.col();
  store_scaled<kFirst, kEnd>(product.sums, x, rows, col + product.lane_col(), col + 8 * kEnd,
                             plain);
}

// Stores the four sums that a thread of a kernel that adds k-splits has, of group `four`.
__device__ __forceinline__ void store_added(const SplitTarget& x, float4 sum, const SplitRows& rows,
                                            int col, int four) {
  const float r[4] = {sum.x, sum.y, sum.z, sum.w};
  const bool whole_pairs =
      x.c.pairs && x.col_step == 1 && x.c.beta == 0.0F && col + 8 * four + 2 <= x.c.n;
  int2 scale[1];
  load_scales(scale, x.b, col, four);
  const bool odd = store_scaled4(x, r, 4 * four, rows, col, scale[0], whole_pairs);
  if (__any_sync(0xFFFFFFFFU, odd)) store_exceptional_of(x, rows, col, four, four + 1);
}

// Adds the `parts` k-splits of each tile and stores it: add_parts of tensor_exchange.cuh for split
// operands. gChoice: null without a guard.
template <class T, int kBand>
__global__ void __launch_bounds__(kAddThreads)
    add_split_parts(const __grid_constant__ SplitTarget x, float* gPartial,
                    const __grid_constant__ Tiling plan, int parts, const int* gChoice) {
  constexpr int kAdders = kAddThreads / kWarpgroup;
  if (gChoice != nullptr && __ldcg(gChoice) != static_cast<int>(SplitChoice::kFp16x3)) return;
  const auto me = AddPlace<T, kAdders>::template here<kBand>(plan);
  float4 sum;
  if (!add_float4s(me, gPartial, plan, parts, sum)) return;
  const int row = me.row + Product<T>::lane_row(me.tid),
            col = me.col + Product<T>::lane_col(me.tid);
  const SplitRows rows{{row, row + 8}, {x.a.gExponent[row], x.a.gExponent[row + 8]}};
  store_added(x, sum, rows, col, me.four);
}

}  // namespace ladder
