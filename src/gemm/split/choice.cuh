// SPDX-License-Identifier: Apache-2.0
// Selects the split format for the given operands. The device decides, from the counts of the range
// check in the split pre-pass and by a bound that holds for every element of C (docs/guard.md has
// the proof).
//
// The scale brings the largest magnitude of each row of op(A) and column of op(B) to at least 2^14.
// The two FP16 terms of a tiny element have an absolute error of 2^-25. If a row of op(A) has P of
// its K elements at or above 2^(14 - s), and a column of op(B) has Q at or above 2^(14 - t), then
// at least P + Q - K indices k have both, so that (|A||B|)_ij >= (P + Q - K) 2^(28 - s - t). The
// tiny elements add an error of at most 2^-25 K 2^15 per operand that has any.
#pragma once
#include "device/ptx/dependent.cuh"
#include "gemm/split/census.cuh"
#include "gemm/split/sample.cuh"
#include "gemm/split/store_terms.cuh"
#include "gemm/split/terms.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ladder {

// The values are stored in device memory.
enum class SplitChoice : int {
  kFp16x3 = 0,
  kBf16x6 = 1,
  kBinary64 = 2,  // no split: all of C in FP64
};

// Indices of a choice in device memory: the SplitChoice, which selects the kernels that run; the
// factor of the promotion (as float bits), which is 1 if all second terms are zero, so that sums of
// integers stay exact; and the mark.
enum ChoiceField : int { kWhichChoice, kUp, kWhichMark, kChoiceFields };
// Compensates the mean truncation error of a tensor core's sum of 64 products.
constexpr float kCompensation = 1 + 0x1p-23F;
constexpr int kChoiceMark = 0x51C4A3;  // marks the memory as holding a choice

// of[tiny operands - 1][level of A][level of B]: the number of indices k at which the elements of
// both A and B must reach their level for the bound to hold.
struct PlacesNeeded {
  int of[2][kLevels][kLevels];
};
// `budget`: the error that tiny elements may add, relative to (|A||B|)_ij.
inline PlacesNeeded places_needed(double k, double budget) {
  PlacesNeeded needed{};
  for (int tiny = 0; tiny < 2; ++tiny) {
    for (int s = 0; s < kLevels; ++s) {
      for (int t = 0; t < kLevels; ++t) {
        // 1.01: the same margin of 1% as in split_error().
        const double lost = 1.01 * (tiny + 1) * k * 0x1p-10;
        const double least = budget * std::ldexp(1.0, 28 - level_bits(s) - level_bits(t));
        constexpr double kNever = std::numeric_limits<int>::max();
        needed.of[tiny][s][t] =
            static_cast<int>(least > 0 ? std::clamp(std::ceil(lost / least), 1.0, kNever) : kNever);
      }
    }
  }
  return needed;
}

struct ChoiceInput {
  SplitOperand a, b;  // `choose` reads their censuses and zeroes them
  int k;
  PlacesNeeded needed;
  unsigned* gGrowth;  // Growth of the sample; zeroed after the read
  unsigned* gDone;    // number of finished blocks; zero before and after
  void* gFindings;    // (kChooseBlocks) Finding
  int* gChoice;       // (kChoiceFields)
};

namespace split_detail {

constexpr int kChooseBlocks = 16, kChooseThreads = 512;  // kChooseBlocks: at most

// One block reads few censuses faster than several blocks can combine their results.
inline int choose_blocks(std::int64_t vectors) {
  constexpr std::int64_t kFew = 16 * kChooseThreads;
  return vectors <= kFew ? 1 : kChooseBlocks;
}

// Reduction of the censuses of many rows or columns: whether any element is tiny or minute, whether
// any second term is nonzero, the least count per level, and the total count of the highest level.
// Rows and columns of zeros, and those with Inf or NaN, count no elements.
struct Extremes {
  unsigned tiny = 0, minute = 0, seconds = 0;
  unsigned above[kLevels]{~0U, ~0U, ~0U};
  unsigned vectors = 0, exceptional = 0;
  unsigned long long large = 0;

  __device__ __forceinline__ void take(const Census& vector, int exponent) {
    constexpr float kWhole = 0x1p-2F;  // 22 bits above FP16's smallest subnormal, 2^-24
    constexpr float kTop = static_cast<float>(1 << TermFormat<__half, 2>::kTop);
    constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
    const float least = __uint_as_float(~vector.inverse & kMagnitude);
    tiny |= vector.inverse != 0 && least < kWhole ? 1 : 0;
    minute |= vector.inverse != 0 && least < kTop * 0x1p-100F ? 1 : 0;
    seconds |= vector.seconds;
    exceptional += exponent == kExceptional ? 1 : 0;
    if (vector.above[0] == 0) return;
    vectors += 1;
    large += vector.above[0];
#pragma unroll
    for (int i = 0; i < kLevels; ++i) above[i] = min(above[i], vector.above[i]);
  }
  __device__ __forceinline__ void take_warp() {
    constexpr unsigned kAll = 0xFFFFFFFFU;
    constexpr int kLow = 26;  // bits; the sum of 32 such numbers fits 32 bits
    tiny = __reduce_or_sync(kAll, tiny);
    minute = __reduce_or_sync(kAll, minute);
    seconds = __reduce_or_sync(kAll, seconds);
    vectors = __reduce_add_sync(kAll, vectors);
    exceptional = __reduce_add_sync(kAll, exceptional);
    const unsigned low = __reduce_add_sync(kAll, static_cast<unsigned>(large & ((1U << kLow) - 1)));
    const unsigned high = __reduce_add_sync(kAll, static_cast<unsigned>(large >> kLow));
    large = (static_cast<unsigned long long>(high) << kLow) + low;
#pragma unroll
    for (unsigned& least : above) least = __reduce_min_sync(kAll, least);
  }
};

// What each block forwards to the deciding block.
struct Finding {
  Extremes a, b;
};

// Reduces this block's share of the censuses; the first warp receives the result. Half of the
// threads read A's censuses and half read B's, kVectorsAtOnce at a time.
__device__ __forceinline__ Finding extremes_of(const SplitOperand& a, const SplitOperand& b) {
  constexpr int kHalf = kChooseThreads / 2, kWarps = kHalf / 32, kVectorsAtOnce = 4;
  __shared__ Extremes s[2][kWarps];
  const int tid = static_cast<int>(threadIdx.x) % kHalf, of = static_cast<int>(threadIdx.x) / kHalf;
  const int vectors = of == 0 ? a.vectors : b.vectors, stride = static_cast<int>(gridDim.x) * kHalf;
  Census* const gCensus = of == 0 ? a.gCensus : b.gCensus;
  const int* const gExponent = of == 0 ? a.gExponent : b.gExponent;
  Extremes all;
  for (int first = static_cast<int>(blockIdx.x) * kHalf + tid; first < vectors;
       first += kVectorsAtOnce * stride) {
    Census census[kVectorsAtOnce];
    int exponent[kVectorsAtOnce];
#pragma unroll
    for (int i = 0; i < kVectorsAtOnce; ++i) {
      const int vector = first + i * stride;
      const bool inside = vector < vectors;
      census[i] = inside ? gCensus[vector] : Census{};
      exponent[i] = inside ? gExponent[vector] : 0;
    }
#pragma unroll
    for (int i = 0; i < kVectorsAtOnce; ++i) {
      if (first + i * stride >= vectors) break;
      all.take(census[i], exponent[i]);
      gCensus[first + i * stride] = {};
    }
  }
  all.take_warp();
  if (tid % 32 == 0) s[of][tid / 32] = all;
  __syncthreads();
  Finding finding;
  if (threadIdx.x < kWarps) finding = {s[0][threadIdx.x], s[1][threadIdx.x]};
  if (threadIdx.x < 32) {
    finding.a.take_warp();
    finding.b.take_warp();
  }
  return finding;
}

// Whether the bound for two FP16 terms holds for every element of C.
__device__ inline bool fp16x3_is_proved(const Extremes& a, const Extremes& b, int k,
                                        const PlacesNeeded& needed) {
  const unsigned with_tiny = a.tiny + b.tiny;
  if (with_tiny == 0) return true;
  bool proved = false;
#pragma unroll
  for (int s = 0; s < kLevels; ++s) {
#pragma unroll
    for (int t = 0; t < kLevels; ++t) {
      const auto p = static_cast<int>(min(a.above[s], static_cast<unsigned>(k)));
      const auto q = static_cast<int>(min(b.above[t], static_cast<unsigned>(k)));
      proved |= p - k + q >= (with_tiny == 1 ? needed.of[0][s][t] : needed.of[1][s][t]);
    }
  }
  return proved;
}

// Whether a sum has so few large products that SGEMM rounds only a few times, too: on average fewer
// than two per element of C, if the positions of large elements are independent.
__device__ inline bool few_products_are_large(const Extremes& a, const Extremes& b, int k) {
  if (a.vectors == 0 || b.vectors == 0) return false;
  return static_cast<double>(a.large) * static_cast<double>(b.large) <
         2.0 * k * a.vectors * b.vectors;
}

// Whether C has more exceptional elements than the CUDA cores can recompute, one by one, in the
// time of a product.
__device__ inline bool many_are_exceptional(const Extremes& a, int lines_a, const Extremes& b,
                                            int lines_b) {
  constexpr double kMost = 1.0 / 64;
  return a.exceptional + 0.0 > kMost * lines_a || b.exceptional + 0.0 > kMost * lines_b;
}

// Reads the sample's result and zeroes it.
__device__ __forceinline__ bool take_growth(unsigned* gGrowth) {
  const Growth growth = Growth::unpacked(__ldcg(gGrowth));
  *gGrowth = 0;
  return 2 * growth.grown >= growth.chains;
}

__device__ inline SplitChoice choice_of(const Finding& all, const ChoiceInput& x) {
  const bool sums_grow = take_growth(x.gGrowth);
  if (all.a.minute != 0 || all.b.minute != 0 || few_products_are_large(all.a, all.b, x.k) ||
      many_are_exceptional(all.a, x.a.vectors, all.b, x.b.vectors)) {
    return SplitChoice::kBinary64;
  }
  return sums_grow && fp16x3_is_proved(all.a, all.b, x.k, x.needed) ? SplitChoice::kFp16x3
                                                                    : SplitChoice::kBf16x6;
}

__device__ __forceinline__ Finding from_other_block(const Finding* g) {
  constexpr int kTerms = sizeof(Finding) / sizeof(unsigned);
  Finding finding;
#pragma unroll
  for (int i = 0; i < kTerms; ++i) {
    reinterpret_cast<unsigned*>(&finding)[i] = __ldcg(reinterpret_cast<const unsigned*>(g) + i);
  }
  return finding;
}

// The last block to finish decides for all.
template <int kDummy = 0>
__global__ void __launch_bounds__(kChooseThreads) choose(const __grid_constant__ ChoiceInput x) {
  __shared__ bool last;
  auto* const gFindings = static_cast<Finding*>(x.gFindings);
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  Finding all = extremes_of(x.a, x.b);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) {
      gFindings[blockIdx.x] = all;
      __threadfence();
      last = atomicAdd(x.gDone, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
  }
  if (threadIdx.x >= 32) return;
  if (gridDim.x > 1) {
    __threadfence();
    all = {};
    if (threadIdx.x < gridDim.x) all = from_other_block(gFindings + threadIdx.x);
    all.a.take_warp();
    all.b.take_warp();
    if (threadIdx.x == 0) *x.gDone = 0;
  }
  if (threadIdx.x != 0) return;
  x.gChoice[kWhichChoice] = static_cast<int>(choice_of(all, x));
  const bool exact = (all.a.seconds | all.b.seconds) == 0;
  x.gChoice[kWhichMark] = kChoiceMark;
  x.gChoice[kUp] = __float_as_int(exact ? 1.0F : kCompensation);
}

}  // namespace split_detail
}  // namespace ladder
