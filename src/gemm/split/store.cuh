// SPDX-License-Identifier: Apache-2.0
// How sums of split operands get to C: the lines' scales are undone, alpha and beta applied.
// Elements of lines that hold Inf or NaN have no words; they are computed from the operands
// themselves, in binary32.
#pragma once
#include "device/launch.cuh"
#include "device/tile_store.cuh"
#include "gemm/split/pass.cuh"
#include "gemm/tensor/tensor_exchange.cuh"

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
__device__ __forceinline__ void store_exceptional(const SplitTarget& x, bool exceptional, int row,
                                                  int col) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (unsigned left = __ballot_sync(0xFFFFFFFFU, exceptional); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const std::int64_t i = __shfl_sync(0xFFFFFFFFU, row, owner),
                       j = __shfl_sync(0xFFFFFFFFU, col, owner);
    const std::int64_t line_a = x.a.along_k ? x.a.ld : 1, step_a = x.a.along_k ? 1 : x.a.ld;
    const std::int64_t line_b = x.b.along_k ? x.b.ld : 1, step_b = x.b.along_k ? 1 : x.b.ld;
    float sum = 0.0F;
    for (int k = lane; k < x.k; k += 32) {
      sum = __fmaf_rn(x.a.g[i * line_a + k * step_a], x.b.g[j * line_b + k * step_b], sum);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xFFFFFFFFU, sum, distance);
    if (lane == 0) store_element(x.c, x.c.gC + i * x.c.ld + j * x.col_step, sum);
  }
}

constexpr int kScalesAtOnce = 8;  // quads of sums

// The scales of a thread's columns, for kMany quads of its sums from `quad` on: all loads at once,
// since each is as long on its way as many quads take to be stored.
template <int kMany>
__device__ __forceinline__ void load_scales(int2 (&scale)[kMany], const SplitOperand& b, int col,
                                            int quad) {
#pragma unroll
  for (int i = 0; i < kMany; ++i)
    scale[i] = __ldg(reinterpret_cast<const int2*>(b.gExponent + col + 8 * (quad + i)));
}

// Scales of which any two together are one normal factor; none is exceptional.
constexpr int kMostPlain = 63;

// Whether the scales of lines `first` to first + kMany, those that there are, are plain. For whole
// warps. Also brings them to L1 before they are needed.
template <int kMany>
__device__ __forceinline__ bool plain_lines(const SplitOperand& x, int first) {
  static_assert(kMany % 32 == 0, "all lanes look");
  const int lane = static_cast<int>(threadIdx.x) % 32;
  bool plain = true;
#pragma unroll
  for (int i = 0; i < kMany; i += 32) {
    const int line = first + i + lane;
    const int scale = line < x.lines ? __ldg(x.gExponent + line) : 0;
    plain &= scale >= -kMostPlain && scale <= kMostPlain;
  }
  return __all_sync(0xFFFFFFFFU, plain);
}
// The same of a tile's rows and columns.
template <class T>
__device__ __forceinline__ bool plain_scales(const SplitTarget& x, int row, int col) {
  return plain_lines<T::BM>(x.a, row) & plain_lines<T::BN>(x.b, col);
}

// A thread's two rows: that of its sums 4 i and 4 i + 1, and that of 4 i + 2 and 4 i + 3, and their
// scales.
struct SplitRows {
  int row[2], scale[2];
};

// kMany quads of a thread's sums, where all scales are plain and beta = 0; the first column is
// `col`.
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

// The same where C has all these columns and its rows begin on 16 bytes. Neighbouring lanes
// exchange sums, two for two, so that each has four of a row: half as many stores, of as many rows
// each.
template <int kMany>
__device__ __forceinline__ void store_fours(const float* sums, const SplitTarget& x,
                                            const SplitRows& rows, int col,
                                            const int2 (&scale)[kMany]) {
  static_assert(kMany % 2 == 0, "of two quads, a lane stores one");
  const bool odd = threadIdx.x % 2 != 0;
  float* const gC =
      x.c.gC + col + (odd ? 6 : 0);  // an odd lane has the next quad, two columns before its own
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

// Eight words of a lane, transposed among the lanes that have the same place in their four:
// afterwards word i is what lane group i had as word number lane / 4.
__device__ __forceinline__ void transpose8(float (&r)[8]) {
  const unsigned group = threadIdx.x % 32 / 4;
#pragma unroll
  for (unsigned bit = 1; bit < 8; bit *= 2) {
    const bool upper = (group & bit) != 0;
#pragma unroll
    for (unsigned i = 0; i < 8; ++i) {
      if ((i & bit) != 0) continue;
      const float got = __shfl_xor_sync(0xFFFFFFFFU, upper ? r[i] : r[i + bit], 4 * bit);
      (upper ? r[i] : r[i + bit]) = got;  // of two words, the lower lane keeps the lower one
    }
  }
}

// The same for rows of C that begin anywhere, and any beta: lanes exchange sums, so that a warp has
// 32 neighbours of a row. From where they lie, a warp would store four neighbours, every second
// one, of eight rows: more sectors than memory has time for.
template <int kMany>
__device__ __forceinline__ void store_lines(const float* sums, const SplitTarget& x,
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
      transpose8(r);
      float* const gC = x.c.gC + first + 8 * q;
      const bool inside = first + 8 * q < x.c.n;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const bool reads = x.c.beta != 0.0F && inside && row[i] < x.c.m;
        before[i] = reads ? x.c.beta * gC[row[i] * x.c.ld] : -0.0F;  // what changes no sum
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (inside && row[i] < x.c.m) gC[row[i] * x.c.ld] = x.c.alpha * r[i] + before[i];
      }
    }
  }
}

// Four sums from quad on, of columns col + 2 i and the next. Returns whether any of these elements
// is exceptional, and leaves those.
__device__ __forceinline__ bool store_scaled_quad(const SplitTarget& x, const float* quad, int i,
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
    const float left = times_power(quad[2 * e], -rows.scale[e] - scale.x);
    const float right = times_power(quad[2 * e + 1], -rows.scale[e] - scale.y);
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

// Those of the same quads that are exceptional, from the operands themselves. All lanes call it.
__device__ __forceinline__ void store_exceptional_of(const SplitTarget& x, const SplitRows& rows,
                                                     int col, int first_quad, int end_quad) {
#pragma unroll 1
  for (int i = 4 * first_quad; i < 4 * end_quad; ++i) {
    const int row = i / 2 % 2 == 0 ? rows.row[0] : rows.row[1], c = col + i / 4 * 8 + i % 2;
    const int scale = i / 2 % 2 == 0 ? rows.scale[0] : rows.scale[1];
    const bool inside = row < x.c.m && c < x.c.n;
    store_exceptional(x, inside && (scale == kExceptional || x.b.gExponent[c] == kExceptional), row,
                      c);
  }
}

// kMany quads of a thread's sums from column `col` on. whole: C has all their columns, takes them
// by fours, and beta = 0. What store_scaled_quad() returns.
template <int kMany>
__device__ __forceinline__ bool store_some(const float* sums, const SplitTarget& x,
                                           const SplitRows& rows, int col, bool whole, bool plain) {
  int2 scale[kMany];
  load_scales(scale, x.b, col, 0);
  bool exceptional = false;
  if (plain && whole) {
    store_fours(sums, x, rows, col, scale);
  } else if (plain && x.col_step == 1) {
    store_lines(sums, x, rows, col, scale);
  } else if (plain && x.c.beta == 0.0F) {
    store_plain(sums, x, rows, col, scale);
  } else {
#pragma unroll
    for (int q = 0; q < kMany; ++q)
      exceptional |= store_scaled_quad(x, sums + 4 * q, 4 * q, rows, col, scale[q], whole);
  }
  return exceptional;
}

// Quads kFirst to kEnd of a thread's sums, which end before column end_col, and are lost. plain:
// all scales that the warp has. In a loop that moves later sums to where the first ones were, for
// the sake of little code: a block that has one tile runs it once, and waits for each instruction
// to come from memory.
template <int kFirst, int kEnd, int kAtOnce = kScalesAtOnce>
__device__ __forceinline__ void store_scaled(float* sums, const SplitTarget& x,
                                             const SplitRows& rows, int col, int end_col,
                                             bool plain) {
  constexpr int kQuads = kEnd - kFirst, kMany = kQuads < kAtOnce ? kQuads : kAtOnce;
  static_assert(kQuads % kMany == 0, "as many in each turn");
  const bool whole = x.c.ld % 4 == 0 && reinterpret_cast<std::uintptr_t>(x.c.gC) % 16 == 0 &&
                     x.col_step == 1 && x.c.beta == 0.0F && end_col <= x.c.n;
  bool exceptional = false;
  int at = col + 8 * kFirst;
#pragma unroll 1
  for (int turn = 0; turn < kQuads / kMany; ++turn) {
    exceptional |= store_some<kMany>(sums + 4 * kFirst, x, rows, at, whole, plain);
#pragma unroll
    for (int i = 4 * kFirst; i < 4 * (kEnd - kMany); ++i) sums[i] = sums[i + 4 * kMany];
    at += 8 * kMany;
  }
  if (__any_sync(0xFFFFFFFFU, exceptional)) store_exceptional_of(x, rows, col, kFirst, kEnd);
}

// Quads kFirst to kEnd of a warpgroup's part of the tile at (row, col), whose scales are plain or
// not. Sums are lost.
template <class T, int kFirst = 0, int kEnd = kQuads<T>>
__device__ __forceinline__ void store_split(Product<T>& product, const SplitTarget& x, int row,
                                            int col, bool plain) {
  row += product.row() + product.lane_row();
  const SplitRows rows{{row, row + 8},
                       {__ldg(x.a.gExponent + row), __ldg(x.a.gExponent + row + 8)}};
  col += product.col();
  store_scaled<kFirst, kEnd>(product.sums, x, rows, col + product.lane_col(), col + 8 * kEnd,
                             plain);
}

// add_parts of tensor_exchange.cuh, for sums of split operands: adds the `parts` of each tile and
// stores it.
template <class T, int kBand>
__global__ void __launch_bounds__(kAddThreads)
    add_split_parts(const __grid_constant__ SplitTarget x, float* gPartial,
                    const __grid_constant__ Plan plan, int parts, const int* gChoice, int choice) {
  constexpr int kAdders = kAddThreads / kWarpgroup;
  if (!split_detail::wanted(gChoice, choice)) return;
  const auto me = AddPlace<T, kAdders>::template here<kBand>(plan);
  float4 sum;
  if (!add_quads(me, gPartial, plan, parts, sum)) return;
  const int row = me.row + Product<T>::lane_row(me.tid),
            col = me.col + Product<T>::lane_col(me.tid);
  const float r[4] = {sum.x, sum.y, sum.z, sum.w};
  const SplitRows rows{{row, row + 8}, {x.a.gExponent[row], x.a.gExponent[row + 8]}};
  const bool whole_pairs = x.c.pairs && x.c.beta == 0.0F && col + 8 * me.quad + 2 <= x.c.n;
  int2 scale[1];
  load_scales(scale, x.b, col, me.quad);
  const bool odd = store_scaled_quad(x, r, 4 * me.quad, rows, col, scale[0], whole_pairs);
  if (__any_sync(0xFFFFFFFFU, odd)) store_exceptional_of(x, rows, col, me.quad, me.quad + 1);
}

}  // namespace ladder
