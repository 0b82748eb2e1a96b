// SPDX-License-Identifier: Apache-2.0
// Descriptors of a split operand and of the split pre-pass.
#pragma once
#include "gemm/split/census.cuh"

#include <cstdint>

namespace ladder {

// Input of the split pre-pass, and its output. A vector is a row of op(A) or a
// column of op(B).
struct SplitOperand {
  const float* g;  // element (vector, k) at vector * vector_step() + k * k_step()
  std::int64_t ld;
  int vectors;
  bool along_k;
  bool aligned;               // permits 128-bit loads
  void* gTerms;               // (vectors, slabs, kTerms, BK)
  int* gExponent;             // (vectors): scale s, or kExceptional
  std::uint32_t* gLargest;    // (kChunks, vectors), unless along_k
  Census* gCensus;            // (vectors), zero before and after; used unless along_k
  SharedExtremes* gExtremes;  // null if not counted

  // Elements between neighbouring vectors, and between neighbours along k.
  __device__ __forceinline__ std::int64_t vector_step() const { return along_k ? ld : 1; }
  __device__ __forceinline__ std::int64_t k_step() const { return along_k ? 1 : ld; }
};

// Counts of the sampled elements of C: those with nonzero products, and those whose partial sums
// grow. Packed into 32 bits, so that one atomic add updates both.
struct Growth {
  unsigned chains, grown;

  static constexpr int kGrownAt = 16;  // bit
  __host__ __device__ constexpr unsigned packed() const { return chains | grown << kGrownAt; }
  __host__ __device__ static constexpr Growth unpacked(unsigned term) {
    return {term & ((1U << kGrownAt) - 1), term >> kGrownAt};
  }
};

struct SampleState {
  unsigned growth;   // receives the Growth, packed; zero before
  unsigned arrived;  // blocks of the sample; zero before and after
};
struct GrowthSample {
  SampleState* gState = nullptr;
  double* gChains = nullptr;  // sample_bytes(k)
};

struct SplitPass {
  SplitOperand a, b;
  int k, slabs;
  GrowthSample sample{};
  int sampled_a = 0, sampled_b = 0;  // rows of op(A), columns of op(B) of the sample
};

}  // namespace ladder
