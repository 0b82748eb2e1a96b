// SPDX-License-Identifier: Apache-2.0
// Which of the library's kernels a call takes, by shape. The limits are rows of costs.inc.
#pragma once
#include "gemm/plan/facts.hpp"

#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <limits>
#include <optional>
#include <string_view>

namespace ladder {

struct KernelChoice {
  std::string_view kernel, why;  // kernel: id as printed by `ladder list`
  bool splits = false;           // operands into terms
};
// A kernel that the device does not run is refused by its `accepts`.
KernelChoice choose_kernel(const Problem& problem, Precision precision, const DeviceFacts& device);

// The kernels of every GPU, by precision: ladder_strided and, from compute capability 8.0 on, those
// of mma.sync. They compute whole tiles, each by one block.
struct EveryGpuTile {
  Precision precision;
  std::string_view kernel;
  int m, n, k;   // of a tile, and k of a stage
  int products;  // of terms
  double rate;   // of the 16-bit rate of tensor cores; 0: CUDA cores
  int min_cc;
  // Whether auto may take it. Not bf16x3: its bound is below IEEE's for a large k, where IEEE's
  // grows, but its errors reach the bound.
  bool automatic;
};
inline constexpr EveryGpuTile kEveryGpuTiles[] = {
    {Precision::kIeee, "ladder_strided", 128, 128, 8, 1, 0, 75, true},
    {Precision::kBf16x6, "ladder_mma_bf16x6", 128, 128, 32, 6, 1, 80, true},
    {Precision::kTf32x3, "ladder_mma_tf32x3", 128, 128, 32, 3, 0.5, 80, true},
    {Precision::kBf16x3, "ladder_mma_bf16x3", 128, 128, 32, 3, 1, 80, false},
};
const EveryGpuTile* find_every_gpu_tile(std::string_view kernel);
// The tile for `count` products of this size: ladder_strided has a smaller one, for C that has
// fewer large tiles than the device has SMs. Either gives the same bits.
EveryGpuTile tile_for(EveryGpuTile tile, std::int64_t m, std::int64_t n, std::int64_t count,
                      int sms);
// Predicted clocks per SM; infinite where the device's rate is unknown.
double every_gpu_clocks(const EveryGpuTile& tile, const Problem& p, const DeviceFacts& device);

// Whether one launch computes a batch of FP32 products faster than a launch per product: each alone
// would leave most of a Hopper GPU idle.
bool gains_by_one_launch(const Problem& problem, std::int64_t count, Precision precision,
                         const DeviceFacts& device);

// Whether a problem's sizes fit ladder_split_k.
bool fits_split_k(const Problem& p);

// The kernels of ladder_split_k, for row-major problems: for a small k, for at most kThinVectors
// rows or columns of C, and for all.
enum class SmallKernel : unsigned char { kOuterProduct, kThin, kSplitK };
inline constexpr int kThinVectors = 16;
bool takes_outer_product(const Problem& p);

// The error that tiny elements may add to fp16x3, including the compensation's factor, so that it
// stays below SGEMM's.
double guard_budget(double k);
// Whether the error bound of a split product with this k is below SGEMM's by so much that it can be
// proved for operands with tiny elements.
bool guard_holds(double k);

// The number of elements (`allowed`, of 64) that may be more than `level` binades below their scale
// if the bound is to hold in every slab of 64 along k. None if the number is so small that ordinary
// data would fail.
struct SlabRule {
  int level;
  unsigned allowed;
};
std::optional<SlabRule> slab_rule(double k);

// The fused split of the larger operand ("raw") of a row-major problem: whether that is A; whether
// a tensor map can describe it; and whether a call takes the fused split, which is predicted to be
// faster than a pre-pass over both operands.
inline bool raw_is_a(const Problem& p) { return p.m > p.n; }
bool fits_fused(const Problem& p, const Alignment& at);
bool takes_fused(const Problem& p, const Alignment& at, bool guarded, int sms);

// Up to this k, one kernel of the pre-pass splits M- and N-major operands. Beyond it, the strips
// that clusters read twice exceed L2 together, and a second kernel splits.
inline constexpr int kStripsDepth = 8192;

// Predicted cycles of a guarded product with a pre-pass over both operands, and with a fused split;
// infinite where it is not possible.
struct GuardedCycles {
  double prepass = std::numeric_limits<double>::infinity(),
         fused = std::numeric_limits<double>::infinity();
};
GuardedCycles guarded_cycles(const Problem& p, const Alignment& at, int sms);

}  // namespace ladder
