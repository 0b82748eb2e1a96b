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
  // Concatenates the chains of kLanes consecutive lanes; the first of them receives the result.
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

constexpr int kSampleEdge = 8;  // rows of op(A), and columns of op(B)
constexpr int kSamplePairs = kSampleEdge * kSampleEdge;
constexpr int kSampleDepth = 8192;  // only the first k: growth shows by then

// Up to this k, a block computes one of the sampled elements. Beyond it, a block computes a range
// of k of all of them, which reads each sampled row and column once. The ranges take longer to
// concatenate than few elements take to read.
constexpr int kShallow = 768;
constexpr int kSampleRange = 64;  // k per block
constexpr int kChainFields = 4;   // doubles per chain in memory

__host__ __device__ constexpr int sample_depth(int k) {
  return k < kSampleDepth ? k : kSampleDepth;
}
__host__ __device__ constexpr int sample_ranges(int k) {
  return (sample_depth(k) + kSampleRange - 1) / kSampleRange;
}
// kShallowOnly: k is at most kShallow.
template <bool kShallowOnly = false>
__host__ __device__ constexpr int sample_blocks(int k) {
  return kShallowOnly || k <= kShallow ? kSamplePairs : sample_ranges(k);
}
// Bytes of the chains of all ranges and elements.
__host__ __device__ constexpr int sample_bytes(int k) {
  constexpr int kPerRange = kChainFields * kSamplePairs * static_cast<int>(sizeof(double));
  return k <= kShallow ? 0 : sample_ranges(k) * kPerRange;
}

// Index of the i-th sampled row or column.
__device__ __forceinline__ std::int64_t sampled_vector(int vectors, int i) {
  return std::int64_t{vectors} * (2 * i + 1) / (2 * kSampleEdge);
}

// Inf and NaN count as zeros.
__device__ __forceinline__ double sampled_product(float a, float b) {
  const double p = static_cast<double>(a) * b;
  return isfinite(p) ? p : 0.0;
}

// Computes the chain of one element of C.
template <int kThreads>
__device__ __forceinline__ void sample_element(const SplitOperand& a, const SplitOperand& b, int k,
                                               int pair, SampleState* gState) {
  constexpr int kWarps = kThreads / 32;
  constexpr int kMost = (kShallow + kThreads - 1) / kThreads;  // k per thread
  __shared__ Chain s[kWarps];
  const int tid = static_cast<int>(threadIdx.x);
  const std::int64_t next_a = a.k_step(), next_b = b.k_step();
  const float* const gA = a.g + sampled_vector(a.vectors, pair % kSampleEdge) * a.vector_step();
  const float* const gB = b.g + sampled_vector(b.vectors, pair / kSampleEdge) * b.vector_step();
  const int share = (k + kThreads - 1) / kThreads, end = min(k, (tid + 1) * share);
  float rA[kMost], rB[kMost];
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    const int at = min(tid * share + i, k - 1);
    rA[i] = gA[at * next_a], rB[i] = gB[at * next_b];
  }
  Chain chain;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    if (tid * share + i < end) chain.append(sampled_product(rA[i], rB[i]));
  }
  chain.append_lanes<32>();
  if (tid % 32 == 0) s[tid / 32] = chain;
  __syncthreads();
  if (tid != 0) return;
#pragma unroll 1
  for (int warp = 1; warp < kWarps; ++warp) chain.append(s[warp]);
  atomicAdd(&gState->growth, Growth{chain.counts() ? 1U : 0, chain.grows() ? 1U : 0}.packed());
}

// A range of k of the sampled vectors. Each kStep elements of a vector are followed by an unused
// one, so that lanes which read at different steps access different banks.
template <int kStep>
struct SampledRange {
  static constexpr int kPadded = kSampleRange + kSampleRange / kStep;
  float s[kSampleEdge][kPadded];

  template <int kThreads>
  __device__ __forceinline__ void load(const SplitOperand& x, int begin, int depth) {
    constexpr int kEach = kSampleEdge * kSampleRange / kThreads;
    const int tid = static_cast<int>(threadIdx.x);
    const std::int64_t next_k = x.k_step(), next_vector = x.vector_step();
    float r[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = tid + i * kThreads, k = begin + at % kSampleRange;
      const float* const g = x.g + sampled_vector(x.vectors, at / kSampleRange) * next_vector;
      r[i] = g[min(k, depth - 1) * next_k];
    }
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = tid + i * kThreads, k = at % kSampleRange;
      s[at / kSampleRange][k + k / kStep] = r[i];
    }
  }
};

// Computes the chains of range `range` of k of all sampled elements. The last block to finish
// concatenates all ranges.
template <int kThreads>
__device__ __forceinline__ void sample_range(const SplitOperand& a, const SplitOperand& b, int k,
                                             int range, const GrowthSample& sample) {
  constexpr int kLanes = kThreads / kSamplePairs;       // per element of C
  constexpr int kStep = kSampleRange / kLanes;          // k per lane
  constexpr int kChains = kChainFields * kSamplePairs;  // doubles per range
  static_assert(kLanes <= 32 && kLanes * kSamplePairs == kThreads &&
                kStep * kLanes == kSampleRange);
  __shared__ SampledRange<kStep> sA, sB;
  const int depth = sample_depth(k), ranges = sample_ranges(k), begin = range * kSampleRange;
  sA.template load<kThreads>(a, begin, depth);
  sB.template load<kThreads>(b, begin, depth);
  __syncthreads();
  const int tid = static_cast<int>(threadIdx.x), lane = tid % kLanes, pair = tid / kLanes;
  const float* const s_a = sA.s[pair % kSampleEdge] + lane * (kStep + 1);
  const float* const s_b = sB.s[pair / kSampleEdge] + lane * (kStep + 1);
  const int count = min(kStep, depth - begin - lane * kStep);
  Chain chain;
#pragma unroll 4
  for (int i = 0; i < count; ++i) chain.append(sampled_product(s_a[i], s_b[i]));
  chain.append_lanes<kLanes>();
  double* const g = sample.gChains + pair;
  if (lane == 0) {
    double* const to = g + range * kChains;
    to[0] = chain.sum, to[kSamplePairs] = chain.sums;
    to[2 * kSamplePairs] = chain.squares, to[3 * kSamplePairs] = chain.products;
  }
  __shared__ bool last;
  if (!arrives_last([&] { return &sample.gState->arrived; }, static_cast<unsigned>(ranges), last))
    return;
  if (tid == 0) sample.gState->arrived = 0;
  const int share = (ranges + kLanes - 1) / kLanes, end = min(ranges, (lane + 1) * share);
  chain = {};
#pragma unroll 4
  for (int of = lane * share; of < end; ++of) {
    const double* const from = g + of * kChains;
    chain.append(Chain{__ldcg(from), __ldcg(from + kSamplePairs), __ldcg(from + 2 * kSamplePairs),
                       __ldcg(from + 3 * kSamplePairs),
                       min(kSampleRange, depth - of * kSampleRange)});
  }
  chain.append_lanes<kLanes>();
  const int chains = __popc(__ballot_sync(0xFFFFFFFFU, lane == 0 && chain.counts())),
            grown = __popc(__ballot_sync(0xFFFFFFFFU, lane == 0 && chain.grows()));
  if (tid % 32 != 0) return;
  atomicAdd(&sample.gState->growth,
            Growth{static_cast<unsigned>(chains), static_cast<unsigned>(grown)}.packed());
}

// What block `block` of sample_blocks(k) computes.
template <int kThreads, bool kShallowOnly = false>
__device__ __forceinline__ void sample_growth(const SplitOperand& a, const SplitOperand& b, int k,
                                              int block, const GrowthSample& sample) {
  if (kShallowOnly || k <= kShallow) {
    sample_element<kThreads>(a, b, k, block, sample.gState);
  } else {
    sample_range<kThreads>(a, b, k, block, sample);
  }
}

}  // namespace ladder
