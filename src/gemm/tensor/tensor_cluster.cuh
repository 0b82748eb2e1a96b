// SPDX-License-Identifier: Apache-2.0
// Tiles of single blocks or clusters of two or four. The blocks of a cluster are neighbours along m
// or n. Each block copies its part of the shared operand to all of them by multicast. If the shared
// operand is the larger part of a stage, L2 traffic falls by a third. This helps also if rows are
// not 128-byte aligned, in which case each box costs L2 more.
#pragma once
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/sync.cuh"
#include "device/schedule.cuh"
#include "gemm/tensor/tensor_tile.cuh"

#include <cstdint>

namespace ladder {

// The blocks that compute a tile together. Along m they share B, along n A. Along k each computes
// one k-split of the same tile, without multicast.
enum class Blocks : unsigned char { kAlone, kPairAlongM, kPairAlongN, kFourAlongN, kPairAlongK };

template <class In, class Out, int BM, int BN, int STAGES, Blocks kBlocks>
struct ClusterTile : TensorTile<In, Out, BM, BN, STAGES> {
  static constexpr int kCluster = kBlocks == Blocks::kAlone        ? 1
                                  : kBlocks == Blocks::kFourAlongN ? 4
                                                                   : 2;
  static constexpr bool kSplitsK = kBlocks == Blocks::kPairAlongK;  // a k-split per block
  static constexpr int kSharing = kSplitsK ? 1 : kCluster;  // blocks that share copies by multicast
  static constexpr bool kSharesB = kSharing == 1 || kBlocks == Blocks::kPairAlongM;
  static constexpr int kPairM = kSharesB ? kSharing * BM : BM,
                       kPairN = kSharesB ? BN : kSharing * BN;
  static constexpr int kBoxRows = kSharesB ? BM : BM / kSharing;  // rows of A per copy
  static constexpr int kBand = 2048 / kPairM;  // tile rows whose operands stay in L2 together
};

// A thread's warp index, in a form that ptxas treats as warp-uniform, so that derived values are
// computed once per warp.
__device__ __forceinline__ int warp_in_block() {
  return static_cast<int>(__shfl_sync(0xffffffffU, threadIdx.x / 32, 0));
}

// Index of the unit: a block, or the blocks of a cluster, which compute tiles together.
template <class T>
__device__ __forceinline__ int unit_of() {
  return static_cast<int>(blockIdx.x / T::kCluster);
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

// The same in two halves, arrive and wait, both called by every thread, with independent work in
// between. It orders the initialisation of mbarriers that were fenced before, and no other memory.
template <class T>
__device__ __forceinline__ void arrive_at_cluster() {
  if constexpr (T::kCluster > 1) ptx::cluster_arrive_relaxed();
}
template <class T>
__device__ __forceinline__ void wait_for_cluster() {
  if constexpr (T::kCluster > 1) {
    ptx::cluster_wait();
  } else {
    ptx::barrier_sync(0, T::kThreads);  // warps may call it at different places in the code
  }
}

// Origin of a block's tile of C, which may be narrow. The columns beyond a narrow tile's last whole
// box ("rest") are not contiguous with its boxes.
struct TileOrigin {
  int row, col;
  int width, rest;  // columns; column of the origin as derived from the rest
  template <class T>
  __device__ __forceinline__ int col_of_box(int j) const {  // of B
    return (j * T::kBoxCols < kInWholeBoxes<T, T::kNarrow> ? col : rest) + j * T::kBoxCols;
  }
};
// Of a tile of full width, within the cluster's.
template <class T>
__device__ __forceinline__ TileOrigin origin_in(const TilePlace& pair, int rank) {
  const int row = pair.m * T::kPairM + (T::kSharing > 1 && T::kSharesB ? rank * T::BM : 0),
            col = pair.n * T::kPairN + (T::kSharesB ? 0 : rank * T::BN);
  return {row, col, T::BN, col};
}

// Initialises the barriers; called by one thread per block before the cluster synchronises. A full
// barrier completes when one thread's copies have arrived, an empty barrier when all reading warps
// of all sharing blocks have arrived. kFull0 = false: another thread initialises full[0].
template <class T, bool kFull0 = true, class Shared>
__device__ __forceinline__ void init_stages(Shared& s) {
  for (int i = kFull0 ? 0 : 1; i < T::STAGES; ++i)
    ptx::mbarrier_init(ptx::shared_address(&s.full[i]), 1);
  for (auto& empty : s.empty)
    ptx::mbarrier_init(ptx::shared_address(&empty), T::kSharing * T::kWarpgroups * 4);
  ptx::fence_mbarrier_init();
}

// One thread per block starts its own copies and its part of the shared ones, and only the needed
// boxes of B. `barrier` completes when all bytes have arrived.
template <class T>
__device__ __forceinline__ void load_cluster(typename T::Stage& s, const TensorMaps& maps,
                                             std::uint32_t barrier, int rank, const TileOrigin& at,
                                             int k, int boxes) {
  if constexpr (T::kSharing == 1) {
    load_stage<T>(s, maps, barrier, at.row, at.col, k, boxes);
  } else {
    constexpr std::uint16_t kAll = (1 << T::kCluster) - 1;
    if constexpr (T::kSharesB) {
      ptx::tma_load(ptx::shared_address(s.a), maps.a, barrier, k, at.row);
#pragma unroll
      for (int of_all = 0; of_all < T::BN / T::kBoxCols; of_all += T::kCluster) {
        const int j = of_all + rank;
        if (j >= boxes) break;
        const int col = at.template col_of_box<T>(j);
        ptx::tma_load_multicast(ptx::shared_address(s.b[j]), maps.b, barrier, T::kScaled ? k : col,
                                T::kScaled ? col : k, kAll);
      }
    } else {
      const int part = rank * T::kBoxRows;
      ptx::tma_load_multicast(ptx::shared_address(s.a[part]), maps.a, barrier, k, at.row + part,
                              kAll);
#pragma unroll
      for (int j = 0; j < T::BN / T::kBoxCols; ++j) {
        load_box<T>(s, maps, barrier, j, at.col + j * T::kBoxCols, k);
      }
    }
  }
}

// A warp arrives at the empty barriers of all blocks that copy to this stage.
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
