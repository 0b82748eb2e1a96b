// SPDX-License-Identifier: Apache-2.0
// Common to the kernels of the split pre-pass: the split of four consecutive elements along k, and
// that of tiles of M- or N-major operands, which are transposed in shared memory.
#pragma once
#include "gemm/split/census.cuh"
#include "gemm/split/operand.cuh"
#include "gemm/split/terms.cuh"

#include <cstdint>
#include <type_traits>

namespace ladder {

constexpr int kPassThreads = 256;  // of a block, unless a vector has more
constexpr int kChunks = 32;        // ranges of k, each with its own largest magnitudes
constexpr int kEdge = 64;          // vectors, and k, of a tile in shared memory

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
// kCount: counts the elements by these terms.
template <class F, bool kCount>
__device__ __forceinline__ void store_terms(typename F::Term* gVector, int k, const float (&x)[4],
                                            int s, [[maybe_unused]] TermCounts& counts) {
  using Term = typename F::Term;
  const bool exceptional = s == kExceptional;
  const int first = min(max(s, -126), 126);
  const float one = power_of_two(first), two = exceptional ? 1.0F : power_of_two(s - first);
  alignas(16) Term r[F::kTerms][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    Term terms[F::kTerms];
    split<F>(exceptional ? 0.0F : x[i] * one * two, terms);
#pragma unroll
    for (int w = 0; w < F::kTerms; ++w) r[w][i] = terms[w];
  }
  if constexpr (kCount) {
    static_assert(std::is_same_v<Term, __half>, "counts of FP16 terms");
    using Pairs = __half2[2];
    counts.count(reinterpret_cast<const Pairs&>(r[0]), reinterpret_cast<const Pairs&>(r[1]));
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

// One of the groups of vectors that share the pre-pass's work. Those of A come first, `groups_of_a`
// of them.
struct OperandGroup {
  SplitOperand x;
  int index;  // among the groups of this operand
  __device__ __forceinline__ OperandGroup(const SplitPass& pass, int group, int groups_of_a)
      : x(operand_of(pass, group < groups_of_a)),
        index(group < groups_of_a ? group : group - groups_of_a) {}
};

// A block of kPassThreads threads writes the terms of kVectors vectors, in tiles of kEdge along k.
// Each thread counts its own elements.
template <int kVectors>
struct AcrossTile {
  static constexpr int kFloat4sOfVector = kEdge / 4,
                       kVectorsOfThread = kVectors * kFloat4sOfVector / kPassThreads;
  using Counts = TermCounts[kVectorsOfThread];

  // Writes the terms of the tile at (k, vector) = (first, vector0) from `s` (k, vector). The
  // padding keeps columns free of bank conflicts.
  template <class F, bool kCount>
  __device__ __forceinline__ static void write(const SplitOperand& x,
                                               const float (&s)[kEdge][kVectors + 1],
                                               const int (&sScale)[kVectors], int vector0,
                                               int first, int slabs, Counts& counts) {
    const int tid = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < kVectorsOfThread; ++i) {
      const int l = (tid + i * kPassThreads) / kFloat4sOfVector, q = 4 * (tid % kFloat4sOfVector),
                k = first + q;
      if (vector0 + l >= x.vectors || k >= slabs * F::BK) continue;
      const float four[4] = {s[q][l], s[q + 1][l], s[q + 2][l], s[q + 3][l]};
      store_terms<F, kCount>(terms_of<F>(x, vector0 + l, slabs), k, four, sScale[l], counts[i]);
    }
  }

  // Gathers the counts of each vector in `sCounts`, after all tiles. The block must synchronise
  // afterwards.
  __device__ __forceinline__ static void gather(uint4 (&sCounts)[kVectors], const Counts& counts) {
    const int tid = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < kVectorsOfThread; ++i) {
      uint2 above = PackedCounts::packed(counts[i]);
      std::uint32_t seconds = counts[i].seconds;
#pragma unroll
      for (int distance = kFloat4sOfVector / 2; distance > 0; distance /= 2) {
        above.x += __shfl_xor_sync(0xFFFFFFFFU, above.x, distance);
        above.y += __shfl_xor_sync(0xFFFFFFFFU, above.y, distance);
        seconds |= __shfl_xor_sync(0xFFFFFFFFU, seconds, distance);
      }
      if (tid % kFloat4sOfVector != 0) continue;
      uint4& s = sCounts[(tid + i * kPassThreads) / kFloat4sOfVector];
      s.y = seconds;
      s.z = above.x;
      s.w = above.y;
    }
  }
};

// By one warp: adds the censuses of its lanes' vectors to the operand's extremes. Lanes with `mine`
// false have none.
__device__ __forceinline__ void add_to_extremes(const SplitOperand& x, int k, bool mine,
                                                const Census& census, bool has_inf_or_nan,
                                                int copy) {
  Extremes all;
  if (mine) all.take(census, has_inf_or_nan, k);
  all.reduce_warp();
  if (threadIdx.x % 32 == 0) x.gExtremes->add(all, copy);
}

// The same with the censuses in device memory of `count` vectors from vector0 on, at most 32, once
// all blocks have added their counts. Zeroes them.
__device__ __forceinline__ void collect_censuses(const SplitOperand& x, int k, int vector0,
                                                 int count) {
  const int lane = static_cast<int>(threadIdx.x) % 32, vector = vector0 + lane;
  const bool mine = lane < count && vector < x.vectors;
  Census census{};
  bool has_inf_or_nan = false;
  if (mine) {
    Census* const g = x.gCensus + vector;
    census.inverse = __ldcg(&g->inverse), census.seconds = __ldcg(&g->seconds);
#pragma unroll
    for (int i = 0; i < kLevels; ++i) census.above[i] = __ldcg(&g->above[i]);
    has_inf_or_nan = __ldcg(x.gExponent + vector) == kExceptional;
    *g = {};
  }
  add_to_extremes(x, k, mine, census, has_inf_or_nan, vector0 / count);
}

}  // namespace ladder
