// SPDX-License-Identifier: Apache-2.0
// Common to the kernels of the split pre-pass: the split of four consecutive elements along k, and
// that of tiles of M- or N-major operands, which are transposed in shared memory.
#pragma once
#include "gemm/split/operand.cuh"
#include "gemm/split/terms.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

namespace split_detail {

constexpr int kChunks = 32;  // ranges of k, each with its own largest magnitudes
constexpr int kEdge = 64;    // vectors, and k, of a tile in shared memory

__device__ __forceinline__ std::uint32_t magnitude(float x) {
  return __float_as_uint(x) & 0x7FFFFFFFU;
}

// Address of a vector's first term.
template <class F>
__device__ __forceinline__ typename F::Term* terms_of(const SplitOperand& x, int vector,
                                                      int slabs) {
  return static_cast<typename F::Term*>(x.gTerms) +
         static_cast<std::int64_t>(vector) * slabs * (F::kTerms * F::BK);
}

// Splits four consecutive elements along k, from the k-th of the vector on, and stores their terms.
// kCount: calls count(nonzero, scaled, bits of second terms) per element.
template <class F, bool kCount, class Count>
__device__ __forceinline__ void store_terms(typename F::Term* gVector, int k, const float (&x)[4],
                                            int s, [[maybe_unused]] const Count& count) {
  using Term = typename F::Term;
  const bool exceptional = s == kExceptional;
  const int first = min(max(s, -126), 126);
  const float one = power_of_two(first), two = exceptional ? 1.0F : power_of_two(s - first);
  alignas(16) Term r[F::kTerms][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    Term terms[F::kTerms];
    const float scaled = exceptional ? 0.0F : x[i] * one * two;
    split<F>(scaled, terms);
#pragma unroll
    for (int w = 0; w < F::kTerms; ++w) r[w][i] = terms[w];
    if constexpr (kCount) {
      constexpr std::uint32_t kMagnitudes = F::kTf32 ? 0x7FFFFFFFU : 0x7FFF7FFFU;
      constexpr int kPerBits =
          F::kTf32 ? 1 : 2;  // second terms per 32 bits; counted once both are known
      const bool taken = i % kPerBits == kPerBits - 1;
      const auto* const second = reinterpret_cast<const std::uint32_t*>(r[1]) + i / kPerBits;
      count(x[i] != 0.0F && !exceptional, scaled, taken ? *second & kMagnitudes : 0U);
    }
  }
  Term* g = gVector + k / F::BK * (F::kTerms * F::BK) + k % F::BK;
#pragma unroll
  for (int w = 0; w < F::kTerms; ++w) {
    if constexpr (sizeof(Term) == 2) {
      *reinterpret_cast<uint2*>(g + w * F::BK) = *reinterpret_cast<const uint2*>(r[w]);
    } else {
      *reinterpret_cast<uint4*>(g + w * F::BK) = *reinterpret_cast<const uint4*>(r[w]);
    }
  }
}

// Selects by value, field by field. Loads through a selected pointer into the kernel parameters
// would not overlap.
__device__ __forceinline__ SplitOperand operand_of(const SplitPass& pass, bool a) {
  return {a ? pass.a.g : pass.b.g,
          a ? pass.a.ld : pass.b.ld,
          a ? pass.a.vectors : pass.b.vectors,
          a ? pass.a.along_k : pass.b.along_k,
          a ? pass.a.aligned : pass.b.aligned,
          a ? pass.a.gTerms : pass.b.gTerms,
          a ? pass.a.gExponent : pass.b.gExponent,
          a ? pass.a.gLargest : pass.b.gLargest,
          a ? pass.a.gCensus : pass.b.gCensus,
          a ? pass.a.gExtremes : pass.b.gExtremes};
}

// A block of kThreads threads writes the terms of kVectors vectors, in tiles of kEdge along k. Each
// thread counts its own elements.
template <int kVectors, int kThreads>
struct AcrossTile {
  static constexpr int kFloat4sOfVector = kEdge / 4,
                       kVectorsOfThread = kVectors * kFloat4sOfVector / kThreads;
  using Counts = StripCensus<kVectorsOfThread>;

  // Writes the terms of the tile at (k, vector) = (first, vector0) from `s` (k, vector). The
  // padding keeps columns free of bank conflicts.
  template <class F, bool kCount>
  __device__ __forceinline__ static void write(const SplitOperand& x,
                                               const float (&s)[kEdge][kVectors + 1],
                                               const int (&sScale)[kVectors], int vector0,
                                               int first, int slabs, Counts& census) {
    const int tid = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < kVectorsOfThread; ++i) {
      const int l = (tid + i * kThreads) / kFloat4sOfVector, q = 4 * (tid % kFloat4sOfVector),
                k = first + q;
      if (vector0 + l >= x.vectors || k >= slabs * F::BK) continue;
      const float four[4] = {s[q][l], s[q + 1][l], s[q + 2][l], s[q + 3][l]};
      store_terms<F, kCount>(terms_of<F>(x, vector0 + l, slabs), k, four, sScale[l],
                             [&](bool nonzero, float scaled, std::uint32_t second) {
                               census.template count<F>(i, nonzero, scaled, second);
                             });
    }
  }

  // Adds the counts to the vectors' censuses, after all tiles.
  __device__ __forceinline__ static void add_counts(const SplitOperand& x,
                                                    Census (&sCensus)[kVectors], int vector0,
                                                    Counts& census) {
    const int tid = static_cast<int>(threadIdx.x);
    census.template add_lanes<kFloat4sOfVector>();
#pragma unroll
    for (int i = 0; i < kVectorsOfThread; ++i) {
      if (tid % kFloat4sOfVector == 0)
        sCensus[(tid + i * kThreads) / kFloat4sOfVector] = census.of_vector(i);
    }
    __syncthreads();
    const int lane = tid % kVectors, vector = vector0 + lane;
    if (tid / kVectors == 0 && vector < x.vectors) x.gCensus[vector].add_atomically(sCensus[lane]);
  }
};

// By one warp: adds the censuses of `count` vectors from vector0 on, at most 32, to those of the
// operand, and zeroes them. All blocks have added their counts.
__device__ __forceinline__ void settle(const SplitOperand& x, int k, int vector0, int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32, vector = vector0 + lane;
  Extremes all;
  if (lane < count && vector < x.vectors) {
    Census* const g = x.gCensus + vector;
    Census census{__ldcg(&g->inverse), __ldcg(&g->seconds), {}, 0};
#pragma unroll
    for (int i = 0; i < kLevels; ++i) census.above[i] = __ldcg(&g->above[i]);
    all.take(census, __ldcg(x.gExponent + vector) == kExceptional, k);
    *g = {};
  }
  all.take_warp();
  if (lane == 0) x.gExtremes->add(all, vector0 / count);
}

}  // namespace split_detail
}  // namespace ladder
