// SPDX-License-Identifier: Apache-2.0
// Partial sums of a warp of simt_tiles: forwarded to the next block through device memory, or kept
// in shared memory between two chains of additions.
#pragma once
#include "device/ptx/sync.cuh"
#include "gemm/partial_sums.cuh"

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

// Forwards this warp's partial sums. An element at a time: for 128-bit
// stores ptxas would hold each four sums in neighbouring registers, in the banks of the operands
// that they are multiplied with, and the main loop would run at half its rate.
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

}  // namespace ladder
