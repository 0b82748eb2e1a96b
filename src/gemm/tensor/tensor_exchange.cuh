// SPDX-License-Identifier: Apache-2.0
// Partial sums of tensor-core tiles that several blocks share along k. A block forwards them to the
// next one (stream-K); or all are written to device memory and a second kernel adds them (split-K);
// or the blocks of a cluster exchange them (split-K within a cluster).
#pragma once
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/dependent.cuh"
#include "device/ptx/sync.cuh"
#include "device/schedule.cuh"
#include "device/vector.cuh"
#include "gemm/partial_sums.cuh"
#include "gemm/tensor/tile_store.cuh"

#include <cstdint>

namespace ladder {

// A warpgroup's sums in device memory: one float4 of each of the 128 threads, then the next float4
// of each.
template <class T>
constexpr int kFloat4s = T::kSums / 4;
template <class T>
__device__ __forceinline__ float4* float4s_of(float* gPartial, std::int64_t piece, int warpgroup,
                                              int tid = static_cast<int>(threadIdx.x) %
                                                        kWarpgroup) {
  return reinterpret_cast<float4*>(gPartial) +
         (piece * T::kWarpgroups + warpgroup) * kFloat4s<T> * kWarpgroup + tid;
}

// The order of four sums in memory, and of four in memory as sums. Pairs are exchanged for scaled
// operands: ptxas keeps four sums that are stored together in registers of that order, and their
// register bank is then another one than that of the partial sums that the main loop adds
// (docs/lab/fp8.md).
template <class T>
__device__ __forceinline__ float4 in_memory(float4 sums) {
  return T::kScaled ? float4{sums.y, sums.x, sums.w, sums.z} : sums;
}

template <class T>
__device__ __forceinline__ void write_partial(const Product<T>& product, float* gPartial,
                                              std::int64_t piece, int warpgroup) {
  float4* const g = float4s_of<T>(gPartial, piece, warpgroup);
#pragma unroll
  for (int i = 0; i < kFloat4s<T>; ++i)
    __stcg(g + i * kWarpgroup, in_memory<T>(float4_of(product.sums + 4 * i)));
}

template <class T>
struct WarpgroupOf {
  int warpgroup;
  __device__ __forceinline__ unsigned* flag(const Exchange& x, int block) const {
    return x.gReady + block * T::kWarpgroups + warpgroup;
  }
  __device__ __forceinline__ void sync() const { ptx::barrier_sync(1 + warpgroup, kWarpgroup); }
  __device__ __forceinline__ bool leads() const { return threadIdx.x % kWarpgroup == 0; }
};

// Forwards this warpgroup's partial sums.
template <class T>
__device__ __forceinline__ void forward_partial(const Product<T>& product, const Exchange& x,
                                                int warpgroup) {
  const int block = static_cast<int>(blockIdx.x);
  write_partial(product, x.gPartial, block, warpgroup);
  announce_partial(WarpgroupOf<T>{warpgroup}, x, block);
}

// Calls add(address) for the partial sums of `block`.
template <class T, class Add>
__device__ __forceinline__ void accumulate_partial(const Exchange& x, int block, int warpgroup,
                                                   Add add) {
  consume_partial(WarpgroupOf<T>{warpgroup}, x, block, [&] {
    add(static_cast<const float4*>(float4s_of<T>(x.gPartial, block, warpgroup)));
  });
}

// Accumulates the partial sums of `block`.
template <class T>
__device__ __forceinline__ void accumulate_partial(Product<T>& product, const Exchange& x,
                                                   int block, int warpgroup) {
  accumulate_partial<T>(x, block, warpgroup, [&](const float4* g) {
#pragma unroll
    for (int i = 0; i < kFloat4s<T>; ++i)
      add4(product.sums + 4 * i, in_memory<T>(__ldcg(g + i * kWarpgroup)));
  });
}

// The sums that a block adds: one float4 of kLanes of the 128 threads, in one warpgroup's part of
// one tile.
constexpr int kAddThreads = 512;
template <class T, int kAdders>
struct AddPlace {
  static constexpr int kLanes = kAddThreads / kAdders,
                       kSlices = kWarpgroup / kLanes;  // per 128 threads
  static_assert(kLanes % 32 == 0 && kLanes <= kWarpgroup, "whole warps of one warpgroup");
  int lane, adder;
  int tid, four, warpgroup, tile;  // of the thread that computed the float4
  int row, col;                    // origin in C of its warpgroup's part of the tile

  template <int kBand>
  __device__ __forceinline__ static AddPlace here(const Tiling& plan) {
    AddPlace me;
    me.lane = static_cast<int>(threadIdx.x) % kLanes,
    me.adder = static_cast<int>(threadIdx.x) / kLanes;
    int rest = static_cast<int>(blockIdx.x);
    me.tid = rest % kSlices * kLanes + me.lane;
    rest /= kSlices;
    me.four = rest % kFloat4s<T>;
    rest /= kFloat4s<T>;
    me.warpgroup = rest % T::kWarpgroups, me.tile = rest / T::kWarpgroups;
    const Product<T> product(me.warpgroup);
    const TilePlace place = place_of<kBand>(plan, me.tile);
    me.row = place.m * T::BM + product.row(), me.col = place.n * T::BN + product.col();
    return me;
  }

  // Adds the sums of the kAdders groups in order. Returns whether this thread has the result. Call
  // at most once per kernel: the shared memory is static.
  __device__ __forceinline__ bool add_groups(float4& sum) const {
    __shared__ float4 s[kAdders][kLanes];
    s[adder][lane] = sum;
    __syncthreads();
    if (adder > 0) return false;
#pragma unroll
    for (int i = 1; i < kAdders; ++i) sum = sum + s[i][lane];
    return true;
  }
};

// Adds the `parts` k-splits of these sums; k-split q of tile i is piece q * whole_tiles + i. Each
// of kAdders groups of kLanes threads adds a share of the k-splits, then the first group adds the
// results. Returns whether this thread has the sum.
template <class T, int kAdders>
__device__ __forceinline__ bool add_float4s(const AddPlace<T, kAdders>& me, float* gPartial,
                                            const Tiling& plan, int parts, float4& sum) {
  const std::int64_t stride =
      std::int64_t{plan.whole_tiles} * T::kWarpgroups * kFloat4s<T> * kWarpgroup;  // of k-splits
  const float4* g = float4s_of<T>(gPartial, me.tile, me.warpgroup, me.tid) + me.four * kWarpgroup;
  sum = {};
  const int begin = parts * me.adder / kAdders, end = parts * (me.adder + 1) / kAdders;
#pragma unroll 8
  for (int part = begin; part < end; ++part) sum = sum + __ldcg(g + part * stride);
  return me.add_groups(sum);
}

// Adds the k-splits of each tile and stores it.
template <class T, int kAdders>
__global__ void __launch_bounds__(kAddThreads)
    add_parts(const __grid_constant__ Target<typename T::Out> c, float* gPartial,
              const __grid_constant__ Tiling plan, int parts) {
  const auto me = AddPlace<T, kAdders>::template here<T::kBand>(plan);
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  if (me.row >= c.m || me.col >= c.n) return;  // beyond C: not written
  float4 sum;
  if (!add_float4s(me, gPartial, plan, parts, sum)) return;
  sum = in_memory<T>(sum);
  const int in_row = me.row + Product<T>::lane_row(me.tid),
            in_col = me.col + Product<T>::lane_col(me.tid);
  const float r[4] = {sum.x, sum.y, sum.z, sum.w};
  Product<T>::for_each_pair_of(4 * me.four, [&](int i, int j, int first, int second) {
    if (in_row + i >= c.m) return;
    auto* const gC = c.gC + (in_row + i) * c.ld + in_col + j;
    if (in_col + j < c.n) store_element(c, gC, r[first - 4 * me.four]);
    if (in_col + j + 1 < c.n) store_element(c, gC + 1, r[second - 4 * me.four]);
  });
}

// Split-K within a cluster: each block computes one k-split of the tile. Each block then receives
// its share of the tile's rows from all blocks through distributed shared memory, adds the k-splits
// in order and stores the result.

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
