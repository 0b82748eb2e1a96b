// SPDX-License-Identifier: Apache-2.0
// How the tiles of C are shared out among blocks.
#pragma once
#include "device/extents.cuh"

#include <algorithm>
#include <cstdint>

namespace ladder {

struct Plan {
  int tiles_m, tiles_n;
  int steps;        // of BK along k, in a tile
  int whole_tiles;  // the first ones, a block each, round robin
  int cut_tiles;    // the rest; all blocks share their cut_tiles * steps steps
  int blocks;
  int chain;       // steps of k that are summed without a break
  bool aligned_c;  // C takes 128-bit stores
};

// Host: C of m x n in tiles of bm x bn, k in steps of bk, each tile whole and summed without a
// break; for `most` blocks at most, or as many pairs or fours of them.
inline Plan plan_whole_tiles(std::int64_t m, std::int64_t n, std::int64_t k, int bm, int bn, int bk,
                             int most) {
  Plan plan{};
  plan.tiles_m = static_cast<int>(ceil_div(m, bm));
  plan.tiles_n = static_cast<int>(ceil_div(n, bn));
  plan.steps = static_cast<int>(ceil_div(k, bk));
  plan.whole_tiles = plan.tiles_m * plan.tiles_n;
  plan.blocks = std::min(std::max(most, 1), plan.whole_tiles);
  plan.chain = plan.steps;
  return plan;
}

}  // namespace ladder
