// SPDX-License-Identifier: Apache-2.0
// Which words are enough for the operands at hand: decided on the device, from what the first pass has counted, by a bound
// that holds for every element of C. docs/guard.md proves it.
//
// Of fp16's words a tiny element has an absolute error of 2^-25, its line's largest being at least 2^14. With P of a line's
// k elements of A at least 2^(14 - s), and Q of B's at least 2^(14 - t), both are at P + Q - K places at least, so that
// (|A||B|)_ij >= (P + Q - K) 2^(28 - s - t), while the tiny elements cost at most 2^-25 K 2^15 for each operand that has any.
#pragma once
#include "device/ptx/dependent.cuh"
#include "device/split_census.cuh"
#include "device/split_words.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// As they stand in device memory.
enum class SplitChoice : int {
  kFp16x3 = 0,
  kBf16x6 = 1,
  kBinary32 = 2,  // elements too far apart for any words: all of C by CUDA cores
};

// What is written about a choice, by index: which product's kernels run, which choice it was, and the factor of promotion:
// one where second words are all zero, so that sums of integers stay exact.
enum ChoiceWord : int { kWhichKernel, kWhichChoice, kUp, kWhichMark, kChoiceWords };
// Of a sum of 64 products: what the tensor core cuts off on average.
constexpr float kCompensation = 1 + 0x1p-23F;
constexpr int kChoiceMark = 0x51C4A3;  // that a choice, and nothing else, lies there

struct ChoiceInput {
  Census* gA;
  Census* gB;  // zeroed once read
  int lines_a, lines_b, k;
  double budget;      // what tiny elements may add to the error, relative to (|A||B|)_ij
  int* gExponentA;    // kExceptional is written there for kBinary32
  unsigned* gDone;    // of blocks, zero before and after
  Census* gExtremes;  // (2 kBlocks)
  int* gChoice;       // (kChoiceWords)
};

namespace split_detail {

constexpr int kChooseBlocks = 16, kChooseThreads = 512;

// The extremes of many lines: any tiny or minute element, the fewest elements above each level. Lines of zeros count for
// nothing.
struct Extremes {
  Census c{0, 0, 0, {~0U, ~0U, ~0U}};

  __device__ __forceinline__ void take(const Census& line) {
    c.tiny |= line.tiny;
    c.minute |= line.minute;
    c.seconds |= line.seconds;
#pragma unroll
    for (int i = 0; i < kLevels; ++i) c.above[i] = min(c.above[i], line.above[i]);
  }
  __device__ __forceinline__ void take_warp() {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      c.tiny |= __shfl_xor_sync(0xFFFFFFFFU, c.tiny, distance);
      c.minute |= __shfl_xor_sync(0xFFFFFFFFU, c.minute, distance);
      c.seconds |= __shfl_xor_sync(0xFFFFFFFFU, c.seconds, distance);
#pragma unroll
      for (int i = 0; i < kLevels; ++i) {
        c.above[i] = min(c.above[i], __shfl_xor_sync(0xFFFFFFFFU, c.above[i], distance));
      }
    }
  }
};

// Of this block's lines, in thread 0.
__device__ __forceinline__ Extremes extremes_of(Census* g, int lines) {
  __shared__ Census s[kChooseThreads / 32];
  Extremes all;
  for (int i = static_cast<int>(blockIdx.x) * kChooseThreads + static_cast<int>(threadIdx.x); i < lines;
       i += kChooseBlocks * kChooseThreads) {
    const Census line = g[i];
    g[i] = {};
    if (line.above[kLevels - 1] != 0 || line.tiny != 0) all.take(line);
  }
  all.take_warp();
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = all.c;
  __syncthreads();
  if (threadIdx.x < kChooseThreads / 32) all.take(s[threadIdx.x]);
  if (threadIdx.x < 32) all.take_warp();
  return all;
}

__device__ inline SplitChoice choice_of(const Census& a, const Census& b, int k, double budget) {
  if (a.minute != 0 || b.minute != 0) return SplitChoice::kBinary32;
  const int with_tiny = (a.tiny != 0 ? 1 : 0) + (b.tiny != 0 ? 1 : 0);
  if (with_tiny == 0) return SplitChoice::kFp16x3;
  for (int s = 0; s < kLevels; ++s) {
    for (int t = 0; t < kLevels; ++t) {
      const auto p = static_cast<double>(min(a.above[s], static_cast<std::uint32_t>(k)));
      const auto q = static_cast<double>(min(b.above[t], static_cast<std::uint32_t>(k)));
      const double both = p + q - k;
      // 1.01: the hundredth of split_error().
      const double lost = 1.01 * with_tiny * k * 0x1p-10;
      const double least = both * ldexp(1.0, 28 - level_bits(s) - level_bits(t));
      if (both > 0 && lost <= budget * least) return SplitChoice::kFp16x3;
    }
  }
  return SplitChoice::kBf16x6;
}

__device__ __forceinline__ Census from_other_block(const Census* g) {
  Census c{__ldcg(&g->tiny), __ldcg(&g->minute), __ldcg(&g->seconds), {}};
#pragma unroll
  for (int i = 0; i < kLevels; ++i) c.above[i] = __ldcg(&g->above[i]);
  return c;
}

// The last block to finish decides for all.
template <int kDummy = 0>
__global__ void __launch_bounds__(kChooseThreads) choose(const __grid_constant__ ChoiceInput x) {
  __shared__ bool last;
  __shared__ int chosen;
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  const Extremes a = extremes_of(x.gA, x.lines_a), b = extremes_of(x.gB, x.lines_b);
  if (threadIdx.x == 0) {
    x.gExtremes[2 * blockIdx.x] = a.c;
    x.gExtremes[2 * blockIdx.x + 1] = b.c;
    __threadfence();
    last = atomicAdd(x.gDone, 1U) == kChooseBlocks - 1;
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 32) {
    __threadfence();
    Extremes of_a, of_b;
    if (threadIdx.x < kChooseBlocks) {
      of_a.take(from_other_block(x.gExtremes + 2 * threadIdx.x));
      of_b.take(from_other_block(x.gExtremes + 2 * threadIdx.x + 1));
    }
    of_a.take_warp();
    of_b.take_warp();
    if (threadIdx.x == 0) {
      *x.gDone = 0;
      chosen = static_cast<int>(choice_of(of_a.c, of_b.c, x.k, x.budget));
      const bool exact = (of_a.c.seconds | of_b.c.seconds) == 0;
      x.gChoice[kWhichKernel] = chosen == static_cast<int>(SplitChoice::kBf16x6) ? 1 : 0;
      x.gChoice[kWhichChoice] = chosen;
      x.gChoice[kWhichMark] = kChoiceMark;
      x.gChoice[kUp] = __float_as_int(exact ? 1.0F : kCompensation);
    }
  }
  __syncthreads();
  if (chosen != static_cast<int>(SplitChoice::kBinary32)) return;
  for (int i = static_cast<int>(threadIdx.x); i < x.lines_a; i += kChooseThreads)
    x.gExponentA[i] = kExceptional;
}

}  // namespace split_detail
}  // namespace ladder
