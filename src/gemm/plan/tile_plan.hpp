// SPDX-License-Identifier: Apache-2.0
// Which tile a product on tensor cores is cut into, and how tiles are shared out so that all SMs
// end together: pure functions of the shape and of what is known of the device, in clocks of an SM.
#pragma once
#include "device/shares.hpp"
#include "gemm/plan/costs.hpp"

#include <ladder/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace ladder {

struct TileShape {
  int m, n, k;     // outputs, and k of a stage
  int blocks;      // that compute it, sharing copies
  int narrow = 0;  // columns that its last tiles may have instead of n; 0: none
  int parts = 1;   // of k, a block each, in a cluster that adds them

  constexpr bool operator==(const TileShape&) const = default;
};

// Tiles that are narrower than the others: the last ones, where those would leave SMs idle in the
// last wave. They begin in the band where the others end. Where their width is no multiple of a box
// of B, the whole boxes of all tiles of a line lie side by side from that line's first column on,
// and behind them their rests.
struct NarrowTiles {
  int first = std::numeric_limits<int>::max();  // their first tile
  int width;
  int m, rows, col;        // what is left of that band: tile rows from m on, columns from col on
  int columns, in_a_line;  // tiles along n there, and in the bands behind it
};

// A plan whose tiles may have two widths.
struct TilePlan : Plan {
  NarrowTiles narrow;
  bool once;  // no unit has a second piece of work
};

struct TensorPlan {
  std::size_t tile = 0;  // of the shapes to choose from
  int parts = 1;         // into which every tile is cut along k, to be added by a second kernel
  TilePlan plan{};       // with parts > 1, of whole tiles
};

// Where every unit begins with a whole tile of the first band, tile u of unit u: there a
// multiplication finds it, and the first copies wait for no division.
struct FirstTiles {
  bool known;
  int rows;  // of tiles in that band
  unsigned
      // kOne / rows, rounded up: exact for units, of which there are fewer than kOne / rows
      inverse;
  static constexpr int kOne = 1 << 16;
};

// Of a plan in bands of so many tile rows.
inline FirstTiles first_tiles(const TilePlan& plan, int band) {
  const int rows = std::min(band, plan.tiles_m);
  const int first = std::min({plan.whole_tiles, plan.narrow.first, rows * plan.tiles_n});
  return {plan.blocks <= first && plan.blocks < FirstTiles::kOne / rows, rows,
          static_cast<unsigned>(ceil_div(FirstTiles::kOne, rows))};
}

// on_lines: whether the lines of A and B start on 128 bytes.
TensorPlan plan_tensor_tiles(const Problem& p, bool on_lines, std::span<const TileShape> shapes,
                             const DeviceFacts& device);

// What a step of k costs beside what TileShape says.
struct SplitCost {
  int products;   // of words
  int line;       // bytes of a row or column in a step, all words
  int word_line;  // of them, of one word
};

// The same of split operands: a step costs as many products as there are pairs of words, and more
// bytes.
TensorPlan plan_split_tiles(const Problem& p, const SplitCost& cost,
                            std::span<const TileShape> shapes, int sms);

}  // namespace ladder
