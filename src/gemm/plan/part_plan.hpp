// SPDX-License-Identifier: Apache-2.0
// The plans of ladder_split_k, for small, thin or deep products on CUDA cores: the kernel, its tile
// or its share of threads, and the number of k-splits, by the least predicted time in cycles.
#pragma once
#include "gemm/plan/choice.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string_view>

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

// The problem of a row-major call, and the one with A and B exchanged: C^T = B^T A^T.
PartShape part_shape(const Problem& p, const Alignment& at);
// Whether the elements of op(A)'s rows, or of op(B)'s columns, are neighbours in memory.
constexpr bool is_a_k_major(const Problem& p) {
  return p.op_a == Op::kNone || (p.m == 1 && p.lda == 1);
}
constexpr bool is_b_k_major(const Problem& p) {
  return p.op_b != Op::kNone || (p.n == 1 && p.ldb == 1);
}
PartShape swapped(const PartShape& x);

// Tiles (SmallKernel::kSplitK).

struct PartTileCost {
  bool k_major;  // requires a K-major A; else a K-major A is transposed by the copy
  int bm, bn, bk, wk, threads, sums;  // sums: per thread
  // Blocks of an SM at once, and in clusters, where a block has shared memory for the others' sums.
  int blocks_of_sm, of_clusters;
  int of_sm(int cluster) const { return cluster > 1 ? of_clusters : blocks_of_sm; }
  bool of_batch;      // a kernel for batches exists
  double rate;        // fraction of the SM's peak FMA rate that many warps reach, without copies
  double transposed;  // cycles of a copy with transposition, per 32 elements
  // Cycles of a product without steps of k: launch, code that is fetched, first copies, one tile's
  // store.
  double start;
};
inline constexpr std::array kPartTiles{
#define LADDER_PART_TILE(k_major, TM, TN, lanes_m, lanes_n, WM, WN, WK, BK, STAGES, ...) \
  PartTileCost{k_major, TM * lanes_m * WM, TN * lanes_n * WN, BK,                        \
               WK,      32 * WM * WN * WK, TM * TN,           __VA_ARGS__},
#include "gemm/plan/part_tiles.inc"
#undef LADDER_PART_TILE
};

inline constexpr int kMostCluster = 8;

// Each tile (of kPartTiles) is computed by `parts` clusters of `cluster` blocks; each block has a
// k-split.
struct PartPlan {
  int tile = 0, cluster = 1, parts = 1;
  double cycles = 0;

  // Whether the launches are the same; `cycles` is a prediction.
  constexpr bool operator==(const PartPlan& other) const {
    return tile == other.tile && cluster == other.cluster && parts == other.parts;
  }
};

// Number of blocks that run concurrently, in clusters, with `of_sm` blocks per SM. Large clusters
// leave SMs unused that no further cluster fits.
std::int64_t part_capacity(int sms, int of_sm, int cluster);

// Whether a kernel of so many blocks releases its dependent at the start: the blocks of both run
// concurrently.
inline bool releases_early(std::int64_t blocks, std::int64_t capacity) {
  return 2 * blocks <= capacity;
}

// Calls `visit` with every tile and number of k-splits that is considered. Tiles that require a
// K-major A are considered only if it is. A tile is left out if may_be_best(a time that none of its
// plans goes below) is false.
void each_part_plan(const PartShape& x, int sms, const std::function<void(const PartPlan&)>& visit,
                    const std::function<bool(double)>& may_be_best = {});

// The predicted time of one of them, with its tile.
double part_cycles(const PartShape& x, const PartPlan& plan, const PartTileCost& tile, int sms);

// The plan of least predicted time.
PartPlan plan_parts(const PartShape& x, int sms);

// The same, or with A and B exchanged (C^T = B^T A^T) if that is faster.
struct SidedPartPlan {
  PartPlan part;
  bool swapped = false;
  constexpr bool operator==(const SidedPartPlan&) const = default;
};
SidedPartPlan plan_sides(const PartShape& x, int sms);

// Products of few rows, columns or elements of C (SmallKernel::kThin).

inline constexpr int kMostThinLanes = 8;                  // log2
inline constexpr int kThinThreads = 256, kThinStep = 32;  // per block; k is split in such steps

enum class ThinKind {
  kRows,    // 1 to kThinVectors rows; 2^lanes threads share four columns of a K-major B, else a row
  kDirect,  // any small number of rows; 2^lanes threads share a column, and nothing else is shared
  kDots,    // any number of rows; a block of 2^lanes threads computes `outputs` elements of C
};
struct ThinPlan {
  ThinKind kind = ThinKind::kRows;
  bool along_k = false;  // B is K-major
  int lanes = 0, parts = 1;
  int outputs = 4;  // columns per group of threads; of kDots, elements of C per block
  double cycles = 0;

  constexpr bool operator==(const ThinPlan& other) const {
    return kind == other.kind && along_k == other.along_k && lanes == other.lanes &&
           outputs == other.outputs && parts == other.parts;
  }
};
constexpr std::array<std::string_view, 3> kThinNames{"thin", "direct", "dots"};  // of each kind

// A block's tile with ThinKind::kDots: 1 x 1, 1 x 4 or 4 x 4.
constexpr int dot_rows(int outputs) { return outputs == 16 ? 4 : 1; }
constexpr int dot_columns(int outputs) { return outputs == 1 ? 1 : 4; }
inline constexpr int kMostDotThreads = 512;
// Groups of four k that a thread reads at once.
constexpr int dots_at_once(const ThinPlan& plan) {
  return plan.outputs == 1 && 1 << plan.lanes == kMostDotThreads ? 2 : 1;
}

// Loads of four elements that a thread of the kernels has in flight: of each of its columns of a
// K-major B, and else.
inline constexpr int kThinLoadsAlong = 2;
constexpr int thin_loads_across(int rows) { return rows <= 2 || rows == 8 ? 8 : 4; }

// Blocks that run on an SM at once.
constexpr int thin_blocks_along(int rows) { return rows <= 2 ? 3 : 2; }
constexpr int thin_blocks_across(int rows) { return rows == 1 ? 4 : rows <= 4 ? 3 : 2; }

// Columns of a block of ThinKind::kRows.
int thin_columns(const ThinPlan& plan);

// Number of blocks that run concurrently, for a product of `rows` rows.
std::int64_t thin_capacity(const ThinPlan& plan, int rows, int sms);

// Its predicted time.
double thin_cycles(const PartShape& x, const ThinPlan& plan, int sms);

// Calls `visit` with every plan that is considered.
void each_thin_plan(const PartShape& x, int sms, const std::function<void(const ThinPlan&)>& visit);

// The plan of least predicted time; of 0 cycles where there is none.
ThinPlan plan_thin(const PartShape& x, int sms);

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

// The least cycles in which `bytes` of operands come from memory; 0 if L2 holds them.
double memory_cycles(double bytes, int sms);

}  // namespace ladder
