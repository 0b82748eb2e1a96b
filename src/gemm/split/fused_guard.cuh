// SPDX-License-Identifier: Apache-2.0
// Range check and decision of a product with a fused split. The result is accurate if, in every 64
// elements along k of every row of op(A) and column of op(B), enough elements are within `level`
// binades of the largest, so that tiny ones do not matter. The consumer warps count the raw
// operand's elements as they split them. Producer warps that do not copy count the other operand's
// first terms. See docs/guard.md, "Scales of 64 of k".
#pragma once
#include "device/ptx/sync.cuh"
#include "gemm/split/choice.cuh"
#include "gemm/split/fused_tile.cuh"

#include <cstdint>

namespace ladder {

struct FusedGuard {
  int level;          // binades below the scale of 64 elements down to which an element counts
  unsigned allowed;   // elements of 64 that may be below it, of A and B together
  unsigned missing;   // a quarter of the elements beyond k in the last slab, rounded down
  unsigned* gGrowth;  // Growth of the sample; zeroed after the read
  unsigned* gLost;    // (2): maxima of A and of B; zero before and after
  unsigned* gDone;    // number of finished blocks; zero before and after
  int* gChoice;       // (kChoiceFields)
};

// The number of elements below the level in a slab: the larger one of this thread's two rows. 0 for
// rows of zeros, and for rows with Inf or NaN, whose elements of C are recomputed in FP32. Each of
// a row's four lanes leaves out `missing` elements beyond k.
template <class T>
__device__ __forceinline__ unsigned lost_of_raw(const std::uint32_t (&largest)[2],
                                                const RawFragment<T>& r, int level,
                                                unsigned missing) {
  constexpr int kExponentAt = 23, kSecond = 16;  // bits; both rows' counts share one register
  unsigned above = missing | missing << kSecond;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t top = largest[half] & kInfinityBits,
                        down = static_cast<std::uint32_t>(level) << kExponentAt;
    const float least = __uint_as_float(top > down ? top - down : kInfinityBits);
#pragma unroll
    for (const float x : r.x[half]) above += fabsf(x) >= least ? 1U << (half * kSecond) : 0U;
  }
  above += __shfl_xor_sync(0xFFFFFFFFU, above, 1);
  above += __shfl_xor_sync(0xFFFFFFFFU, above, 2);
  unsigned lost = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool counts = largest[half] != 0 && largest[half] < kInfinityBits;
    const unsigned of_vector = T::BK - (above >> (half * kSecond) & 0xFFFFU);
    lost = counts ? max(lost, of_vector) : lost;
  }
  return lost;
}

// Of eight FP16 numbers with magnitudes of at most 2^15: how many have a magnitude of at least the
// one with bits `least`, and whether any is nonzero.
struct EightTerms {
  unsigned above;
  bool any;
};
__device__ __forceinline__ EightTerms count_terms(uint4 w, unsigned least) {
  constexpr unsigned kMagnitudes = 0x7FFF7FFFU, kTops = 0x80008000U;
  const unsigned x = w.x & kMagnitudes, y = w.y & kMagnitudes, z = w.z & kMagnitudes,
                 t = w.w & kMagnitudes;
  // A magnitude of at least `least` carries into the sign bit, which is cleared.
  const unsigned more = kTops - (least | least << 16);
  const unsigned tops = (x + more & kTops) | (y + more & kTops) >> 1 | (z + more & kTops) >> 2 |
                        (t + more & kTops) >> 3;
  return {static_cast<unsigned>(__popc(tops)), (x | y | z | t) != 0};
}

// The maximum number of elements below the level in this block's share of the other operand,
// counted by kThreads threads (tid from 0). kUnits loads per thread overlap, as many as the
// registers allow: one at a time, they would take longer than the product if k is large.
template <class T, unsigned kThreads>
__device__ __forceinline__ unsigned lost_of_terms(const SplitOperand& b, int slabs, int level,
                                                  unsigned tid) {
  using F = typename T::Format;
  constexpr unsigned kLanes = F::kSlabBytes / sizeof(uint4), kAtOnce = kThreads / kLanes;
  constexpr int kMantissa = 10, kBias = 15;  // of FP16
  constexpr unsigned kUnits = 3;             // slabs of 64 elements per thread and iteration
  static_assert(F::kTop == 14 && sizeof(typename F::Term) == 2 && kThreads % 32 == 0, "FP16 terms");
  const unsigned least = static_cast<unsigned>(kBias + F::kTop - level) << kMantissa;
  const unsigned last = static_cast<unsigned>(b.vectors) * static_cast<unsigned>(slabs) - 1,
                 of_all = gridDim.x * kAtOnce;
  const auto* const g = static_cast<const uint4*>(b.gTerms) + tid % kLanes;
  unsigned lost = 0;
#pragma unroll 1
  for (unsigned first = blockIdx.x * kAtOnce; first <= last; first += kUnits * of_all) {
    uint4 w[kUnits];
#pragma unroll
    for (unsigned i = 0; i < kUnits; ++i) {
      const unsigned unit = min(first + i * of_all + tid / kLanes, last);
      w[i] = __ldcg(g + std::uint64_t{unit} * (F::kTerms * kLanes));
    }
#pragma unroll
    for (unsigned i = 0; i < kUnits; ++i) {
      constexpr unsigned kAny = 1U << 16;
      const EightTerms eight = count_terms(w[i], least);
      unsigned sum = eight.above + (eight.any ? kAny : 0U);
#pragma unroll
      for (unsigned distance = 1; distance < kLanes; distance *= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, distance);
      if (sum >= kAny) lost = max(lost, T::BK - sum % kAny);
    }
  }
  return lost;
}

// Updates the thread's maximum of elements (of 64) below the level. Guarded kernels only.
template <class T>
__device__ __forceinline__ void record_lost(typename T::Shared& s, unsigned lost) {
  unsigned& lost_of_thread = s.lost_of_thread[threadIdx.x - kWarpgroup];
  lost_of_thread = max(lost_of_thread, lost);
}

constexpr int kSettleBarrier = 3;  // named barrier of the warps that count

// Adds this warp's maximum to the block's, and synchronises all warps that count.
template <class T, int kThreads>
__device__ __forceinline__ void combine_lost(typename T::Shared& s, bool of_terms, unsigned lost) {
  lost = __reduce_max_sync(0xFFFFFFFFU, lost);
  if (threadIdx.x % 32 == 0) atomicMax(&s.lost[of_terms ? 1 : 0], lost);
  ptx::barrier_sync(kSettleBarrier, kThreads);
}

// Called by one warp per block after combine_lost(). The last block makes the choice.
template <class T>
__device__ __forceinline__ void decide(const typename T::Shared& s, const FusedGuard& x) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  bool last = false;
  if (lane == 0) {
    atomicMax(x.gLost, s.lost[0]);
    atomicMax(x.gLost + 1, s.lost[1]);
    __threadfence();
    last = atomicAdd(x.gDone, 1U) == gridDim.x - 1;
  }
  if (!last) return;
  __threadfence();
  const unsigned lost = __ldcg(x.gLost) + __ldcg(x.gLost + 1);
  const bool proved = grows(__ldcg(x.gGrowth)) && lost <= x.allowed;
  x.gChoice[kWhichChoice] =
      static_cast<int>(proved ? SplitChoice::kFp16x3 : SplitChoice::kBinary64);
  x.gChoice[kWhichMark] = kChoiceMark;
  x.gLost[0] = x.gLost[1] = *x.gDone = *x.gGrowth = 0;
}

}  // namespace ladder
