// SPDX-License-Identifier: Apache-2.0
// Blocks alone, in pairs or in fours. Those that go together are neighbours along m or n; of what
// all of them read, each copies its part to all. Where that is the larger part of a stage, a third
// less is asked of L2, and as much less of lines that do not start on 128 bytes, where each box
// costs L2 more.
#pragma once
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/sync.cuh"
#include "device/schedule.cuh"
#include "device/tensor_tile.cuh"

#include <cstdint>

namespace ladder {

enum class Blocks : unsigned char {
  kAlone,
  kPairAlongM,
  kPairAlongN,
  kFourAlongN,
  kPairAlongK
  // those along m share B, those along n A; those along k have a part each of one tile's k, and no
  // copies in common
};

template <class In, class Out, int BM, int BN, int STAGES, Blocks kBlocks>
struct ClusterTile : TensorTile<In, Out, BM, BN, STAGES> {
  static constexpr int kCluster = kBlocks == Blocks::kAlone        ? 1
                                  : kBlocks == Blocks::kFourAlongN ? 4
                                                                   : 2;
  static constexpr bool kAlongK = kBlocks == Blocks::kPairAlongK;
  static constexpr int kSharing = kAlongK ? 1 : kCluster;  // blocks that copy for each other
  static constexpr bool kSharesB = kSharing == 1 || kBlocks == Blocks::kPairAlongM;
  static constexpr int kPairM = kSharesB ? kSharing * BM : BM,
                       kPairN = kSharesB ? BN : kSharing * BN;
  static constexpr int kBoxRows = kSharesB ? BM : BM / kSharing;  // lines of A in one copy
  static constexpr int kBand = 2048 / kPairM;  // tile rows whose operands stay in L2 together
};

// A thread's warp, in a way that ptxas takes for the same in all lanes: what follows from it is
// computed once a warp.
__device__ __forceinline__ int warp_in_block() {
  return static_cast<int>(__shfl_sync(0xffffffffU, threadIdx.x / 32, 0));
}

template <class T>
__device__ __forceinline__ int rank_in_cluster() {
  return T::kCluster == 1 ? 0 : ptx::cluster_rank();
}

template <class T>
__device__ __forceinline__ void sync_cluster() {
  if constexpr (T::kCluster == 1) {
    __syncthreads();
  } else {
    ptx::cluster_sync();
  }
}

// The same in two halves, of which each thread comes to both, for warps with something to do
// between them that needs nobody. Tells of barriers that were initialised and fenced before, of no
// other memory.
template <class T>
__device__ __forceinline__ void arrive_at_cluster() {
  if constexpr (T::kCluster > 1) ptx::cluster_arrive_relaxed();
}
template <class T>
__device__ __forceinline__ void wait_for_cluster() {
  if constexpr (T::kCluster > 1) {
    ptx::cluster_wait();
  } else {
    ptx::barrier_sync(0, T::kThreads);  // which warps may come to at different places
  }
}

// Where a block's tile of C lies: its pair's, and there its own.
struct Origin {
  int row, col;
  template <class T>
  __device__ __forceinline__ int col_of_box(int j) const {  // of B
    return col + j * T::BK;
  }
  // Where it would begin by the columns behind its last whole box, if those lay apart.
  __device__ __forceinline__ int col_by_rest() const { return col; }
};
template <class T>
__device__ __forceinline__ Origin origin_in(const TilePlace& pair, int rank) {
  if constexpr (T::kSharing == 1) return {pair.m * T::BM, pair.n * T::BN};
  return {pair.m * T::kPairM + (T::kSharesB ? rank * T::BM : 0),
          pair.n * T::kPairN + (T::kSharesB ? 0 : rank * T::BN)};
}
template <class T>
__device__ __forceinline__ Origin origin_of(const Plan& plan, int tile, int rank) {
  return origin_in<T>(place_of<T::kBand>(plan, tile), rank);
}

// One thread of each block, before the blocks meet: a stage is full when one thread's copies have
// landed, empty when all warps that read it have, of all blocks that copies are shared with.
// Another thread may make full[0].
template <class T, bool kFull0 = true, class Shared>
__device__ __forceinline__ void init_stages(Shared& s) {
  for (int i = kFull0 ? 0 : 1; i < T::STAGES; ++i)
    ptx::mbarrier_init(ptx::shared_address(&s.full[i]), 1);
  for (auto& empty : s.empty)
    ptx::mbarrier_init(ptx::shared_address(&empty), T::kSharing * T::kWarpgroups * 4);
  ptx::fence_mbarrier_init();
}

// One thread of each block starts its own copies and its part of the shared ones, of B as many
// boxes as are needed; `barrier` completes with their bytes.
template <class T, class At>
__device__ __forceinline__ void load_cluster(typename T::Stage& s, const TensorMaps& maps,
                                             std::uint32_t barrier, int rank, const At& at, int k,
                                             int boxes = T::BN / T::BK) {
  if constexpr (T::kSharing == 1) {
    load_stage<T>(s, maps, barrier, at.row, at.col, k, boxes);
  } else {
    constexpr std::uint16_t kAll = (1 << T::kCluster) - 1;
    if constexpr (T::kSharesB) {
      ptx::tma_load(ptx::shared_address(s.a), maps.a, barrier, k, at.row);
#pragma unroll
      for (int of_all = 0; of_all < T::BN / T::BK; of_all += T::kCluster) {
        const int j = of_all + rank;
        if (j >= boxes) break;
        ptx::tma_load_multicast(ptx::shared_address(s.b[j]), maps.b, barrier,
                                at.template col_of_box<T>(j), k, kAll);
      }
    } else {
      const int part = rank * T::kBoxRows;
      ptx::tma_load_multicast(ptx::shared_address(s.a[part]), maps.a, barrier, k, at.row + part,
                              kAll);
#pragma unroll
      for (int j = 0; j < T::BN / T::BK; ++j) {
        ptx::tma_load(ptx::shared_address(s.b[j]), maps.b, barrier, at.col + j * T::BK, k);
      }
    }
  }
}

// A warp says that it has read a stage, to all who copy to it.
template <class T>
__device__ __forceinline__ void release_stage(const std::uint64_t& empty) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if constexpr (T::kSharing == 1) {
    if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&empty));
  } else {
    if (lane < T::kCluster) ptx::mbarrier_arrive_at(ptx::shared_address(&empty), lane);
  }
}

}  // namespace ladder
