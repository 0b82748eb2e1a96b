// SPDX-License-Identifier: Apache-2.0
// How the sums of a product grow, by a sample of its elements: what a chain of additions in binary32 rounds off goes with
// its partial sums, what words lose goes with the products. docs/guard.md, "Sums that stay small".
#pragma once
#include "device/split_operand.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// Products p of neighbouring k, and their partial sums s from nothing. Two of them, one after the other, are a third.
struct Chain {
  double sum = 0, sums = 0, squares = 0;  // of p, of s, of s^2
  double products = 0;                    // of p^2
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
  // Those of kLanes neighbouring lanes, in the first of them.
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
      append(next);  // right in every (2 distance)th lane, and those are what is read
    }
  }
};

// Where growth pays: a chain's roundings, 0.045 2^-46 s^2 each in the mean, are above what two words of fp16 and the cuts of
// the tensor core cost, 1.1 2^-46 p^2 each.
constexpr double kGrowth = 24;

namespace split_detail {

constexpr int kSampleEdge = 8;      // lines of A, and of B
constexpr int kSampleDepth = 8192;  // the first k: chains that grow have grown by then
constexpr int kPairs = kSampleEdge * kSampleEdge;
static_assert(kSampleDepth % kSampleBlocks == 0, "as much of k for each block");
constexpr int kStretch = kSampleDepth / kSampleBlocks;

// Of `lines`, the i-th to look at.
__device__ __forceinline__ std::int64_t sampled_line(int lines, int i) {
  return std::int64_t{lines} * (2 * i + 1) / (2 * kSampleEdge);
}

__device__ __forceinline__ Chain chain_of_other_block(const Chain* g) {
  Chain chain;
  chain.sum = __ldcg(&g->sum), chain.sums = __ldcg(&g->sums), chain.squares = __ldcg(&g->squares);
  chain.products = __ldcg(&g->products), chain.count = __ldcg(&g->count);
  return chain;
}

// Block `block` of kSampleBlocks: a stretch of k of all lines, so that each element is read once; the last block to finish has
// the sums of all. Inf and NaN count as zeros.
template <int kThreads>
__device__ __forceinline__ void sample_growth(const SplitOperand& a, const SplitOperand& b, int k, int block,
                                              const GrowthSample& to) {
  constexpr int kParts = kThreads / kPairs, kOfPart = kStretch / kParts;  // of a pair's chain, a thread each
  constexpr int kLinesAtOnce = kThreads / kStretch, kLoads = kSampleEdge / kLinesAtOnce;
  static_assert(kThreads % kPairs == 0 && kThreads % kStretch == 0 && kSampleEdge % kLinesAtOnce == 0 &&
                    kSampleBlocks % kParts == 0,
                "as much for each thread");
  // A part has a word more than elements, so that lanes of several parts and lines read different banks.
  __shared__ float s[2][kSampleEdge][kStretch + kParts];
  __shared__ bool last;
  const int tid = static_cast<int>(threadIdx.x);
  const int depth = min(k, kSampleDepth), share = (depth + kSampleBlocks - 1) / kSampleBlocks;
  const int begin = block * share, count = min(share, depth - begin);
  const int mine = tid % kStretch, first_line = tid / kStretch;
  const auto load = [&](float(&r)[kLoads], const SplitOperand& x) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const std::int64_t line = sampled_line(x.lines, first_line + i * kLinesAtOnce), at = begin + mine;
      r[i] = mine < count ? x.g[x.along_k ? line * x.ld + at : at * x.ld + line] : 0.0F;
    }
  };
  const auto store = [&](float(&to_line)[kSampleEdge][kStretch + kParts], const float(&r)[kLoads]) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) to_line[first_line + i * kLinesAtOnce][mine + mine / kOfPart] = r[i];
  };
  float of_a[kLoads], of_b[kLoads];
  load(of_a, a);
  load(of_b, b);
  store(s[0], of_a);
  store(s[1], of_b);
  __syncthreads();
  const int pair = tid / kParts, part = tid % kParts;
  const float* const left = &s[0][pair / kSampleEdge][part * (kOfPart + 1)];
  const float* const right = &s[1][pair % kSampleEdge][part * (kOfPart + 1)];
  Chain chain;
#pragma unroll 4
  for (int i = 0; i < min(kOfPart, count - part * kOfPart); ++i) {
    const double p = static_cast<double>(left[i]) * right[i];
    chain.append(isfinite(p) ? p : 0.0);
  }
  chain.append_lanes<kParts>();
  if (part == 0) to.gChains[block * kPairs + pair] = chain;
  __threadfence();
  __syncthreads();
  if (tid == 0) last = atomicAdd(to.gDone, 1U) == kSampleBlocks - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  constexpr int kBlocksOfPart = kSampleBlocks / kParts;
  Chain all;
#pragma unroll
  for (int i = 0; i < kBlocksOfPart; ++i)
    all.append(chain_of_other_block(to.gChains + (part * kBlocksOfPart + i) * kPairs + pair));
  all.append_lanes<kParts>();
  const bool counts = part == 0 && all.products != 0;
  const int chains = __syncthreads_count(counts ? 1 : 0),
            grown = __syncthreads_count(counts && all.squares >= kGrowth * all.products ? 1 : 0);
  if (tid != 0) return;
  *to.gGrowth = {static_cast<unsigned>(chains), static_cast<unsigned>(grown)};
  *to.gDone = 0;
}

}  // namespace split_detail
}  // namespace ladder
