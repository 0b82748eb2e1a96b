// SPDX-License-Identifier: Apache-2.0
// Which part of the product a persistent block computes, and in which order. Most tiles of C belong
// to one block each; the last ones, which would leave blocks idle, are cut along k into equal
// shares (stream-K; Osama et al., PPoPP 2023). Who adds what to what is fixed by the shape alone,
// so results are the same on every run.
#pragma once
#include "device/shares.hpp"

#include <cuda_runtime.h>

namespace ladder {

// A chain of steps of a tile's piece; a piece is all of the tile or a block's share of it.
struct Work {
  int tile;
  int begin, end;   // steps
  int first, last;  // the piece's
};

// The work of one block: whole tiles, then its share of the cut ones from its end to its beginning.
// So the piece whose rest the next block has comes first, and long before that block, which has it
// last, asks for it; and a block waits for blocks of lower number only, which have started before
// it. Divisions have 32 bits: those of 64 are calls, after which ptxas takes nothing for uniform in
// a warp, and the main loop would pay for that.
class Schedule {
 public:
  struct Cut {
    int tile, step;  // of the cut tiles
  };

  __device__ __forceinline__ Schedule(const Plan& plan, int block)
      : plan_(plan), tile_(block), begin_(share(plan, block)), end_(share(plan, block + 1)) {}

  __device__ __forceinline__ bool next(Work& work) {
    if (work_.end == work_.last && !next_piece()) return false;
    work_.begin = work_.end;
    work_.end = min(work_.begin + plan_.chain, work_.last);
    work = work_;
    return true;
  }

  // A whole piece at once, for who sums it without a break: less to remember meanwhile.
  __device__ __forceinline__ bool next_whole(Work& work) {
    if (!next_piece()) return false;
    work = {work_.tile, work_.first, work_.last, work_.first, work_.last};
    return true;
  }

  // Where the share of `block` begins: step cut_tiles * steps * block / blocks of all.
  __device__ __forceinline__ static Cut share(const Plan& plan, int block) {
    const int tiles = plan.cut_tiles * block, whole = tiles / plan.blocks,
              part = tiles % plan.blocks;
    return {whole,
            part * (plan.steps / plan.blocks) + part * (plan.steps % plan.blocks) / plan.blocks};
  }

  // Whether the share of `block` begins inside that cut tile, so that the block before has a part
  // of it, too.
  __device__ __forceinline__ static bool begins_inside(const Plan& plan, int tile, int block) {
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

  const Plan& plan_;
  Work work_{};
  int tile_;
  Cut begin_, end_;
};

// Where a tile lies. In bands of kBand tile rows, columns outermost in a band: the tiles in flight
// share rows of A and columns of B, which stay in L2.
struct TilePlace {
  int m, n;
};
template <int kBand>
__device__ __forceinline__ TilePlace place_of(const Plan& plan, int tile) {
  const int band = tile / (kBand * plan.tiles_n);
  const int rows = min(kBand, plan.tiles_m - band * kBand),
            in_band = tile - band * kBand * plan.tiles_n;
  return {band * kBand + in_band % rows, in_band / rows};
}

}  // namespace ladder
