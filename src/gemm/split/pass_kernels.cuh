// SPDX-License-Identifier: Apache-2.0
// Kernels of the split pre-pass.
#pragma once
#include "device/ptx/dependent.cuh"
#include "device/ptx/sync.cuh"
#include "device/vector.cuh"
#include "gemm/partial_sums.cuh"
#include "gemm/split/register_strip.cuh"
#include "gemm/split/sample.cuh"
#include "gemm/split/store_terms.cuh"

#include <cstdint>

namespace ladder {

// Threads of a block that splits with kWide threads per vector.
template <int kWide>
constexpr int kBlockOf = kWide < kPassThreads ? kPassThreads : kWide;
// Synchronises the kThreads threads that call it, not the whole block.
template <int kThreads>
__device__ __forceinline__ void sync_pass() {
  ptx::barrier_sync(1, kThreads);
}

// Whether a kernel is launched for shallow products only: the registers of kWide threads then hold
// all k of a vector.
template <int kWide, int kFloat4s>
constexpr bool kShallowKernel = 4 * kFloat4s* kWide <= kShallow;

// Splits vectors of a K-major operand, kWide threads per vector. A vector that does not fit the
// registers is read twice.
template <class F, int kWide, int kFloat4s, bool kCount>
__device__ __forceinline__ void split_along(const SplitOperand& x, int k, int slabs, int group) {
  constexpr int kBlock = kBlockOf<kWide>, kReach = 4 * kFloat4s * kWide;
  const int tid = static_cast<int>(threadIdx.x) % kWide;
  const int vector = group * (kBlock / kWide) + static_cast<int>(threadIdx.x) / kWide;
  const bool mine = vector < x.vectors;
  const float* gX = x.g + static_cast<std::int64_t>(mine ? vector : 0) * x.ld;
  const int end = mine ? k : 0;
  float r[kFloat4s][4];
  const auto load = [&](int from) {
#pragma unroll
    for (int q = 0; q < kFloat4s; ++q) {
      const int at = from + 4 * (q * kWide + tid);
      if (x.aligned && at + 4 <= end) {
        set4(r[q], __ldcs(reinterpret_cast<const float4*>(gX + at)));
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) r[q][i] = at + i < end ? gX[at + i] : 0.0F;
      }
    }
  };
  std::uint32_t largest = 0;
  LeastMagnitude least;
  for (int from = 0; from < k; from += kReach) {
    load(from);
#pragma unroll
    for (int q = 0; q < kFloat4s; ++q) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t of_element = magnitude(r[q][i]);
        largest = max(largest, of_element);
        if constexpr (kCount) least.take(of_element);
      }
    }
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = max(largest, __shfl_xor_sync(0xFFFFFFFFU, largest, distance));
  }
  if constexpr (kWide > 32) {
    __shared__ std::uint32_t s[kBlock / 32];
    const int warp = static_cast<int>(threadIdx.x) / 32,
              first = warp - tid / 32;  // index in the block; first warp of the vector
    if (tid % 32 == 0) s[warp] = largest;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kWide / 32; ++i) largest = max(largest, s[first + i]);
  }
  const int scale = exponent_of<F>(largest);
  if (mine && tid == 0) x.gExponent[vector] = scale;
  const int padded = slabs * F::BK;
  auto* const gVector = terms_of<F>(x, vector, slabs);
  TermCounts counts;
  for (int from = 0; from < padded; from += kReach) {
    if (padded > kReach) load(from);
#pragma unroll
    for (int q = 0; q < kFloat4s; ++q) {
      const int at = from + 4 * (q * kWide + tid);
      if (mine && at < padded) store_terms<F, kCount>(gVector, at, r[q], scale, counts);
    }
  }
  if constexpr (kCount) {
    constexpr int kVectors = kBlock / kWide, kWarps = kWide / 32;  // of the block; of a vector
    __shared__ Census s[kBlock / 32];
    __shared__ int sScale[kBlock / 32];
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    Census census = counts.census(least.inverse(scale));
    census.add_lanes();
    if (lane == 0) s[warp] = census, sScale[warp] = scale;
    __syncthreads();
    if (warp > 0) return;
    Extremes all;
    if (lane < kVectors) {  // beyond the last vector there are zeros, which count for nothing
      census = s[lane * kWarps];
#pragma unroll 1
      for (int i = 1; i < kWarps; ++i) census.add(s[lane * kWarps + i]);
      all.take(census, sScale[lane * kWarps] == kExceptional, k);
    }
    all.reduce_warp();
    if (lane == 0) x.gExtremes->add(all, static_cast<int>(blockIdx.x));
  }
}

// First k of a chunk, a multiple of the tile edge.
__device__ __forceinline__ int chunk_begin(int k, int chunk) {
  const int tiles = (k + kEdge - 1) / kEdge;
  return static_cast<int>(std::int64_t{tiles} * chunk / kChunks) * kEdge;
}

// Finds each vector's largest magnitude within chunk group / strips of k. The operand is M- or
// N-major.
template <int kBlock>
__device__ __forceinline__ void find_largest(const SplitOperand& x, int k, int group,
                                             std::uint32_t (&s)[kBlock / kEdge][kEdge]) {
  constexpr int kRows = kBlock / kEdge;
  const int strips = (x.vectors + kEdge - 1) / kEdge;
  const int lane = static_cast<int>(threadIdx.x) % kEdge,
            row = static_cast<int>(threadIdx.x) / kEdge;
  const int vector = group % strips * kEdge + lane, chunk = group / strips;
  const int begin = chunk_begin(k, chunk), end = min(k, chunk_begin(k, chunk + 1));
  std::uint32_t largest = 0;
  if (vector < x.vectors) {
#pragma unroll 8
    for (int at = begin + row; at < end; at += kRows) {
      largest = max(largest, magnitude(x.g[at * x.ld + vector]));
    }
  }
  s[row][lane] = largest;
  sync_pass<kBlock>();
  if (row > 0 || vector >= x.vectors) return;
#pragma unroll
  for (int i = 1; i < kRows; ++i) largest = max(largest, s[i][lane]);
  x.gLargest[static_cast<std::int64_t>(chunk) * x.vectors + vector] = largest;
}

// What the pre-pass computes besides the terms: nothing; the growth sample; or the sample and the
// census of each vector.
enum class Extra { kNone, kSample, kCount };

__host__ __device__ constexpr int whole_clusters(int blocks, int cluster) {
  return (blocks + cluster - 1) / cluster * cluster;
}

// Computes a part of the growth sample if this is one of the first sample_blocks(k) blocks, and
// returns whether it is. kShallowOnly: see sample_growth().
template <int kBlock, bool kShallowOnly>
__device__ __forceinline__ bool sampled(const SplitPass& pass, int block) {
  if (block >= sample_blocks<kShallowOnly>(pass.k)) return false;
  SplitOperand a = pass.a, b = pass.b;
  a.vectors = pass.sampled_a, b.vectors = pass.sampled_b;
  sample_growth<kBlock, kShallowOnly>(a, b, pass.k, block, pass.sample);
  return true;
}

// The groups of an operand: of its vectors if it is K-major, else of chunks of its columns along k.
template <int kWide>
__host__ __device__ constexpr int first_groups(const SplitOperand& x) {
  constexpr int kVectors = kBlockOf<kWide> / kWide;
  return x.along_k ? (x.vectors + kVectors - 1) / kVectors
                   : (x.vectors + kEdge - 1) / kEdge * kChunks;
}

// Splits a group of vectors of a K-major operand, or finds the largest magnitudes in a chunk of an
// M- or N-major one.
template <class F, int kWide, int kFloat4s, bool kCount>
__device__ __forceinline__ void first_group(const SplitPass& pass, const OperandGroup& group,
                                            std::uint32_t (&s)[kBlockOf<kWide> / kEdge][kEdge]) {
  if (group.x.along_k) {
    split_along<F, kWide, kFloat4s, kCount>(group.x, pass.k, pass.slabs, group.index);
  } else {
    find_largest<kBlockOf<kWide>>(group.x, pass.k, group.index, s);
  }
}

// Minimum resident blocks per SM (for `__launch_bounds__`), so that one block's loads overlap
// another's stores. Without this bound, kernels that sample would use so many registers that half
// as many blocks are resident.
template <int kWide, int kFloat4s, Extra kExtra>
constexpr int kPassBlocks = kWide > kPassThreads                       ? 2
                            : kFloat4s > 4 || kExtra == Extra::kSample ? 4
                                                                       : 5;

template <class F, int kWide, int kFloat4s, Extra kExtra>
__device__ __forceinline__ void first_pass_groups(const SplitPass& pass, int groups_a, int groups) {
  int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  if constexpr (kExtra != Extra::kNone) {
    constexpr bool kShallowOnly = kShallowKernel<kWide, kFloat4s>;
    if (sampled<kBlockOf<kWide>, kShallowOnly>(pass, block)) return;
    const int samples = sample_blocks<kShallowOnly>(pass.k);
    block -= samples;
    blocks -= samples;
  }
  __shared__ std::uint32_t s[kBlockOf<kWide> / kEdge][kEdge];
  // One iteration. Without the loop ptxas spills registers where the kernel also counts.
  for (int group = block; group < groups; group += blocks) {
    first_group<F, kWide, kFloat4s, kExtra == Extra::kCount>(
        pass, OperandGroup(pass, group, groups_a), s);
    __syncthreads();  // before the next group's use of shared memory
  }
}

// The first kernel of the pre-pass: one group per block.
template <class F, int kWide, int kFloat4s, Extra kExtra>
__global__ void __launch_bounds__(kBlockOf<kWide>, kPassBlocks<kWide, kFloat4s, kExtra>)
    first_pass(const __grid_constant__ SplitPass pass, int groups_a, int groups) {
  // Before launch_dependents: the next kernel reads A and B once all blocks have waited.
  ptx::wait_for_prerequisites();
  ptx::launch_dependents();
  first_pass_groups<F, kWide, kFloat4s, kExtra>(pass, groups_a, groups);
}

// The whole pre-pass in one kernel: first the strips of A and B, then the groups of vectors of a
// K-major operand. All blocks are in clusters.
struct Strips {
  int blocks_of_a, blocks;  // blocks: of the strips of A and B
  int cluster, tiles;
};
template <class F, int kWide, int kFloat4s, Extra kExtra>
__global__ void __launch_bounds__(kPassThreads, 4)
    split_at_once(const __grid_constant__ SplitPass pass, Strips strips, int groups_a, int groups) {
  ptx::wait_for_prerequisites();  // before launch_dependents: the next kernel reads A and B
  ptx::launch_dependents();
  int block = static_cast<int>(blockIdx.x);
  if constexpr (kExtra != Extra::kNone) {
    if (sampled<kPassThreads, kShallowKernel<kWide, kFloat4s>>(pass, block)) return;
    block -= whole_clusters(sample_blocks(pass.k), strips.cluster);
    if (block < 0) return;
  }
  if (block < strips.blocks) {
    const OperandGroup strip(pass, block, strips.blocks_of_a);
    split_strip<F, kExtra == Extra::kCount, (4 * kFloat4s * kWide > kStripDepth)>(
        strip.x, pass.k, pass.slabs, strip.index / strips.cluster, strip.index % strips.cluster,
        strips.cluster, strips.tiles);
  } else if (block - strips.blocks < groups) {
    const OperandGroup group(pass, block - strips.blocks, groups_a);
    split_along<F, kWide, kFloat4s, kExtra == Extra::kCount>(group.x, pass.k, pass.slabs,
                                                             group.index);
  }
}

// The second kernel of the pre-pass: splits an M- or N-major operand and transposes it through
// shared memory in tiles of kEdge x kEdge, kAtOnce tiles per group.
constexpr int kAtOnce = 4;
struct AcrossShared {
  float s[kEdge][kEdge + 1];  // (k, vector); padded: columns are free of bank conflicts
  int scale[kEdge];
};
// The groups of each kEdge vectors, and of an operand.
__host__ __device__ constexpr int groups_of_strip(int padded) {
  return (padded + kAtOnce * kEdge - 1) / (kAtOnce * kEdge);
}
__host__ __device__ constexpr int groups_across(const SplitOperand& x, int padded) {
  return x.along_k ? 0 : (x.vectors + kEdge - 1) / kEdge * groups_of_strip(padded);
}
template <class F, bool kCount>
__device__ __forceinline__ void split_group_across(const SplitOperand& x, int k, int slabs,
                                                   int group, AcrossShared& shared) {
  constexpr int kRows = kPassThreads / kEdge;
  const int strips = (x.vectors + kEdge - 1) / kEdge;
  const int k_begin = group / strips * (kAtOnce * kEdge);
  const int tid = static_cast<int>(threadIdx.x), lane = tid % kEdge, row = tid / kEdge;
  const int vector0 = group % strips * kEdge, vector = vector0 + lane;
  if (row == 0 && vector < x.vectors) {
    std::uint32_t largest = 0;
#pragma unroll 8
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      largest =
          max(largest, __ldcg(x.gLargest + static_cast<std::int64_t>(chunk) * x.vectors + vector));
    }
    shared.scale[lane] = exponent_of<F>(largest);
    if (k_begin == 0) x.gExponent[vector] = shared.scale[lane];
  }
  using Across = AcrossTile<kEdge>;
  typename Across::Counts counts;
  LeastMagnitude least;
  const int padded = slabs * F::BK;
  for (int k0 = k_begin; k0 < min(padded, k_begin + kAtOnce * kEdge); k0 += kEdge) {
    float r[kEdge / kRows];
#pragma unroll
    for (int i = 0; i < kEdge / kRows; ++i) {
      const int at = k0 + row + i * kRows;
      const bool inside = at < k && vector < x.vectors;
      const float element =
          x.g[inside ? at * x.ld + vector : 0];  // no branch, so that the loads overlap
      r[i] = inside ? element : 0.0F;
    }
    sync_pass<kPassThreads>();
#pragma unroll
    for (int i = 0; i < kEdge / kRows; ++i) {
      shared.s[row + i * kRows][lane] = r[i];
      if constexpr (kCount) least.take(magnitude(r[i]));
    }
    sync_pass<kPassThreads>();
    Across::template write<F, kCount>(x, shared.s, shared.scale, vector0, k0, slabs, counts);
  }
  if constexpr (kCount) {
    __shared__ uint4 sCounts[kEdge];
    __shared__ bool last;
    if (row == 0) sCounts[lane].x = 0;
    Across::gather(sCounts, counts);
    sync_pass<kPassThreads>();
    if (vector < x.vectors) atomicMax(&sCounts[lane].x, least.inverse(shared.scale[lane]));
    sync_pass<kPassThreads>();
    if (row == 0 && vector < x.vectors)
      x.gCensus[vector].add_atomically(PackedCounts::census_of(sCounts[lane]));
    const auto blocks = static_cast<unsigned>(groups_of_strip(padded));
    if (!arrives_last([&] { return &x.gCensus[vector0].arrived; }, blocks, last)) return;
    if (row == 0) collect_censuses(x, k, vector0 + tid / 32 * 32, 32);
  }
}

template <class F, bool kCount>
__global__ void __launch_bounds__(kPassThreads)
    split_across(const __grid_constant__ SplitPass pass, int groups_a) {
  __shared__ AcrossShared shared;
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  // Reversed: the elements read last are in L2.
  const OperandGroup group(pass, static_cast<int>(gridDim.x - 1 - blockIdx.x), groups_a);
  split_group_across<F, kCount>(group.x, pass.k, pass.slabs, group.index, shared);
}

}  // namespace ladder
