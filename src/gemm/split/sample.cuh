// SPDX-License-Identifier: Apache-2.0
// Samples elements of C for the growth of their partial sums. The rounding error of a chain of FP32
// additions is proportional to its partial sums, the error of a split to the products. See
// docs/guard.md, "Sums that stay small".
#pragma once
#include "gemm/partial_sums.cuh"
#include "gemm/split/operand.cuh"

#include <cstdint>

namespace ladder {

// Ratio of the sums of s^2 and p^2 from which FP32 additions are less accurate than the split: a
// rounding adds 0.045 2^-46 s^2 on average (mean square); two FP16 terms and the tensor core's
// truncation add 1.1 2^-46 p^2 per product.
constexpr double kGrowth = 24;

// Statistics of the products p of consecutive k and of their partial sums s, starting at zero. Two
// consecutive chains concatenate to one.
struct Chain {
  double sum = 0, sums = 0, squares = 0;  // sums of p, of s, of s^2
  double products = 0;                    // sum of p^2
  int count = 0;

  __device__ __forceinline__ void append(double p) {
    sum += p;
    sums += sum;
    squares += sum * sum;
    products += p * p;
    ++count;
  }
  __device__ __forceinline__ void append(const Chain& next) {
    squares += next.squares + sum * (2 * next.sums + next.count * sum);
    sums += next.sums + next.count * sum;
    sum += next.sum;
    products += next.products;
    count += next.count;
  }
  __device__ __forceinline__ bool counts() const { return products != 0; }
  __device__ __forceinline__ bool grows() const {
    return counts() && squares >= kGrowth * products;
  }
  // Concatenates the chains of kLanes neighbouring lanes; the first of them receives the result.
  template <int kLanes>
  __device__ __forceinline__ void append_lanes() {
#pragma unroll
    for (int distance = 1; distance < kLanes; distance *= 2) {
      Chain next;
      next.sum = __shfl_down_sync(0xFFFFFFFFU, sum, distance);
      next.sums = __shfl_down_sync(0xFFFFFFFFU, sums, distance);
      next.squares = __shfl_down_sync(0xFFFFFFFFU, squares, distance);
      next.products = __shfl_down_sync(0xFFFFFFFFU, products, distance);
      next.count = __shfl_down_sync(0xFFFFFFFFU, count, distance);
      append(next);  // valid in every (2 distance)th lane, as needed
    }
  }
};

constexpr int kSampleEdge = 8;      // rows of op(A), and columns of op(B)
constexpr int kSampleDepth = 8192;  // only the first k: growth shows by then
constexpr int kSampledPairs = kSampleEdge * kSampleEdge;

// Index of the i-th sampled row or column.
__device__ __forceinline__ std::int64_t sampled_vector(int vectors, int i) {
  return std::int64_t{vectors} * (2 * i + 1) / (2 * kSampleEdge);
}

// One thread per block adds the block's counts to the total.
__device__ __forceinline__ void add_growth(const GrowthSample& to, int chains, int grown) {
  atomicAdd(to.gGrowth,
            Growth{static_cast<unsigned>(chains), static_cast<unsigned>(grown)}.packed());
}

// Block `block` of kSampleBlocks computes the chain of one element of C over all of the sampled
// depth, without exchange with other blocks. Inf and NaN count as zeros, here and below.
template <int kThreads>
__device__ __forceinline__ void sample_pair(const SplitOperand& a, const SplitOperand& b, int k,
                                            int block, const GrowthSample& to) {
  static_assert(kSampleBlocks == kSampledPairs, "one pair per block");
  constexpr int kWarps = kThreads / 32;
  __shared__ Chain s[kWarps];
  const int tid = static_cast<int>(threadIdx.x);
  const std::int64_t next_a = a.along_k ? 1 : a.ld, next_b = b.along_k ? 1 : b.ld;
  const float* const gA =
      a.g + sampled_vector(a.vectors, block % kSampleEdge) * (a.along_k ? a.ld : 1);
  const float* const gB =
      b.g + sampled_vector(b.vectors, block / kSampleEdge) * (b.along_k ? b.ld : 1);
  const int depth = min(k, kSampleDepth), share = (depth + kThreads - 1) / kThreads;
  const int end = min(depth, (tid + 1) * share);
  Chain chain;
#pragma unroll 4
  for (int at = tid * share; at < end; ++at) {
    const double p = static_cast<double>(gA[at * next_a]) * gB[at * next_b];
    chain.append(isfinite(p) ? p : 0.0);
  }
  chain.append_lanes<32>();
  if (tid % 32 == 0) s[tid / 32] = chain;
  __syncthreads();
  if (tid != 0) return;
#pragma unroll 1
  for (int warp = 1; warp < kWarps; ++warp) chain.append(s[warp]);
  add_growth(to, chain.counts() ? 1 : 0, chain.grows() ? 1 : 0);
}

__device__ __forceinline__ Chain chain_of_other_block(const Chain* g) {
  Chain chain;
  chain.sum = __ldcg(&g->sum), chain.sums = __ldcg(&g->sums), chain.squares = __ldcg(&g->squares);
  chain.products = __ldcg(&g->products), chain.count = __ldcg(&g->count);
  return chain;
}

// Block `block` of kSampleBlocks computes one range of k of all sampled rows and columns, so that
// each element is read once. This is faster if k is deep and the operands are not K-major. The last
// block to finish concatenates the chains of all.
template <int kThreads>
__device__ __forceinline__ void sample_stretches(const SplitOperand& a, const SplitOperand& b,
                                                 int k, int block, const GrowthSample& to) {
  static_assert(kSampleDepth % kSampleBlocks == 0, "equal shares of k per block");
  constexpr int kStretch = kSampleDepth / kSampleBlocks;  // at most
  constexpr int kParts = kThreads / kSampledPairs;        // of a pair's chain, one thread per part
  constexpr int kVectorsAtOnce = kThreads / kStretch, kLoads = kSampleEdge / kVectorsAtOnce;
  static_assert(kThreads % kSampledPairs == 0 && kThreads % kStretch == 0 &&
                    kSampleEdge % kVectorsAtOnce == 0 && kSampleBlocks % kParts == 0,
                "equal shares per thread");
  // One float of padding per part, so that lanes that read different parts and rows access
  // different banks.
  __shared__ float s[2][kSampleEdge][kStretch + kParts];
  __shared__ bool last;
  const int tid = static_cast<int>(threadIdx.x);
  const int depth = min(k, kSampleDepth), share = (depth + kSampleBlocks - 1) / kSampleBlocks;
  const int begin = block * share, count = min(share, depth - begin),
            of_part = (share + kParts - 1) / kParts;
  const int mine = tid % kStretch, first_vector = tid / kStretch;
  const auto load = [&](float(&r)[kLoads], const SplitOperand& x) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const std::int64_t vector = sampled_vector(x.vectors, first_vector + i * kVectorsAtOnce),
                         at = begin + mine;
      r[i] = mine < count ? x.g[x.along_k ? vector * x.ld + at : at * x.ld + vector] : 0.0F;
    }
  };
  const auto store = [&](float(&to_vector)[kSampleEdge][kStretch + kParts],
                         const float(&r)[kLoads]) {
    if (mine >= count) return;
#pragma unroll
    for (int i = 0; i < kLoads; ++i)
      to_vector[first_vector + i * kVectorsAtOnce][mine + mine / of_part] = r[i];
  };
  float of_a[kLoads], of_b[kLoads];
  load(of_a, a);
  load(of_b, b);
  store(s[0], of_a);
  store(s[1], of_b);
  __syncthreads();
  const int pair = tid / kParts, part = tid % kParts;
  const float* const left = &s[0][pair / kSampleEdge][part * (of_part + 1)];
  const float* const right = &s[1][pair % kSampleEdge][part * (of_part + 1)];
  Chain chain;
#pragma unroll 4
  for (int i = 0; i < min(of_part, count - part * of_part); ++i) {
    const double p = static_cast<double>(left[i]) * right[i];
    chain.append(isfinite(p) ? p : 0.0);
  }
  chain.append_lanes<kParts>();
  if (part == 0) to.gChains[block * kSampledPairs + pair] = chain;
  if (!arrives_last([&] { return to.gDone; }, kSampleBlocks, last)) return;
  constexpr int kBlocksOfPart = kSampleBlocks / kParts;
  Chain all;
#pragma unroll
  for (int i = 0; i < kBlocksOfPart; ++i)
    all.append(
        chain_of_other_block(to.gChains + (part * kBlocksOfPart + i) * kSampledPairs + pair));
  all.append_lanes<kParts>();
  const int chains = __syncthreads_count(part == 0 && all.counts() ? 1 : 0),
            grown = __syncthreads_count(part == 0 && all.grows() ? 1 : 0);
  if (tid != 0) return;
  add_growth(to, chains, grown);
  *to.gDone = 0;
}

}  // namespace ladder
