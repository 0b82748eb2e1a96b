// SPDX-License-Identifier: Apache-2.0
// The pass over lines that lie across k, where a few blocks hold all of k: a strip of neighbouring
// lines is read once by the blocks of a cluster, each a part of k in its registers, which agree on
// the lines' largest magnitudes and then write the words. Deeper lines: ring.cuh.
#pragma once
#include "device/ptx/cluster.cuh"
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/dependent.cuh"
#include "gemm/split/across.cuh"
#include "gemm/split/store_terms.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::split_detail {

constexpr int kStripThreads = 256, kHeld = 32;  // elements a thread
constexpr int kMostBlocks = 8;                  // of a cluster that every Hopper GPU takes
constexpr int kStripLines = 32;                 // of a strip
// k of a strip. Deeper ones would leave room for few blocks on an SM, which then waits.
constexpr int kStripDepth = kMostBlocks * kHeld * kStripThreads / kStripLines;

// Part `rank` of strip number `strip`. A block has kEdge x `tiles` of k.
template <class F, bool kCount>
__device__ __forceinline__ void split_strip(const SplitOperand& x, int k, int slabs, int strip,
                                            int rank, int blocks, int tiles) {
  constexpr int kRows = kStripThreads / kStripLines;  // k that the block's threads take at once
  constexpr int kOfTile = kEdge / kRows;              // elements of a thread in a tile
  constexpr int kTiles = kHeld / kOfTile;
  __shared__ float s[2][kEdge][kStripLines + 1];  // (k, line); a column lies in banks of its own
  __shared__ std::uint32_t sLargest[kRows][kStripLines], sOfBlock[kStripLines];
  __shared__ int sScale[kStripLines];
  __shared__ Census sCensus[kStripLines];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % kStripLines, row = tid / kStripLines;
  const int line0 = strip * kStripLines, line = line0 + lane;
  const int begin = rank * tiles * kEdge, padded = slabs * F::BK;
  float r[kHeld];
  std::uint32_t largest = 0;
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    if (t >= tiles) break;
#pragma unroll
    for (int i = 0; i < kOfTile; ++i) {
      const int at = begin + t * kEdge + i * kRows + row;
      const bool inside = at < k && line < x.lines;
      const float element =
          __ldcs(x.g + (inside ? at * x.ld + line : 0));  // without branches: all at once
      r[t * kOfTile + i] = inside ? element : 0.0F;
    }
  }
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    if (t >= tiles) break;
#pragma unroll
    for (int i = 0; i < kOfTile; ++i) largest = max(largest, magnitude(r[t * kOfTile + i]));
  }
  sLargest[row][lane] = largest;
  __syncthreads();
  if (row == 0) {
#pragma unroll
    for (int i = 1; i < kRows; ++i) largest = max(largest, sLargest[i][lane]);
    sOfBlock[lane] = largest;
  }
  if (blocks > 1) ptx::cluster_sync();
  if (row == 0) {
    if (blocks > 1) {
#pragma unroll
      for (int i = 0; i < kMostBlocks; ++i) {  // all loads at once: of the last block perhaps again
        const std::uint32_t s_other =
            ptx::shared_address_of(ptx::shared_address(&sOfBlock[lane]), min(i, blocks - 1));
        largest = max(largest, __float_as_uint(ptx::load_cluster(s_other)));
      }
    }
    sScale[lane] = exponent_of_line<F>(largest);
  }
  if (blocks > 1) ptx::cluster_arrive();  // has read
  if (row == 0 && rank == 0 && line < x.lines) x.gExponent[line] = sScale[lane];
  __syncthreads();  // scales are there
  using Across = AcrossTile<kStripLines, kStripThreads>;
  typename Across::Counts census;
#pragma unroll
  for (int t = 0; t < kTiles; ++t) {
    if (t >= tiles || begin + t * kEdge >= padded) break;
#pragma unroll
    for (int i = 0; i < kOfTile; ++i) s[t % 2][i * kRows + row][lane] = r[t * kOfTile + i];
    __syncthreads();
    Across::template write<F, kCount>(x, s[t % 2], sScale, line0, begin + t * kEdge, slabs, census);
  }
  if constexpr (kCount) Across::add_counts(x, sCensus, line0, census);
  if (blocks > 1) ptx::cluster_wait();  // nobody ends while others read
}

}  // namespace ladder::split_detail
