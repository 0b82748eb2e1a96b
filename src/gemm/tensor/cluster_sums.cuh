// SPDX-License-Identifier: Apache-2.0
// Split-K within a cluster: each block computes one k-split of the tile. Each block then receives
// its share of the tile's rows from all blocks through distributed shared memory, adds the k-splits
// in order and stores the result.
#pragma once
#include "device/ptx/cluster_memory.cuh"
#include "device/vector.cuh"
#include "gemm/tensor/tile_store.cuh"

#include <cstdint>

namespace ladder {

// The partial sums that a block receives. The memory has no other use, so that a block may send
// without waiting for the receiver.
template <class T>
struct ClusterSums {
  static constexpr int kRows = T::BM / T::kCluster;
  static constexpr int kStride = T::BN + 8;  // padded: with 16-bit operands, 8 rows use all banks
  alignas(16) float of_part[T::kCluster][kRows][kStride];
};

// Sends a warpgroup's partial sums of k-split `rank` to the blocks that add them.
template <class T>
__device__ __forceinline__ void send_sums(const Product<typename T::Base>& product,
                                          const ClusterSums<T>& s, int rank) {
  constexpr int kRows = ClusterSums<T>::kRows;
  static_assert(kRows % 16 == 0, "all rows of a warp go to one block");
  const int row = product.row() + product.lane_row(), col = product.col() + product.lane_col();
  const std::uint32_t to = ptx::shared_address(&s.of_part[rank][row % kRows][col]);
  Product<typename T::Base>::for_each_pair([&](int i, int j, int first, int second) {
    const std::uint32_t offset =
        (i % kRows * ClusterSums<T>::kStride + j) * static_cast<std::uint32_t>(sizeof(float));
    ptx::store_cluster2(ptx::shared_address_of(to, row / kRows + i / kRows) + offset,
                        product.sums[first], product.sums[second]);
  });
}

// Adds the k-splits of this block's rows of the tile at (row, col) and stores them. kVectorStores:
// beta = 0, and the rows of C are 16-byte aligned multiples of 16 bytes. Called by all consumers
// after all blocks have sent.
template <class T, bool kVectorStores>
__device__ __forceinline__ void add_sums(const ClusterSums<T>& s, const Target<typename T::Out>& c,
                                         int row, int col, int rank) {
  using Out = typename T::Out;
  constexpr int kPiece = 16 / static_cast<int>(sizeof(Out)), kInRow = T::BN / kPiece;
  constexpr int kPieces = ClusterSums<T>::kRows * kInRow, kThreads = T::kWarpgroups * kWarpgroup;
  static_assert(kPieces % kThreads == 0, "equal shares per thread");
#pragma unroll
  for (int i = 0; i < kPieces; i += kThreads) {
    const int piece = i + static_cast<int>(threadIdx.x) % kThreads;
    const int in_share = piece / kInRow, at = piece % kInRow * kPiece;
    const int in_row = row + rank * ClusterSums<T>::kRows + in_share, in_col = col + at;
    float sums[kPiece]{};
#pragma unroll
    for (int part = 0; part < T::kCluster; ++part) {
#pragma unroll
      for (int j = 0; j < kPiece; j += 4) {
        add4(sums + j, *reinterpret_cast<const float4*>(&s.of_part[part][in_share][at + j]));
      }
    }
    if (in_row >= c.m || in_col >= c.n) continue;
    Out* const gC = c.gC + in_row * c.ld + in_col;
    if constexpr (kVectorStores) {
      alignas(16) std::uint32_t w[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if constexpr (sizeof(Out) == 4) {
          w[j] = __float_as_uint(c.alpha * sums[j]);
        } else {
          w[j] = pack_two(c.alpha * sums[2 * j], c.alpha * sums[2 * j + 1], Out{});
        }
      }
      *reinterpret_cast<uint4*>(gC) = *reinterpret_cast<const uint4*>(w);
    } else {
#pragma unroll
      for (int j = 0; j < kPiece; ++j) {
        if (in_col + j < c.n) store_element(c, gC + j, sums[j]);
      }
    }
  }
}

}  // namespace ladder
