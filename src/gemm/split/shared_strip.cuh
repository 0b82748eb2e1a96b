// SPDX-License-Identifier: Apache-2.0
// Split pre-pass of an M- or N-major operand whose k is too large for registers
// (register_strip.cuh). The blocks of a cluster read a strip of neighbouring vectors once, each
// block one range of k, into a pipeline in shared memory. They exchange the vectors' largest
// magnitudes, and write the terms while the next strips are being copied.
#pragma once
#include "device/ptx/cluster.cuh"
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mbarrier.cuh"
#include "gemm/split/store_terms.cuh"

#include <cstdint>

namespace ladder {

// The layout of a block's part of a strip in shared memory is free of bank conflicts both for the
// copies, 16 bytes of neighbouring vectors per lane, and for the reads, in which each lane reads
// four consecutive k of one vector, and a warp covers eight such groups of four vectors.
struct StripRing {
  static constexpr int kVectors = 16, STAGES = 3;
  static constexpr int kSteps = 4;  // per stage
  static constexpr int kThreads = 512,
                       kBlocks = 8;                        // per cluster: the portable maximum
  static constexpr int kFloat4s = kVectors / 4;            // float4 per k
  static constexpr int kParts = kThreads / 32 / kFloat4s;  // warps that share four vectors
  static constexpr int kStep = kParts * 32;  // k that all threads copy or split per step
  static constexpr int kDepth = kBlocks * kSteps * kStep;    // k of a strip
  static constexpr int kFloats = kSteps * kStep * kVectors;  // of a stage
  static constexpr int kBytes = STAGES * kFloats * 4;
  static constexpr int kOfSm = 2;  // blocks per SM, limited by shared memory
  static_assert(kThreads / kFloat4s == kStep && kVectors == 16, "two rows of k in all banks");
  static_assert(kBlocks * kFloat4s == 32,
                "each lane of a warp sends the magnitudes of four vectors to one block");

  // Permutes groups of eight rows of k, so that rows that lanes read together are neighbours.
  __device__ __forceinline__ static int ordered(int row) {
    return row / 8 * 8 + row % 4 * 2 + row / 4 % 2;
  }
  __device__ __forceinline__ static int row_of(int ordered) {
    return ordered / 8 * 8 + ordered % 2 * 4 + ordered / 2 % 4;
  }
  // Offset of a row's float4 of vectors. From a row that is a multiple of four, the next three rows
  // follow at a distance of kNext floats each.
  static constexpr int kNext = 2 * kVectors;
  __device__ __forceinline__ static int place(int row, int four) {
    return ordered(row) * kVectors + (four ^ row / 8 % kFloat4s) * 4;
  }
};

// Starts the copies of this block's part of a strip: `steps` steps of k from `begin`, vectors from
// vector0. Elements out of bounds become zeros.
__device__ __forceinline__ void load_strip(float* s, const SplitOperand& x, int k, int vector0,
                                           int begin, int steps) {
  using R = StripRing;
  const int tid = static_cast<int>(threadIdx.x), row = R::row_of(tid / R::kFloat4s),
            four = tid % R::kFloat4s;
  const int vectors = min(max(x.vectors - vector0 - 4 * four, 0), 4);
  const std::uint32_t to = ptx::shared_address(s + R::place(row, four));
  const float* const g = x.g + vector0 + 4 * four;
#pragma unroll
  for (int step = 0; step < R::kSteps; ++step) {
    if (step >= steps) break;
    const int at = begin + step * R::kStep + row, count = at < k ? vectors : 0;
    ptx::cp_async_part<16>(to + step * (R::kStep * R::kVectors * 4),
                           count > 0 ? g + at * x.ld : x.g, 4 * count);
  }
}

struct RingWork {
  int strips_of_a, strips;  // of both operands
  int blocks, steps;        // blocks per cluster; steps per block and strip
};

// The largest magnitudes of a strip's vectors: those of this block's warps, and those that the
// blocks of the cluster have sent.
struct StripLargest {
  using R = StripRing;
  // The cluster synchronises before it reuses a slot: nothing else tells a block that the stores
  // between other blocks have arrived.
  static constexpr int kSlots = 16;
  alignas(16) std::uint32_t parts[2][R::kParts][R::kVectors];
  alignas(16) std::uint32_t sent[kSlots][R::kBlocks][R::kVectors];
  std::uint64_t full[kSlots];
};

// Strips of A, then of B, assigned to the clusters in turn. Blocks exchange magnitudes by
// asynchronous stores to distributed shared memory. A cluster barrier per strip would also wait
// until the terms of the preceding strip have reached memory.
template <class F, bool kCount>
__global__ void __launch_bounds__(StripRing::kThreads, StripRing::kOfSm)
    split_strips(const __grid_constant__ SplitPass pass, RingWork work) {
  using R = StripRing;
  constexpr int kSlots = StripLargest::kSlots;
  extern __shared__ __align__(128) float s[];  // (STAGES, rows, kVectors)
  __shared__ StripLargest sLargest;
  if (threadIdx.x == 0) {
    for (auto& full : sLargest.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
    ptx::fence_mbarrier_init();
  }
  ptx::cluster_sync();  // before any block sends
  // Before launch_dependents: the next kernel reads A and B once all blocks have waited.
  ptx::wait_for_prerequisites();
  ptx::launch_dependents();
  const int rank = static_cast<int>(blockIdx.x) % work.blocks;
  const int cluster = static_cast<int>(blockIdx.x) / work.blocks,
            clusters = static_cast<int>(gridDim.x) / work.blocks;
  const int count = (work.strips - cluster + clusters - 1) / clusters;  // of this cluster's strips
  const int begin = rank * work.steps * R::kStep, padded = pass.slabs * F::BK;
  const int tid = static_cast<int>(threadIdx.x), warp = tid / 32, lane = tid % 32;
  const int part = warp / R::kFloat4s,
            own = warp % R::kFloat4s * 4 + lane % 4;  // vector of the strip
  const int row = part * 32 + lane / 4 * 4;           // of a step, the first of four
  const int place = R::place(row, own / 4) + own % 4;
  const auto strip_of = [&](int it) {
    return OperandGroup(pass, cluster + it * clusters, work.strips_of_a);
  };
  const auto load = [&](int it) {
    if (it < count) {
      const OperandGroup strip = strip_of(it);
      load_strip(s + it % R::STAGES * R::kFloats, strip.x, pass.k, strip.index * R::kVectors, begin,
                 work.steps);
    }
    ptx::cp_async_commit();
  };
  // Once the strip is here: finds its largest magnitudes and sends them to all.
  const auto send_largest = [&](int it) {
    const float* const sPart = s + it % R::STAGES * R::kFloats + place;
    const int slot = it % kSlots;
    std::uint32_t largest = 0;
#pragma unroll 4
    for (int step = 0; step < work.steps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        largest = max(largest, magnitude(sPart[step * (R::kStep * R::kVectors) + i * R::kNext]));
    }
#pragma unroll
    for (int distance = 4; distance < 32; distance *= 2)
      largest = max(largest, __shfl_xor_sync(0xFFFFFFFFU, largest, distance));
    if (lane < 4) sLargest.parts[it % 2][part][own] = largest;
    __syncthreads();
    if (warp != 0) return;
    const std::uint32_t full = ptx::shared_address(&sLargest.full[slot]);
    if (lane == 0)
      ptx::mbarrier_arrive_expect(full,
                                  work.blocks * static_cast<int>(sizeof(sLargest.sent[0][0])));
    __syncwarp();
    const int to = lane / R::kFloat4s,
              four = lane % R::kFloat4s;  // four vectors per receiving block
    if (to >= work.blocks) return;
    uint4 of_four{};
#pragma unroll
    for (int p = 0; p < R::kParts; ++p) {
      const uint4 of_part = *reinterpret_cast<const uint4*>(&sLargest.parts[it % 2][p][4 * four]);
      of_four = {max(of_four.x, of_part.x), max(of_four.y, of_part.y), max(of_four.z, of_part.z),
                 max(of_four.w, of_part.w)};
    }
    ptx::send4(
        ptx::shared_address_of(ptx::shared_address(&sLargest.sent[slot][rank][4 * four]), to),
        of_four, ptx::shared_address_of(full, to));
  };
#pragma unroll
  for (int it = 0; it < R::STAGES; ++it) load(it);
  ptx::cp_async_wait<R::STAGES - 1>();
  __syncthreads();
  send_largest(0);
#pragma unroll 1
  for (int it = 0; it < count; ++it) {
    ptx::cp_async_wait<R::STAGES - 2>();
    __syncthreads();
    if (it % (kSlots - 1) == kSlots - 2)
      ptx::cluster_sync();  // all sent up to the preceding strip has arrived
    if (it + 1 < count) send_largest(it + 1);
    const int slot = it % kSlots;
    ptx::mbarrier_wait(ptx::shared_address(&sLargest.full[slot]), it / kSlots % 2);
    std::uint32_t largest = 0;
    for (int block = 0; block < work.blocks; ++block)
      largest = max(largest, sLargest.sent[slot][block][own]);
    const OperandGroup strip = strip_of(it);
    const SplitOperand& x = strip.x;
    const int vector = strip.index * R::kVectors + own;
    const bool mine = vector < x.vectors;
    const int scale = exponent_of<F>(largest);
    if (mine && rank == 0 && part == 0 && lane < 4) x.gExponent[vector] = scale;
    auto* const gVector = terms_of<F>(x, vector, pass.slabs);
    const float* const sPart = s + it % R::STAGES * R::kFloats + place;
    const int steps = mine ? min(work.steps, (padded - begin - row + R::kStep - 1) / R::kStep) : 0;
    TermCounts counts;
    LeastMagnitude least;
#pragma unroll kCount ? 2 : 4  // counts need registers
    for (int step = 0; step < steps; ++step) {
      const float* const sFour = sPart + step * (R::kStep * R::kVectors);
      const float four[4] = {sFour[0], sFour[R::kNext], sFour[2 * R::kNext], sFour[3 * R::kNext]};
      const int at = begin + step * R::kStep + row;
      store_terms<F, kCount>(gVector, at, four, scale, counts);
      if constexpr (kCount) {
#pragma unroll
        for (const float element : four) least.take(magnitude(element));
      }
    }
    if constexpr (kCount) {
      Census census = counts.census(least.inverse(scale));
      census.add_lanes<4>();
      if (mine && lane < 4) x.gCensus[vector].add_atomically(census);
    }
    __syncthreads();  // all threads have read the strip
    load(it + R::STAGES);
  }
  // Behind this all blocks have added their counts.
  ptx::cluster_sync();  // no block exits while others send to it
  if constexpr (kCount) {
    for (int it = warp; rank == 0 && it < count; it += R::kThreads / 32) {
      const OperandGroup strip = strip_of(it);
      collect_censuses(strip.x, pass.k, strip.index * R::kVectors, R::kVectors);
    }
  }
}

}  // namespace ladder
