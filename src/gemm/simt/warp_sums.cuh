// SPDX-License-Identifier: Apache-2.0
// The sums of a warp of simt_tiles: forwarded to the next block through device memory, kept in
// shared memory between two chains of additions, and stored to C.
#pragma once
#include "device/ptx/sync.cuh"
#include "device/schedule.cuh"
#include "gemm/partial_sums.cuh"

#include <ladder/problem.hpp>

#include <cstdint>

namespace ladder {

// A warp accumulates the sums of the same warp of another block, so that warps need not wait for
// each other.
template <class T>
struct WarpOf {
  int tid;
  __device__ __forceinline__ unsigned* flag(const Exchange& x, int block) const {
    return x.gReady + block * (T::kConsumers / 32) + static_cast<int>(threadIdx.x) / 32;
  }
  __device__ __forceinline__ void sync() const { __syncwarp(); }
  __device__ __forceinline__ bool leads() const { return tid % 32 == 0; }
};

// Forwards this warp's partial sums, an element at a time: for 128-bit stores ptxas would hold each
// four sums in neighbouring registers, in the banks of the operands that they are multiplied with,
// and the main loop would run at half its rate.
template <class T>
__device__ __forceinline__ void forward_partial(float (&rC)[T::TM][T::TN], const Exchange& x) {
  const int tid = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
  for (int i = 0; i < T::kOwn * T::TN; ++i) gP[i * T::kConsumers] = rC[i / T::TN][i % T::TN];
  announce_partial(WarpOf<T>{tid}, x, block);
}

// Accumulates the partial sums of `block`.
template <class T>
__device__ __forceinline__ void accumulate_partial(float (&rC)[T::TM][T::TN], const Exchange& x,
                                                   int block) {
  const int tid = static_cast<int>(threadIdx.x);
  consume_partial(WarpOf<T>{tid}, x, block, [&] {
    const float* gP = x.gPartial + static_cast<std::int64_t>(block) * T::kPartial + tid;
#pragma unroll
    for (int i = 0; i < T::kOwn * T::TN; ++i)
      rC[i / T::TN][i % T::TN] += __ldcg(gP + i * T::kConsumers);
  });
}

// Accumulates the partial sums of the blocks before this one that share the tile: all that are
// left, if this block ends the tile; else those by which a binary tree of blocks comes to this one,
// so that the last block does not read the sums of all others one after the other. A block waits
// only for blocks of lower number.
template <class T>
__device__ __forceinline__ void accumulate_others(float (&rC)[T::TM][T::TN], const Exchange& x,
                                                  const Tiling& plan, int tile, bool ends_tile) {
  const int block = static_cast<int>(blockIdx.x);
  int others = 1;
  while (Schedule::begins_inside(plan, tile, block - others)) ++others;
  const int first = block - others;
  // The last of n blocks has the sums of 2^i, where 2^i is the largest that divides n.
  for (const int left = ends_tile ? 0 : others & (others + 1); others > left;
       others -= others & -others)
    accumulate_partial<T>(rC, x, first + others - 1);
}

// Shared memory for a warp's sums: element i of all lanes, then element i + 1. Each thread accesses
// its own bank.
template <class T>
__device__ __forceinline__ float* kept_by_warp(float* sKept) {
  return sKept + threadIdx.x / 32 * (32 * T::kOwn * T::TN);
}

// Keeps the sums of one chain of additions in shared memory and adds them to those of the next.
template <class T>
__device__ __forceinline__ void keep(const float (&rC)[T::TM][T::TN], float* sKept) {
  float* const s = kept_by_warp<T>(sKept) + threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) s[i * 32] = rC[i % T::TM][i / T::TM];
}
template <class T>
__device__ __forceinline__ void add_kept(float (&rC)[T::TM][T::TN], float* sKept) {
  const float* const s = kept_by_warp<T>(sKept) + threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < T::TM * T::TN; ++i) rC[i % T::TM][i / T::TM] += s[i * 32];
}

// For tiles whose two groups of warps split k, in place of keep() and add_kept(): adds the sums of
// both groups, and of the chains before this one, which shared memory keeps. After the last chain a
// thread of the first group has the total of the first half of its rows, one of the second group
// that of the second half, both in the first kOwn rows of rC. begins, ends: whether this is the
// first chain, and the last.
template <class T>
__device__ __forceinline__ void add_groups(float (&rC)[T::TM][T::TN], float* sKept, int group,
                                           bool begins, bool ends) {
  constexpr int kWarps = T::kGroup / 32, kHalf = 32 * T::kOwn * T::TN;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  float* const own = sKept + warp * kHalf + lane;
  float* const other = sKept + (warp + (group == 0 ? kWarps : -kWarps)) * kHalf + lane;
  const auto sync = [&] { ptx::barrier_sync(2 + warp % kWarps, 64); };
  sync();  // the other group no longer uses this memory, also for the stores of the last tile
#pragma unroll
  for (int i = 0; i < T::kOwn * T::TN; ++i) {
    const int row = i % T::kOwn, col = i / T::kOwn;
    const float sum = group == 0 ? rC[row + T::kOwn][col] : rC[row][col];
    other[i * 32] = begins ? sum : sum + other[i * 32];
  }
  sync();
#pragma unroll
  for (int i = 0; i < T::kOwn * T::TN; ++i) {
    const int row = i % T::kOwn, col = i / T::kOwn;
    rC[row][col] = (group == 0 ? rC[row][col] : rC[row + T::kOwn][col]) + own[i * 32];
    if (!ends) own[i * 32] = rC[row][col];
  }
}

// Position of a warp's outputs in the block's tile, and of a lane's in the warp's. Lanes that share
// a row or column of outputs are neighbours, so that a 128-bit shared load takes only two
// wavefronts.
template <class T>
struct WarpPlace {
  int lane = static_cast<int>(threadIdx.x) % 32,
      warp = static_cast<int>(threadIdx.x) % T::kGroup / 32;
  int row = warp / (T::BN / T::WN) * T::WM, col = warp % (T::BN / T::WN) * T::WN;
  int of8 = lane % 2 + lane / 8 * 2, of4 = lane / 2 % 4;
  int lane_row = (T::kLanesM == 8 ? of8 : of4) * 4, lane_col = (T::kLanesN == 8 ? of8 : of4) * 4;
};

// Calls store(row, column, sums) per four sums. Stores are predicated instead of branched around:
// after a branch that may diverge, ptxas would keep the main loop's counters in per-lane registers.
template <class T, class Store>
__device__ __forceinline__ void store_tile(const float (&rC)[T::TM][T::TN], Store store) {
#pragma unroll
  for (int i = 0; i < T::kOwn; ++i) {
#pragma unroll
    for (int j = 0; j < T::TN; j += 4)
      store(i / 4 * 4 * T::kLanesM + i % 4, j * T::kLanesN, &rC[i][j]);
  }
}

// For rows of C that are not 16-byte aligned: sums go through the warp's shared memory, so that the
// warp stores whole rows of its outputs. Direct 4-byte stores from the lanes would write each
// sector four times.
template <class T>
__device__ __forceinline__ void store_rows(const float (&rC)[T::TM][T::TN], const Problem& p,
                                           float* gC, const TilePlace& place, int first_row,
                                           float* sWarp) {
  constexpr int kRows = T::WM / T::WK, kAtOnce = 8, kPieces = T::WN / 32;
  const WarpPlace<T> at;
  // Four columns of eight lanes, and four rows, are in the 32 banks. 16-byte stores of the sums,
  // and a pointer that the loop advances, cost 9% at 4096: ptxas puts the sums of the main loop in
  // other register banks (docs/lab/register-banks.md).
  const auto index = [](int row, int col) { return row * T::WN + (col ^ row / 4 % 4); };
  store_tile<T>(rC, [&](int i, int j, const float* r) {
#pragma unroll
    for (int e = 0; e < 4; ++e) sWarp[index(at.lane_row + i, at.lane_col + j + e)] = r[e];
  });
  __syncwarp();
  const float alpha = p.alpha, beta = p.beta;
  const int row0 = place.m * T::BM + at.row + first_row, col0 = place.n * T::BN + at.col + at.lane;
#pragma unroll 1
  for (int row = 0; row < kRows; row += kAtOnce) {
    float r[kAtOnce][kPieces];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
#pragma unroll
      for (int j = 0; j < kPieces; ++j) r[i][j] = alpha * sWarp[index(row + i, at.lane + j * 32)];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      float* const g = gC + (row0 + row + i) * p.ldc + col0;
#pragma unroll
      for (int j = 0; j < kPieces; ++j) {
        const bool inside = row0 + row + i < p.m && col0 + j * 32 < p.n;
        if (beta != 0.0F && inside) r[i][j] += beta * g[j * 32];
        if (inside) g[j * 32] = r[i][j];
      }
    }
  }
  __syncwarp();
}

}  // namespace ladder
