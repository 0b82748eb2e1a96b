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
#include "gemm/split/operand.cuh"
#include "gemm/split/terms.cuh"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ladder {

// The values are stored in device memory.
enum class SplitChoice : int {
  kFp16x3 = 0,
  kBf16x6 = 1,
  kBinary64 = 2,  // no split: all of C in FP64
};

// Indices of a choice in device memory: the SplitChoice and the mark.
enum ChoiceField : int { kWhichChoice, kWhichMark, kChoiceFields };
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

// What the pre-pass finds, and what the product's blocks keep count of, in device memory. Zero
// before and after the product.
struct GuardState {
  SharedExtremes of[2];  // of A and of B
  SampleState sample;
  unsigned have_read;          // blocks of the product
  unsigned taken[2], done[2];  // groups of both kernels of another pre-pass
  unsigned have_split;         // blocks that have seen all groups done
};

struct Verdict {
  SplitChoice choice;
  // The factor of the promotion: 1 if all second terms are zero, so that sums of integers stay
  // exact.
  float up;
};

// A block's verdict, in shared memory, and the barrier that says when it is there.
struct Decision {
  Verdict verdict;
  std::uint64_t made;
};

// Whether the bound for two FP16 terms holds for every element of C.
__device__ inline bool fp16x3_is_proved(const Extremes& a, const Extremes& b, int k,
                                        const PlacesNeeded& needed) {
  constexpr float kWhole = 0x1p-2F;  // 22 bits above FP16's smallest subnormal, 2^-24
  const int with_tiny = (a.has_below(kWhole) ? 1 : 0) + (b.has_below(kWhole) ? 1 : 0);
  if (with_tiny == 0) return true;
  bool proved = false;
#pragma unroll
  for (int s = 0; s < kLevels; ++s) {
#pragma unroll
    for (int t = 0; t < kLevels; ++t) {
      const int places = k - static_cast<int>(a.missing[s]) - static_cast<int>(b.missing[t]);
      proved |= places >= (with_tiny == 1 ? needed.of[0][s][t] : needed.of[1][s][t]);
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
__device__ inline bool many_are_exceptional(const Extremes& a, int vectors_a, const Extremes& b,
                                            int vectors_b) {
  constexpr int kOneOf = 64;
  return static_cast<int>(a.exceptional) > vectors_a / kOneOf ||
         static_cast<int>(b.exceptional) > vectors_b / kOneOf;
}

__device__ __forceinline__ bool grows(unsigned packed) {
  const Growth growth = Growth::unpacked(packed);
  return 2 * growth.grown >= growth.chains;
}

// The verdict on a product of m rows and n columns, by a whole warp.
__device__ inline Verdict verdict_of(const GuardState& state, int m, int n, int k,
                                     const PlacesNeeded& needed) {
  constexpr float kLeast =
      static_cast<float>(1 << TermFormat<__half, 2>::kTop) * 0x1p-100F;  // of three BF16 terms
  const unsigned growth = __ldcg(&state.sample.growth);
  constexpr int kCopies = SharedExtremes::kCopies;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Extremes of_lane = state.of[lane / kCopies % 2].copy(lane % kCopies);
  const Extremes none;
  Extremes a = lane < kCopies ? of_lane : none;
  Extremes b = lane >= kCopies && lane < 2 * kCopies ? of_lane : none;
  a.reduce_warp();
  b.reduce_warp();
  const float up = (a.seconds | b.seconds) == 0 ? 1.0F : kCompensation;
  if (a.has_below(kLeast) || b.has_below(kLeast) || few_products_are_large(a, b, k) ||
      many_are_exceptional(a, m, b, n)) {
    return {SplitChoice::kBinary64, up};
  }
  return {grows(growth) && fp16x3_is_proved(a, b, k, needed) ? SplitChoice::kFp16x3
                                                             : SplitChoice::kBf16x6,
          up};
}

}  // namespace ladder
