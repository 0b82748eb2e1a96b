// SPDX-License-Identifier: Apache-2.0
// What a product that splits one operand on its way finds out for the guard, and how its blocks
// decide: whether of every 64 of k of every line so many elements are within some binades of the
// largest that tiny ones do not matter. The raw operand's are counted as they are split, by who
// splits them; the other one's from its words, by warps that have nothing to copy. docs/guard.md,
// "Scales of 64 of k".
#pragma once
#include "device/ptx/sync.cuh"
#include "gemm/split/choice.cuh"
#include "gemm/split/fused_tile.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// A tile whose product is guarded: its warps that copy also count.
template <class Base>
struct GuardedTile : Base {
  static constexpr bool kGuarded = true;
  struct Shared : Base::Shared {
    // Most elements of 64 below the level: of the raw operand and of the other, and what each
    // thread that splits has seen, for which it has no register.
    unsigned lost[2], seen[Base::kWarpgroups * kWarpgroup];
  };
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");
};

struct FusedGuard {
  int level;          // binades below the scale of 64 that an element may be and count
  unsigned allowed;   // elements of 64 that may be below it, of A and B together
  unsigned* gGrowth;  // of the sample; zeroed
  unsigned* gLost;    // (2): most lost of A and of B; zero before and after
  unsigned* gDone;    // blocks, zero before and after
  int* gChoice;       // (kChoiceWords)
};

namespace split_detail {

// The more of what this thread's two lines have lost in a slab. None where there are zeros only, or
// where Inf or NaN let the line be computed otherwise.
template <class T>
__device__ __forceinline__ unsigned lost_of_raw(const std::uint32_t (&largest)[2],
                                                const RawFragment<T>& r, int level) {
  constexpr int kExponentAt = 23, kSecond = 16;  // bits; counts of both lines in one number
  unsigned above = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const std::uint32_t top = largest[half] & kInfinityBits,
                        down = static_cast<std::uint32_t>(level) << kExponentAt;
    const float least = __uint_as_float(top > down ? top - down : kInfinityBits);
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        above += fabsf(r.x[half][step][i]) >= least ? 1U << (half * kSecond) : 0U;
    }
  }
  above += __shfl_xor_sync(0xFFFFFFFFU, above, 1);
  above += __shfl_xor_sync(0xFFFFFFFFU, above, 2);
  unsigned lost = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool counts = largest[half] != 0 && largest[half] < kInfinityBits;
    const unsigned of_line = T::BK - (above >> (half * kSecond) & 0xFFFFU);
    lost = counts ? max(lost, of_line) : lost;
  }
  return lost;
}

// Of eight words of fp16 no larger than 2^15, how many are at least the one with bits `least`, and
// whether any is not zero.
struct EightWords {
  unsigned above;
  bool any;
};
__device__ __forceinline__ EightWords count_words(uint4 w, unsigned least) {
  constexpr unsigned kMagnitudes = 0x7FFF7FFFU, kTops = 0x80008000U;
  const unsigned x = w.x & kMagnitudes, y = w.y & kMagnitudes, z = w.z & kMagnitudes,
                 t = w.w & kMagnitudes;
  // A word that is at least so much carries into the sign's place, which is free.
  const unsigned more = kTops - (least | least << 16);
  const unsigned tops = (x + more & kTops) | (y + more & kTops) >> 1 | (z + more & kTops) >> 2 |
                        (t + more & kTops) >> 3;
  return {static_cast<unsigned>(__popc(tops)), (x | y | z | t) != 0};
}

// What the other operand has lost at most, of this block's share of it; by kThreads threads of
// numbers from 0. As many loads are under way as registers are left for: one by one they would take
// longer than the product where k is deep.
template <class T, unsigned kThreads>
__device__ __forceinline__ unsigned lost_of_words(const SplitOperand& b, int slabs, int level,
                                                  unsigned tid) {
  using F = typename T::Format;
  constexpr unsigned kLanes = F::kSlabBytes / sizeof(uint4), kAtOnce = kThreads / kLanes;
  constexpr int kMantissa = 10, kBias = 15;  // of fp16
  constexpr unsigned kUnits = 3;             // of 64, a thread
  static_assert(F::kTop == 14 && sizeof(typename F::Word) == 2 && kThreads % 32 == 0,
                "words of fp16");
  const unsigned least = static_cast<unsigned>(kBias + F::kTop - level) << kMantissa;
  const unsigned last = static_cast<unsigned>(b.lines) * static_cast<unsigned>(slabs) - 1,
                 of_all = gridDim.x * kAtOnce;
  const auto* const g = static_cast<const uint4*>(b.gWords) + tid % kLanes;
  unsigned lost = 0;
#pragma unroll 1
  for (unsigned first = blockIdx.x * kAtOnce; first <= last; first += kUnits * of_all) {
    uint4 w[kUnits];
#pragma unroll
    for (unsigned i = 0; i < kUnits; ++i) {
      const unsigned unit = min(first + i * of_all + tid / kLanes, last);
      w[i] = __ldcg(g + std::uint64_t{unit} * (F::kWords * kLanes));
    }
#pragma unroll
    for (unsigned i = 0; i < kUnits; ++i) {
      constexpr unsigned kAny = 1U << 16;
      const EightWords eight = count_words(w[i], least);
      unsigned sum = eight.above + (eight.any ? kAny : 0U);
#pragma unroll
      for (unsigned distance = 1; distance < kLanes; distance *= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, distance);
      if (sum >= kAny) lost = max(lost, T::BK - sum % kAny);
    }
  }
  return lost;
}

// Takes in that of some 64 elements this thread has seen so many lost, where anybody asks.
template <class T>
__device__ __forceinline__ void see([[maybe_unused]] typename T::Shared& s,
                                    [[maybe_unused]] unsigned lost) {
  if constexpr (T::kGuarded) {
    unsigned& seen = s.seen[threadIdx.x - kWarpgroup];
    seen = max(seen, lost);
  }
}

constexpr int kSettleBarrier = 3;  // of the warps that count

// Of all warps that count: takes in what this one has lost at most.
template <class T, int kThreads>
__device__ __forceinline__ void settle(typename T::Shared& s, bool of_words, unsigned lost) {
  lost = __reduce_max_sync(0xFFFFFFFFU, lost);
  if (threadIdx.x % 32 == 0) atomicMax(&s.lost[of_words ? 1 : 0], lost);
  ptx::barrier_sync(kSettleBarrier, kThreads);
}

// One warp of each block, behind settle(): the last block decides for all.
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
  const bool proved = take_growth(x.gGrowth) && lost <= x.allowed;
  x.gChoice[kWhichChoice] =
      static_cast<int>(proved ? SplitChoice::kFp16x3 : SplitChoice::kBinary64);
  x.gChoice[kWhichMark] = kChoiceMark;
  x.gLost[0] = x.gLost[1] = *x.gDone = 0;
}

}  // namespace split_detail
}  // namespace ladder
