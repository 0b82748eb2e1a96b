// SPDX-License-Identifier: Apache-2.0
// Split pre-pass of an M- or N-major operand by clusters. The blocks of a cluster read a strip of
// neighbouring vectors, each block one range of k. They send each other the vectors' largest
// magnitudes and write the terms. If their registers do not hold all of k, they read the strip
// twice, the second time from L2.
#pragma once
#include "device/ptx/cluster.cuh"
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/mbarrier.cuh"
#include "gemm/split/store_terms.cuh"

#include <cstdint>

namespace ladder {

constexpr int kHeld = 32;          // elements per thread; of a deep strip, half as many
constexpr int kMostBlocks = 8;     // per cluster: the portable maximum
constexpr int kStripVectors = 32;  // per strip
// The largest k whose elements registers hold. For more, threads would need more registers, hence
// fewer blocks per SM would be resident and loads would overlap less.
constexpr int kStripDepth = kMostBlocks * kHeld * kPassThreads / kStripVectors;

// Splits part `rank` of strip `strip`: kEdge * `tiles` elements along k per block.
template <class F, bool kCount, bool kDeep>
__device__ __forceinline__ void split_strip(const SplitOperand& x, int k, int slabs, int strip,
                                            int rank, int blocks, int tiles) {
  constexpr int kRows = kPassThreads / kStripVectors;  // k per load of all threads
  constexpr int kOfTile = kEdge / kRows;               // elements per thread and tile
  constexpr int kTiles = (kDeep ? kHeld / 2 : kHeld) / kOfTile;
  __shared__ float s[2][kEdge]
                    [kStripVectors + 1];  // (k, vector); padded: no bank conflicts in columns
  __shared__ std::uint32_t sLargest[kRows][kStripVectors];
  __shared__ int sScale[kStripVectors];
  // Largest magnitudes, four per vector of 16 bytes: this block's, and those that all blocks of the
  // cluster send to each other.
  __shared__ uint4 sOfBlock[kStripVectors / 4], sOfBlocks[kMostBlocks][kStripVectors / 4];
  // Counts: this block's, and those that the blocks of the cluster send to its first.
  __shared__ uint4 sCounts[kStripVectors], sSent[kMostBlocks][kStripVectors];
  __shared__ std::uint64_t largest_sent, all_sent;
  const int tid = static_cast<int>(threadIdx.x), lane = tid % kStripVectors,
            row = tid / kStripVectors;
  const int vector0 = strip * kStripVectors, vector = vector0 + lane;
  const int begin = rank * tiles * kEdge, padded = slabs * F::BK;
  if (tid == 0) {
    const auto expect = [&](std::uint64_t& barrier, int bytes) {
      ptx::mbarrier_init(ptx::shared_address(&barrier), 1);
      ptx::fence_mbarrier_init();
      ptx::mbarrier_arrive_expect(ptx::shared_address(&barrier), bytes);
    };
    expect(largest_sent, blocks * static_cast<int>(sizeof sOfBlock));
    if constexpr (kCount) expect(all_sent, blocks * static_cast<int>(sizeof sSent[0]));
  }
  __syncwarp();
  ptx::cluster_arrive_relaxed();
  if (kCount && row == 0) sCounts[lane] = {};
  float r[kTiles * kOfTile];
  std::uint32_t largest = 0;
  LeastMagnitude least;
  // Loads kTiles tiles. Those of the last round stay in registers.
  const int rounds = kDeep ? (tiles + kTiles - 1) / kTiles : 1;
  const auto load = [&](int round) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      if (round * kTiles + t >= tiles) break;
#pragma unroll
      for (int i = 0; i < kOfTile; ++i) {
        const int at = begin + (round * kTiles + t) * kEdge + i * kRows + row;
        const bool inside = at < k && vector < x.vectors;
        // no branch, so that the loads overlap
        const float* const g = x.g + (inside ? at * x.ld + vector : 0);
        const float element = kDeep ? __ldcg(g) : __ldcs(g);
        r[t * kOfTile + i] = inside ? element : 0.0F;
      }
    }
  };
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    load(round);
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      if (round * kTiles + t >= tiles) break;
#pragma unroll
      for (int i = 0; i < kOfTile; ++i) {
        const std::uint32_t of_element = magnitude(r[t * kOfTile + i]);
        largest = max(largest, of_element);
        if constexpr (kCount) least.take(of_element);
      }
    }
  }
  sLargest[row][lane] = largest;
  __syncthreads();
  if (row == 0) {
#pragma unroll
    for (int i = 1; i < kRows; ++i) largest = max(largest, sLargest[i][lane]);
    reinterpret_cast<std::uint32_t*>(sOfBlock)[lane] = largest;
  }
  ptx::cluster_wait();  // the barriers are there
  if (row == 0) {
    __syncwarp();
    constexpr int kLanes = kStripVectors / 4;  // that send to one block
    const std::uint32_t to = ptx::shared_address(&sOfBlocks[rank][lane % kLanes]);
#pragma unroll 1
    for (int block = lane / kLanes; block < blocks; block += 32 / kLanes)
      ptx::send4(ptx::shared_address_of(to, block), sOfBlock[lane % kLanes],
                 ptx::shared_address_of(ptx::shared_address(&largest_sent), block));
    ptx::mbarrier_wait(ptx::shared_address(&largest_sent), 0);
#pragma unroll
    for (int block = 0; block < kMostBlocks; ++block) {  // the last block's may repeat
      largest = max(
          largest, reinterpret_cast<const std::uint32_t*>(sOfBlocks[min(block, blocks - 1)])[lane]);
    }
    sScale[lane] = exponent_of<F>(largest);
  }
  if (row == 0 && rank == 0 && vector < x.vectors) x.gExponent[vector] = sScale[lane];
  __syncthreads();  // scales are there
  if constexpr (kCount) atomicMax(&sCounts[lane].x, least.inverse(sScale[lane]));
  using Across = AcrossTile<kStripVectors>;
  typename Across::Counts counts;
  int buffer = 0;
#pragma unroll 1
  for (int round = rounds - 1; round >= 0; --round) {
    if (round < rounds - 1) load(round);
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const int tile = round * kTiles + t, first = begin + tile * kEdge;
      if (tile >= tiles || first >= padded) break;
#pragma unroll
      for (int i = 0; i < kOfTile; ++i) s[buffer][i * kRows + row][lane] = r[t * kOfTile + i];
      __syncthreads();
      Across::template write<F, kCount>(x, s[buffer], sScale, vector0, first, slabs, counts);
      buffer ^= 1;
    }
  }
  if constexpr (kCount) {
    Across::gather(sCounts, counts);
    __syncthreads();
    if (row == 0) {
      ptx::send4(ptx::shared_address_of(ptx::shared_address(&sSent[rank][lane]), 0), sCounts[lane],
                 ptx::shared_address_of(ptx::shared_address(&all_sent), 0));
      if (rank == 0) {
        ptx::mbarrier_wait(ptx::shared_address(&all_sent), 0);
        Census all{};
        for (int block = 0; block < blocks; ++block)
          all.add(PackedCounts::census_of(sSent[block][lane]));
        add_to_extremes(x, k, vector < x.vectors, all, sScale[lane] == kExceptional, strip);
      }
    }
  }
}

}  // namespace ladder
