// SPDX-License-Identifier: Apache-2.0
// Selects the tile of a product on tensor cores, and the assignment of tiles to SMs, by the least
// predicted time in SM clocks. Pure functions of the problem and the device's facts.
#pragma once
#include "device/tiling.hpp"
#include "gemm/plan/facts.hpp"

#include <ladder/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace ladder {

struct TileShape {
  int m, n, k;     // outputs (m x n), and k per stage
  int blocks;      // in the cluster that computes it with multicast
  int narrow = 0;  // width of the last tiles instead of n; 0: none
  int parts = 1;   // k-splits, one block each, added within the cluster

  constexpr bool operator==(const TileShape&) const = default;
};

// The last tiles are narrower than the others if full tiles would leave SMs idle in the last wave.
// They begin in the band where the others end. If their width is not a multiple of B's box, the
// whole boxes of all narrow tiles of a tile row are contiguous from the row's first column on, and
// the partial boxes follow.
struct NarrowTiles {
  int first = std::numeric_limits<int>::max();  // first narrow tile
  int width;
  int m, rows, col;            // rest of that band: tile rows from m, columns from col
  int columns, later_columns;  // tiles along n there; in later bands
};

// A plan with tiles of up to two widths.
struct TilePlan : Tiling {
  NarrowTiles narrow;
  bool once;  // every unit (block or cluster) has at most one tile or share; set by the launcher
};

struct TensorPlan {
  std::size_t tile = 0;  // index of the shape
  int parts = 1;         // k-splits per tile, added by a second kernel
  TilePlan plan{};       // if parts > 1: of whole tiles
  TileShape shape{};
  double clocks = 0;  // predicted, per SM
};

// If every unit u (a block or cluster) begins with whole tile u of the first band, a multiplication
// finds the tile's position, so that the first copies need not wait for a division.
struct FirstTiles {
  bool known;
  int rows;  // tile rows in that band
  // kOne / rows, rounded up: exact for units, of which there are fewer than kOne / rows.
  unsigned inverse;
  static constexpr int kOne = 1 << 16;
};

// `band`: tile rows per band.
inline FirstTiles first_tiles(const TilePlan& plan, int band) {
  const int rows = std::min(band, plan.tiles_m);
  const int first = std::min({plan.whole_tiles, plan.narrow.first, rows * plan.tiles_n});
  return {plan.blocks <= first && plan.blocks < FirstTiles::kOne / rows, rows,
          static_cast<unsigned>(ceil_div(FirstTiles::kOne, rows))};
}

// aligned: whether the rows of A and B in memory begin at cache lines of 128 bytes.
TensorPlan plan_tensor_tiles(const Problem& p, bool aligned, std::span<const TileShape> shapes,
                             const DeviceFacts& device);
// The same for 8-bit, 16-bit or tf32 operands (`bytes` per element) with the tiles of their menu.
TensorPlan plan_tensor(const Problem& p, int bytes, const Alignment& at, const DeviceFacts& device);

// Cost of a step of k of split operands.
struct SplitCost {
  int products;    // of terms
  int bytes;       // per row or column and step, all terms
  int term_bytes;  // per row or column and step, one term

  constexpr bool operator==(const SplitCost&) const = default;
};

// The same for split operands: a step has one product per pair of terms, and more bytes.
// second_kernel: permits k-splits that a second kernel adds.
TensorPlan plan_split_tiles(const Problem& p, const SplitCost& cost,
                            std::span<const TileShape> shapes, int sms, bool second_kernel = true);

// A product with a fused split of the larger operand of a row-major problem. If that is B, C^T is
// computed.
struct FusedPlan {
  bool raw_is_a;  // the larger operand
  TileShape shape;
  int parts = 1;  // k-splits per tile, if all tiles are split
  Tiling plan{};
};
FusedPlan plan_fused(const Problem& p, int sms);

}  // namespace ladder
