// SPDX-License-Identifier: Apache-2.0
// Selects the tile and the number of k-splits of a small, thin or deep product on CUDA cores, by
// the least predicted time in cycles.
#pragma once
#include "gemm/plan/choice.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <span>

namespace ladder {

// The product of op(A), `rows` x k, and op(B), k x `cols`. a_k_major, b_k_major: how the operands
// lie. a_aligned, b_aligned: 16-byte copies are possible.
struct PartShape {
  std::int64_t rows, cols, k;
  bool a_k_major, b_k_major, a_aligned, b_aligned;
  std::int64_t batch = 1;  // products of one launch; with more than one there are no k-splits
  bool turned = false;     // C^T is computed: neighbours in a column of C are in a row in memory

  auto operator<=>(const PartShape&) const = default;
};

struct PartTileCost {
  bool k_major;  // requires a K-major A; else a K-major A is transposed by the copy
  int bm, bn, bk, wk, threads, blocks_of_sm, sums;  // sums: per thread
  // Fraction of the SM's peak FMA rate that many warps reach: bench/h200/sizes.sh.
  double rate;
  bool of_batch = true;  // a kernel for batches exists
  // Cycles of a product without steps of k: launch, code that is fetched, first copies, one tile's
  // store.
  double start = 0;

  constexpr bool operator==(const PartTileCost&) const = default;
};

inline constexpr int kMostCluster = 4;

struct PartPlan {
  int tile = 0, cluster = 1, parts = 1;
  double cycles = 0;

  // Whether the launches are the same; `cycles` is a prediction.
  constexpr bool operator==(const PartPlan& other) const {
    return tile == other.tile && cluster == other.cluster && parts == other.parts;
  }
};

// The least cycles in which `bytes` of operands come from memory; 0 if L2 holds them.
double memory_cycles(double bytes, int sms);

// Number of blocks that run concurrently, in clusters, with `of_sm` blocks per SM. Large clusters
// leave SMs unused that no further cluster fits.
std::int64_t part_capacity(int sms, int of_sm, int cluster);

// The problem of a row-major call, and the one with A and B exchanged: C^T = B^T A^T.
PartShape part_shape(const Problem& p, const Alignment& at);
PartShape swapped(const PartShape& x);

// Calls `visit` with every tile and number of k-splits that is considered. Tiles that require a
// K-major A are considered only if it is.
void each_part_plan(const PartShape& x, std::span<const PartTileCost> tiles, int sms,
                    const std::function<void(const PartPlan&)>& visit);

// The predicted time of one of them.
double part_cycles(const PartShape& x, const PartPlan& plan, std::span<const PartTileCost> tiles,
                   int sms);

// The plan of least predicted time.
PartPlan plan_parts(const PartShape& x, std::span<const PartTileCost> tiles, int sms);

// The same, or with A and B exchanged (C^T = B^T A^T) if that is faster.
struct SidedPartPlan {
  PartPlan part;
  bool swapped = false;
  constexpr bool operator==(const SidedPartPlan&) const = default;
};
SidedPartPlan plan_sides(const PartShape& x, std::span<const PartTileCost> tiles, int sms);

// A product of few rows. Of a K-major B, 2^lanes threads compute `columns` columns; else, four.
// direct: a small product of any number of rows, whose threads share nothing.
struct ThinPlan {
  bool along_k = false, direct = false;
  int lanes = 0, columns = 4, parts = 1;
  double cycles = 0;

  constexpr bool operator==(const ThinPlan& other) const {
    return along_k == other.along_k && direct == other.direct && lanes == other.lanes &&
           columns == other.columns && parts == other.parts;
  }
};

// The plan of ladder_split_k for a row-major problem. `sided` is that of SmallKernel::kSplitK; of
// the others only `swapped` is set.
struct SmallPlan {
  SmallKernel kernel;
  SidedPartPlan sided{};
  ThinPlan thin{};

  constexpr double cycles() const {  // predicted; 0 of kOuterProduct
    return kernel == SmallKernel::kThin ? thin.cycles : sided.part.cycles;
  }
};
SmallPlan plan_small(const Problem& p, const Alignment& at, const DeviceFacts& device);

// The plan of a batch of products that one launch computes with tiles of ladder_split_k.
SidedPartPlan plan_batch(const Problem& p, const Alignment& at, std::int64_t count,
                         const DeviceFacts& device);

}  // namespace ladder
