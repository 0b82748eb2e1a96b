// SPDX-License-Identifier: Apache-2.0
// An operand that is split into words, as kernels read it, and what they write.
#pragma once
#include "device/split_census.cuh"

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

// Of the elements of C in a sample, how many have products that are not all zero, and of how many the sums grow.
struct Growth {
  unsigned chains, grown;
};

// Where a sample is drawn, by kSampleBlocks blocks: what they tell each other, and what is found. No pointers: nobody asks.
constexpr int kSampleBlocks = 32;
struct Chain;
struct GrowthSample {
  Chain* gChains = nullptr;   // (kSampleBlocks, pairs of lines)
  unsigned* gDone = nullptr;  // blocks, zero before and after
  Growth* gGrowth = nullptr;
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
