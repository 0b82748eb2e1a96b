// SPDX-License-Identifier: Apache-2.0
// Samples elements of C for the growth of their partial sums. The rounding error of a chain of FP32
// additions is proportional to its partial sums, the error of a split to the products. See
// docs/guard.md, "Sums that stay small".
#pragma once
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
  // Concatenates the chains of a warp's lanes; the first of them receives the result.
  __device__ __forceinline__ void append_lanes() {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
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
constexpr int kSampleBlocks = kSampleEdge * kSampleEdge;

// Index of the i-th sampled row or column.
__device__ __forceinline__ std::int64_t sampled_vector(int vectors, int i) {
  return std::int64_t{vectors} * (2 * i + 1) / (2 * kSampleEdge);
}

// Block `block` of kSampleBlocks computes the chain of one element of C over all of the sampled
// depth and adds its counts to *gGrowth. Inf and NaN count as zeros.
template <int kThreads>
__device__ __forceinline__ void sample_element(const SplitOperand& a, const SplitOperand& b, int k,
                                               int block, unsigned* gGrowth) {
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
  chain.append_lanes();
  if (tid % 32 == 0) s[tid / 32] = chain;
  __syncthreads();
  if (tid != 0) return;
#pragma unroll 1
  for (int warp = 1; warp < kWarps; ++warp) chain.append(s[warp]);
  atomicAdd(gGrowth, Growth{chain.counts() ? 1U : 0, chain.grows() ? 1U : 0}.packed());
}

}  // namespace ladder
