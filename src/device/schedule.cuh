// SPDX-License-Identifier: Apache-2.0
// The work of a persistent block, in order. Most tiles of C are computed by one block each. The
// last ones, which would leave blocks idle, are split along k into equal shares (stream-K; Osama et
// al., PPoPP 2023). The shape alone determines the order of additions, so that results are the same
// on every run.
#pragma once
#include "device/tiling.hpp"

namespace ladder {

// A chain of steps of a piece of a tile. A piece is the whole tile or a block's share of it.
struct Work {
  int tile;
  int begin, end;   // steps
  int first, last;  // of the piece
};

// The work of one block: whole tiles, then its share of the split tiles, from the share's end to
// its beginning. The piece that the next block continues is therefore computed first, and its
// partial sums are ready long before the next block, which computes its piece of that tile last,
// accumulates them. A block waits only for blocks of lower index, which have started before it.
// Divisions are 32-bit: a 64-bit division is a function call, after which ptxas treats no value as
// warp-uniform, which slows down the main loop.
class Schedule {
 public:
  struct Cut {
    int tile, step;  // among the split tiles
  };

  __device__ __forceinline__ Schedule(const Tiling& plan, int block)
      : plan_(plan), tile_(block), begin_(share(plan, block)), end_(share(plan, block + 1)) {}

  __device__ __forceinline__ bool next(Work& work) {
    if (work_.end == work_.last && !next_piece()) return false;
    work_.begin = work_.end;
    work_.end = min(work_.begin + plan_.chain, work_.last);
    work = work_;
    return true;
  }

  // Returns a whole piece as one chain of steps, which needs fewer registers than next().
  __device__ __forceinline__ bool next_whole(Work& work) {
    if (!next_piece()) return false;
    work = {work_.tile, work_.first, work_.last, work_.first, work_.last};
    return true;
  }

  // Begin of the share of `block`: step split_tiles * steps * block / blocks of all split tiles'
  // steps.
  __device__ __forceinline__ static Cut share(const Tiling& plan, int block) {
    const int tiles = plan.split_tiles * block, whole = tiles / plan.blocks,
              part = tiles % plan.blocks;
    return {whole,
            part * (plan.steps / plan.blocks) + part * (plan.steps % plan.blocks) / plan.blocks};
  }

  // Whether the share of `block` begins inside this split tile, so that the preceding block
  // computes a part of it, too.
  __device__ __forceinline__ static bool begins_inside(const Tiling& plan, int tile, int block) {
    const Cut begin = share(plan, block);
    return begin.tile == tile - plan.whole_tiles && begin.step > 0;
  }

 private:
  __device__ __forceinline__ bool next_piece() {
    if (tile_ < plan_.whole_tiles) {
      work_ = {tile_, 0, 0, 0, plan_.steps};
      tile_ += plan_.blocks;
      return true;
    }
    if (end_.step == 0) end_ = {end_.tile - 1, plan_.steps};
    const bool last = end_.tile == begin_.tile;
    if (end_.tile < begin_.tile || (last && end_.step == begin_.step)) return false;
    const int first = last ? begin_.step : 0;
    work_ = {plan_.whole_tiles + end_.tile, first, first, first, end_.step};
    end_.step = first;
    return true;
  }

  const Tiling& plan_;
  Work work_{};
  int tile_;
  Cut begin_, end_;
};

// Position of a tile. Tile rasterisation in bands of kBand tile rows, column by column within a
// band: the tiles computed concurrently share rows of A and columns of B, which stay in L2.
struct TilePlace {
  int m, n;
};
template <int kBand>
__device__ __forceinline__ TilePlace place_of(const Tiling& plan, int tile) {
  const int band = tile / (kBand * plan.tiles_n);
  const int rows = min(kBand, plan.tiles_m - band * kBand),
            in_band = tile - band * kBand * plan.tiles_n;
  return {band * kBand + in_band % rows, in_band / rows};
}

}  // namespace ladder
