// SPDX-License-Identifier: Apache-2.0
// The assignment of tiles of C to blocks.
#pragma once
#include "device/extents.cuh"

#include <algorithm>
#include <cstdint>

namespace ladder {

struct Tiling {
  int tiles_m, tiles_n;
  int steps;        // of BK along k, per tile
  int whole_tiles;  // first tiles, one block each, round robin
  int split_tiles;  // last tiles; all blocks share their split_tiles * steps steps
  int blocks;
  int chain;  // steps of k per chain of additions
};

// Host: plan for C of m x n in tiles of bm x bn, k in steps of bk. Every tile is whole and summed
// in one chain. `most`: largest number of blocks or clusters.
inline Tiling plan_whole_tiles(std::int64_t m, std::int64_t n, std::int64_t k, int bm, int bn,
                               int bk, int most) {
  Tiling plan{};
  plan.tiles_m = static_cast<int>(ceil_div(m, bm));
  plan.tiles_n = static_cast<int>(ceil_div(n, bn));
  plan.steps = static_cast<int>(ceil_div(k, bk));
  plan.whole_tiles = plan.tiles_m * plan.tiles_n;
  plan.blocks = std::min(std::max(most, 1), plan.whole_tiles);
  plan.chain = plan.steps;
  return plan;
}

}  // namespace ladder
