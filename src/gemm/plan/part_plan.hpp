// SPDX-License-Identifier: Apache-2.0
// Which tile a small, thin or deep product on CUDA cores takes and into how many parts of k it is
// cut: the one with the shortest predicted time, in cycles.
#pragma once
#include <cstdint>
#include <span>

namespace ladder {

// A (lines_a, k) times B (k, lines_b). An operand lies along k or along its lines; quads: aligned
// for copies of 16 bytes. ragged: both begin so, whatever their leading dimensions.
struct PartShape {
  std::int64_t lines_a, lines_b, k;
  bool a_along, b_along, a_quads, b_quads, ragged = false;
};

struct PartTileCost {
  bool along;  // for A that lies along k; else it is turned as it is copied
  int bm, bn, bk, wk, threads, blocks_of_sm, sums;  // of a thread
  // Of the multiply-adds that the SM could do, with many warps: bench/h200/sizes.sh.
  double rate;
  // For ragged operands: A as `along` says, B across k; also takes a few lines beyond whole tiles.
  bool ragged = false;

  constexpr bool operator==(const PartTileCost&) const = default;
};

struct PartPlan {
  int tile = 0, cluster = 1, parts = 1;
  double cycles = 0;
  int rest_a = 0, rest_b = 0;  // lines at the end that are left to blocks of their own
};

// Blocks that run at once where an SM has `of_sm`, in clusters. Large clusters leave room that none
// fits into.
std::int64_t part_capacity(int sms, int of_sm, int cluster);

// The tile and the parts of least predicted time. Of tiles for A along k none is taken where A does
// not lie so.
PartPlan plan_parts(const PartShape& whole, std::span<const PartTileCost> tiles, int sms);

// The same with A and B exchanged, C^T = B^T A^T, where that is sooner.
struct SidedPartPlan {
  PartPlan part;
  bool swapped = false;
};
SidedPartPlan plan_sides(const PartShape& x, std::span<const PartTileCost> tiles, int sms);

}  // namespace ladder
