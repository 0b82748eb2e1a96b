// SPDX-License-Identifier: Apache-2.0
// An operand that is split into words, as kernels read it, and what they write.
#pragma once
#include "gemm/split/census.cuh"

#include <cstdint>

namespace ladder {

// An operand as the pass reads it, and what it writes.
struct SplitOperand {
  const float* g;  // element (line, k) at line * ld + k, or where not along_k, k * ld + line
  std::int64_t ld;
  int lines;
  bool along_k;
  bool quads;               // four neighbours along k may be loaded at once
  void* gWords;             // (lines, slabs, kWords, BK)
  int* gExponent;           // (lines): s, or kExceptional
  std::uint32_t* gLargest;  // (kChunks, lines), where not along_k
  Census* gCensus;          // (lines), or null where nobody asks; zero before, where not along_k
};

// Of the elements of C in a sample, how many have products that are not all zero, and of how many
// the sums grow. As one word they add up.
struct Growth {
  unsigned chains, grown;

  static constexpr int kGrownAt = 16;  // bit
  __host__ __device__ constexpr unsigned packed() const { return chains | grown << kGrownAt; }
  __host__ __device__ static constexpr Growth unpacked(unsigned word) {
    return {word & ((1U << kGrownAt) - 1), word >> kGrownAt};
  }
};

// Where a sample is drawn, by kSampleBlocks blocks: what they tell each other, and what is found.
// No pointers: nobody asks.
constexpr int kSampleBlocks = 32;
struct Chain;
struct GrowthSample {
  Chain* gChains = nullptr;     // (kSampleBlocks, pairs of lines)
  unsigned* gDone = nullptr;    // blocks, zero before and after
  unsigned* gGrowth = nullptr;  // packed; zero before, and again once a choice has been made by it
};

struct SplitPass {
  SplitOperand a, b;
  int k, slabs;
  const int* gChoice;  // null, or the pass is made only where it holds `wanted`
  int wanted;
  GrowthSample sample{};
  int sampled_a = 0, sampled_b = 0;  // lines it is drawn from
};

}  // namespace ladder
