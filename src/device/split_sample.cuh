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
};

// Where growth pays: a chain's roundings, 0.045 2^-46 s^2 each in the mean, are above what two words of fp16 and the cuts of
// the tensor core cost, 1.1 2^-46 p^2 each.
constexpr double kGrowth = 24;

namespace split_detail {

constexpr int kSampleEdge = 8;      // lines of A, and of B
constexpr int kSampleAtOnce = 2;    // lines of B that a block pairs with one of A
constexpr int kSampleDepth = 8192;  // the first k: chains that grow have grown by then
constexpr int kSampleBlocks = kSampleEdge * kSampleEdge / kSampleAtOnce;

// Of `lines`, the i-th to look at.
__device__ __forceinline__ std::int64_t sampled_line(int lines, int i) {
  return std::int64_t{lines} * (2 * i + 1) / (2 * kSampleEdge);
}

// Block `block` of kSampleBlocks. Inf and NaN count as zeros.
template <int kThreads>
__device__ __forceinline__ Growth sample_growth(const SplitOperand& a, const SplitOperand& b, int k,
                                                int block) {
  constexpr int kWarps = kThreads / 32;
  __shared__ Chain s[kSampleAtOnce][kWarps];
  __shared__ unsigned sGrown[kSampleAtOnce];  // 0: no chain; 1; 2: it grows
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32;
  const std::int64_t line_a = sampled_line(a.lines, block % kSampleEdge);
  const std::int64_t next_a = a.along_k ? 1 : a.ld, next_b = b.along_k ? 1 : b.ld;
  const float* const gA = a.g + line_a * (a.along_k ? a.ld : 1);
  const float* gB[kSampleAtOnce];
#pragma unroll
  for (int j = 0; j < kSampleAtOnce; ++j) {
    gB[j] = b.g + sampled_line(b.lines, block / kSampleEdge * kSampleAtOnce + j) * (b.along_k ? b.ld : 1);
  }
  const int depth = min(k, kSampleDepth), share = (depth + kThreads - 1) / kThreads;
  const int end = min(depth, (tid + 1) * share);
  Chain chain[kSampleAtOnce];
#pragma unroll 4
  for (int at = tid * share; at < end; ++at) {
    const double left = gA[at * next_a];
#pragma unroll
    for (int j = 0; j < kSampleAtOnce; ++j) {
      const double p = left * gB[j][at * next_b];
      chain[j].append(isfinite(p) ? p : 0.0);
    }
  }
#pragma unroll
  for (int j = 0; j < kSampleAtOnce; ++j) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      Chain next;
      next.sum = __shfl_down_sync(0xFFFFFFFFU, chain[j].sum, distance);
      next.sums = __shfl_down_sync(0xFFFFFFFFU, chain[j].sums, distance);
      next.squares = __shfl_down_sync(0xFFFFFFFFU, chain[j].squares, distance);
      next.products = __shfl_down_sync(0xFFFFFFFFU, chain[j].products, distance);
      next.count = __shfl_down_sync(0xFFFFFFFFU, chain[j].count, distance);
      chain[j].append(next);  // right in every (2 distance)th lane, and those are what is read
    }
    if (lane == 0) s[j][tid / 32] = chain[j];
  }
  __syncthreads();
  if (tid < kSampleAtOnce) {
    Chain all = s[tid][0];
    for (int warp = 1; warp < kWarps; ++warp) all.append(s[tid][warp]);
    sGrown[tid] = all.products == 0 ? 0 : all.squares >= kGrowth * all.products ? 2 : 1;
  }
  __syncthreads();
  Growth growth{0, 0};
#pragma unroll
  for (int j = 0; j < kSampleAtOnce; ++j) {
    growth.chains += sGrown[j] > 0 ? 1 : 0;
    growth.grown += sGrown[j] > 1 ? 1 : 0;
  }
  return growth;
}

}  // namespace split_detail
}  // namespace ladder
