// SPDX-License-Identifier: Apache-2.0
// Device: positions of a plan's tiles, including narrow ones, and the order in which a block
// computes them.
#pragma once
#include "gemm/plan/tile_plan.hpp"
#include "gemm/tensor/tensor_cluster.cuh"

namespace ladder {

template <class T>
__device__ __forceinline__ TileOrigin origin_of(const TilePlan& plan, int tile, int rank) {
  const NarrowTiles& narrow = plan.narrow;
  if (!T::kSharesB || tile < narrow.first) {
    // A block's first tile usually is in the first band, and its first copies wait for these
    // divisions, which are therefore 32-bit unsigned.
    if (tile < T::kBand * plan.tiles_n) {
      const auto rows = static_cast<unsigned>(min(T::kBand, plan.tiles_m));
      const int n = static_cast<int>(static_cast<unsigned>(tile) / rows);
      return origin_in<T>({tile - n * static_cast<int>(rows), n}, rank);
    }
    return origin_in<T>(place_of<T::kBand>(plan, tile), rank);
  }
  tile -= narrow.first;
  TilePlace pair{tile % narrow.rows, tile / narrow.rows};
  int col = narrow.col, tile_columns = narrow.columns;
  if (pair.n >= narrow.columns) {
    Tiling behind{};
    behind.tiles_m = plan.tiles_m - narrow.m - narrow.rows;
    behind.tiles_n = tile_columns = narrow.later_columns;
    pair = place_of<T::kBand>(behind, tile - narrow.rows * narrow.columns);
    pair.m += narrow.rows;
    col = 0;
  }
  constexpr int kBoxes = kInWholeBoxes<T, T::kNarrow>, kRest = T::kNarrow - kBoxes;  // columns
  return {(narrow.m + pair.m) * T::kPairM + rank * T::BM, col + pair.n * kBoxes, T::kNarrow,
          col + (tile_columns - 1) * kBoxes + pair.n * kRest};
}

// Origin of a unit's first tile, if `first.known`.
template <class T>
__device__ __forceinline__ TileOrigin first_origin(const FirstTiles& first, int unit, int rank) {
  const int n = static_cast<int>(static_cast<unsigned>(unit) * first.inverse / FirstTiles::kOne);
  return origin_in<T>({unit - n * first.rows, n}, rank);
}

// Schedule of one unit if no tile is split: round robin.
class WholeSchedule {
 public:
  __device__ __forceinline__ WholeSchedule(const Tiling& plan, int unit)
      : plan_(plan), tile_(unit) {}
  __device__ __forceinline__ bool next(Work& work) {
    if (tile_ >= plan_.whole_tiles) return false;
    work = {tile_, 0, plan_.steps, 0, plan_.steps};
    tile_ += plan_.blocks;
    return true;
  }

  // Whether the work that next() returned is the last.
  __device__ __forceinline__ bool at_last() const { return tile_ >= plan_.whole_tiles; }

 private:
  const Tiling& plan_;
  int tile_;
};

// Schedule of one block with split-K, plan.blocks / plan.whole_tiles k-splits per tile: one
// k-split.
class PartSchedule {
 public:
  __device__ __forceinline__ PartSchedule(const Tiling& plan, int block)
      : PartSchedule(plan, plan.blocks / plan.whole_tiles, block / plan.whole_tiles,
                     block % plan.whole_tiles) {}
  __device__ __forceinline__ PartSchedule(const Tiling& plan, int parts, int part, int tile) {
    work_ = {tile, begin_of(plan, part, parts), begin_of(plan, part + 1, parts)};
  }
  __device__ __forceinline__ bool next(Work& work) {
    work = work_;
    const bool first = !done_;
    done_ = true;
    return first;
  }

 private:
  __device__ __forceinline__ static int begin_of(const Tiling& plan, int part, int parts) {
    // The first copies wait for this division; a 64-bit one takes a microsecond. The product fits
    // 32 bits: at most 2^25 steps, 64 k-splits.
    return static_cast<int>(static_cast<unsigned>(plan.steps) * static_cast<unsigned>(part) /
                            static_cast<unsigned>(parts));
  }
  Work work_;
  bool done_ = false;
};

}  // namespace ladder
