// SPDX-License-Identifier: Apache-2.0
// Selects the tile and the number of k-splits of a small, thin or deep product on CUDA cores, by
// the least predicted time in cycles.
#pragma once
#include <cstdint>
#include <span>

namespace ladder {

// A (lines_a, k) times B (k, lines_b). a_along, b_along: the operand is K-major. a_quads, b_quads:
// it is aligned for 16-byte copies. ragged: both operands' first elements are, with any leading
// dimensions.
struct PartShape {
  std::int64_t lines_a, lines_b, k;
  bool a_along, b_along, a_quads, b_quads, ragged = false;
};

struct PartTileCost {
  bool along;  // requires a K-major A; else a K-major A is transposed by the copy
  int bm, bn, bk, wk, threads, blocks_of_sm, sums;  // sums: per thread
  // Fraction of the SM's peak FMA rate that many warps reach: bench/h200/sizes.sh.
  double rate;
  // For ragged operands: A is K-major if `along`, else M-major; B is N-major. A few rows or columns
  // beyond whole tiles are permitted.
  bool ragged = false;

  constexpr bool operator==(const PartTileCost&) const = default;
};

struct PartPlan {
  int tile = 0, cluster = 1, parts = 1;
  double cycles = 0;
  int rest_a = 0, rest_b = 0;  // last rows and columns, computed by separate blocks
};

// Number of blocks that run concurrently, in clusters, with `of_sm` blocks per SM. Large clusters
// leave SMs unused that no further cluster fits.
std::int64_t part_capacity(int sms, int of_sm, int cluster);

// The tile and k-splits of least predicted time. Tiles that require a K-major A are considered only
// if it is.
PartPlan plan_parts(const PartShape& whole, std::span<const PartTileCost> tiles, int sms);

// The same, or with A and B exchanged (C^T = B^T A^T) if that is faster.
struct SidedPartPlan {
  PartPlan part;
  bool swapped = false;
};
SidedPartPlan plan_sides(const PartShape& x, std::span<const PartTileCost> tiles, int sms);

}  // namespace ladder
