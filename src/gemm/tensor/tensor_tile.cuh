// SPDX-License-Identifier: Apache-2.0
// Common to the library's products on tensor cores: the stage that TMA fills and wgmma reads, a
// warpgroup's product of one stage, the position of each sum in C, and stores from registers.
//
// A stage has rows of 128 bytes with the 128-byte swizzle: BM rows of A along k, and boxes of B
// with rows of BK elements. wgmma reads both operands of 16-bit types from there and transposes B.
// TF32 operands in shared memory must be K-major, and row-major B is not. TF32 therefore computes
// C^T = B^T A^T: wgmma's first operand, B^T, is in registers, which hold any layout, and its second
// one is A, which is K-major. 8-bit operands must both be K-major in memory (scaled_product.cuh).
#pragma once
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/mma.cuh"
#include "device/ptx/tma.cuh"
#include "device/ptx/wgmma_registers.cuh"
#include "device/round.cuh"

#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstdint>
#include <type_traits>

namespace ladder {

template <class T>
constexpr Type kTypeOf = std::is_same_v<T, float>    ? Type::kF32
                         : std::is_same_v<T, __half> ? Type::kF16
                                                     : Type::kBf16;

// The type of 8-bit operands with scales.
template <class Element_, Scaling kScaling_>
struct Scaled {
  using Element = Element_;
  static constexpr Scaling kScaling = kScaling_;
  Element x;
};
template <class Element, Scaling kScaling>
constexpr Type kTypeOf<Scaled<Element, kScaling>> =
    std::is_same_v<Element, __nv_fp8_e4m3> ? Type::kE4m3 : Type::kE5m2;

constexpr int kSwizzleBytes = 128;        // row of the swizzle
constexpr int kMaxSharedBytes = 232'448;  // per block on compute capability 9.0
constexpr int kWarpgroup = 128;           // threads

template <class In_, class Out_, int BM_, int BN_, int STAGES_>
struct TensorTile {
  using In = In_;
  using Out = Out_;
  static constexpr int BM = BM_, BN = BN_, STAGES = STAGES_;
  static constexpr int BK = kSwizzleBytes / static_cast<int>(sizeof(In));
  static constexpr bool kTf32 = std::is_same_v<In, float>;
  static constexpr bool kScaled = sizeof(In) == 1;
  static constexpr int WM = kTf32 ? BM : 64, WN = kTf32 ? 64 : BN;  // outputs per warpgroup
  static constexpr int kWarpgroups = BM / WM * (BN / WN);
  static constexpr int kSums = WM * WN / kWarpgroup;        // per thread
  static constexpr int kBoxRows = BM;                       // rows of A per copy
  static constexpr int kBoxCols = BN < BK ? BN : BK;        // columns of B per copy
  static constexpr int kBytes = (BM + BN) * kSwizzleBytes;  // per stage
  static_assert(BM % WM == 0 && BN % WN == 0, "warpgroups must cover the tile");
  static_assert(BM <= 256, "a box of a tensor map has at most 256 rows");
  static_assert(BN % kBoxCols == 0, "B comes in boxes of kBoxCols columns");
  static_assert(kScaled || kBoxCols == BK, "a row of the swizzle has BK columns of a row-major B");
  static_assert(!kTf32 || BM == 256 || BM == 128, "the widths of wgmma_registers");

  struct Stage {
    alignas(1024) In a[BM][BK];  // the swizzle repeats every 8 lines
    alignas(1024) In b[BN / kBoxCols][kBoxCols][BK];
  };
};

// Number of kColumns columns that are in whole boxes of B.
template <class T, int kColumns>
constexpr int kInWholeBoxes = kColumns - kColumns % T::kBoxCols;

// Passed to kernels by value; kernels use its address, because a tensor map must be in parameter,
// constant or global memory.
struct TensorMaps {
  CUtensorMap a, b, c;
  CUtensorMap c_tail;  // of a narrow tile's last columns, see TileStore
};

// The scales of 8-bit operands, as extent_scales_a() and extent_scales_b() describe them.
struct Scales {
  const float* gA;   // (K/128,M), or one
  const float* gB;   // (N/128,ldb), or one
  std::int64_t ldb;  // K/128, rounded up
  int m, n;          // of C
};
struct ScaledMaps : TensorMaps {
  Scales scales;
};
template <class T>
using MapsOf = std::conditional_t<T::kScaled, ScaledMaps, TensorMaps>;

// One thread starts the copy of box j of B, from `col` on.
template <class T>
__device__ __forceinline__ void load_box(typename T::Stage& s, const TensorMaps& maps,
                                         std::uint32_t barrier, int j, int col, int k) {
  if constexpr (T::kScaled) {
    ptx::tma_load(ptx::shared_address(s.b[j]), maps.b, barrier, k, col);
  } else {
    ptx::tma_load(ptx::shared_address(s.b[j]), maps.b, barrier, col, k);
  }
}

// One thread starts the copies of a stage, with only the needed boxes of B. `barrier` completes
// when all bytes have arrived.
template <class T>
__device__ __forceinline__ void load_stage(typename T::Stage& s, const TensorMaps& maps,
                                           std::uint32_t barrier, int row, int col, int k,
                                           int boxes = T::BN / T::kBoxCols) {
#pragma unroll
  for (int i = 0; i < T::BM; i += T::kBoxRows) {
    ptx::tma_load(ptx::shared_address(s.a[i]), maps.a, barrier, k, row + i);
  }
#pragma unroll
  for (int j = 0; j < T::BN / T::kBoxCols; ++j) {
    if (j == boxes) break;
    load_box<T>(s, maps, barrier, j, col + j * T::kBoxCols, k);
  }
}

// A warpgroup's accumulators, WM x WN of C.
template <class T>
class Product {
 public:
  __device__ __forceinline__ explicit Product(int warpgroup) : warpgroup_(warpgroup) {}

  // Origin of this warpgroup's part of a tile.
  __device__ __forceinline__ int row() const { return T::kTf32 ? 0 : warpgroup_ * T::WM; }
  __device__ __forceinline__ int col() const { return T::kTf32 ? warpgroup_ * T::WN : 0; }

  // Address of the rows of A in a stage that only this warpgroup reads (with TF32, all read them).
  __device__ __forceinline__ std::uint32_t own_rows(const typename T::Stage& s) const {
    return ptx::shared_address(s.a[row()]);
  }

  // Starts one wgmma group: the product of a stage's first kWidth columns, which is added to the
  // sums or replaces them. Concurrent groups need different sets of fragment registers, kSet.
  template <int kSet = 0, int kWidth = T::BN>
  __device__ __forceinline__ void multiply(const typename T::Stage& s, bool add) {
    if constexpr (T::kTf32) {
      multiply_tf32(s, fragments_[kSet], add);
    } else {
      const std::uint32_t a = ptx::shared_address(s.a[warpgroup_ * T::WM]),
                          b = ptx::shared_address(s.b);
      ptx::wgmma_fence();
#pragma unroll
      for (int k = 0; k < T::BK; k += 16) {
        const auto at_a = ptx::matrix_descriptor(a + k * sizeof(typename T::In), 8 * kSwizzleBytes);
        const auto at_b =
            ptx::matrix_descriptor(b + k * kSwizzleBytes, 8 * kSwizzleBytes, T::BK * kSwizzleBytes);
        ptx::wgmma_shared<typename T::In, true>(reinterpret_cast<float(&)[kWidth / 2]>(sums), at_a,
                                                at_b, k > 0 || add);
      }
      ptx::wgmma_commit();
    }
  }

  // Waits until all groups except the last have read their stages.
  __device__ __forceinline__ void wait_for_all_but_last() { ptx::wgmma_wait<1>(); }

  // Waits for all groups. Unlike wait(), it does not make the sums available.
  __device__ __forceinline__ void wait_for_all() { ptx::wgmma_wait<0>(); }

  // Waits until the sums are available and all stages have been read.
  __device__ __forceinline__ void wait() {
    ptx::wgmma_wait<0>();
#pragma unroll
    for (float& sum : sums) ptx::changed(sum);
  }

  // Position of this thread's first sum in that part.
  __device__ __forceinline__ static int lane_row(int tid = static_cast<int>(threadIdx.x) %
                                                           kWarpgroup) {
    return T::kTf32 ? tid % 4 * 2 : tid / 32 * 16 + tid % 32 / 4;
  }
  __device__ __forceinline__ static int lane_col(int tid = static_cast<int>(threadIdx.x) %
                                                           kWarpgroup) {
    return T::kTf32 ? tid / 32 * 16 + tid % 32 / 4 * 2 : tid % 4 * 2;
  }

  // Calls pair(row, col, i, j) for the pairs of neighbours in a row of C, sums[i] and sums[j],
  // among sums kBegin to kEnd. Rows and columns are relative to this thread's first sum, hence
  // constants.
  template <int kBegin = 0, int kEnd = T::kSums, class Pair>
  __device__ __forceinline__ static void for_each_pair(Pair pair) {
#pragma unroll
    for (int i = kBegin; i < kEnd; i += 4) for_each_pair_of(i, pair);
  }

  // The same for the two pairs among sums[i] to sums[i + 3].
  template <class Pair>
  __device__ __forceinline__ static void for_each_pair_of(int i, Pair pair) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      if constexpr (T::kTf32) {
        pair(2 * i + e, 0, i + e, i + 2 + e);
      } else {
        pair(8 * e, 2 * i, i + 2 * e, i + 2 * e + 1);
      }
    }
  }

  float sums[T::kSums];

 private:
  // Column n of B is row g of the first operand if n = 16 warp + 2 g, and row g + 8 if n = 16 warp
  // + 2 g + 1, so that one load reads two of them. B is rounded to the nearest TF32 in registers;
  // the tensor core truncates A.
  using Fragments = std::uint32_t[T::kTf32 ? T::BK / 8 : 1][4];
  __device__ __forceinline__ void multiply_tf32(const typename T::Stage& s, Fragments& rB,
                                                bool add) {
    const int tid = static_cast<int>(threadIdx.x) % kWarpgroup, warp = tid / 32, g = tid % 32 / 4,
              t = tid % 4;
    const std::uint32_t a = ptx::shared_address(s.a);
    const char* box = reinterpret_cast<const char*>(s.b[warpgroup_ * 2 + warp / 2]);
    const int at = warp % 2 * 64 + g * 8;  // bytes along a row
#pragma unroll
    for (int k = 0; k < T::BK; k += 4) {
      const int k_row = k + t;
      const auto two =
          *reinterpret_cast<const uint2*>(box + k_row * kSwizzleBytes + (at ^ (k_row % 8 * 16)));
      rB[k / 8][k % 8 / 2] = ptx::to_tf32(two.x);
      rB[k / 8][k % 8 / 2 + 1] = ptx::to_tf32(two.y);
    }
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < T::BK; k += 8) {
      const auto at_a = ptx::matrix_descriptor(a + k * sizeof(float), 8 * kSwizzleBytes);
      ptx::wgmma_registers(sums, rB[k / 8], at_a, k > 0 || add);
    }
    ptx::wgmma_commit();
  }

  Fragments fragments_[2];
  int warpgroup_;
};

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
Target<Out> target_of(const Problem& p, const Operands& o) {
  Out* const gC = o.c_as<Out>();
  const bool pairs =
      reinterpret_cast<std::uintptr_t>(gC) % (2 * sizeof(Out)) == 0 && p.ldc % 2 == 0;
  return {gC, p.ldc, static_cast<int>(p.m), static_cast<int>(p.n), p.alpha, p.beta, pairs};
}

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
// and alignment of C.
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
