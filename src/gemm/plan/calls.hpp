// SPDX-License-Identifier: Apache-2.0
// Decisions of the library's FP32 kernels, for row-major problems.
#pragma once
#include "device/shares.hpp"

#include <ladder/problem.hpp>

#include <cstdint>
#include <optional>

namespace ladder {

// Whether a problem's sizes fit the kernels for split operands, and those for few tiles.
bool fits_split(const Problem& p);
bool fits_few_tiles(const Problem& p);

// How a small, thin or deep product is computed on CUDA cores.
enum class SmallWay : unsigned char { kOuter, kFewLines, kPartsOfK };
SmallWay small_way(const Problem& p);

// Plan of tiles of bm x bn. The last tiles are split along k (stream-K) if that is faster.
Plan plan_large_tiles(const Problem& p, int bm, int bn, int bk, int sms);

// The error that tiny elements may add to fp16x3, including the compensation's factor, so that it
// stays below SGEMM's.
double guard_budget(double k);
// Whether the error bound of a split product with this k is below SGEMM's.
bool guard_holds(double k);

// The number of elements (`allowed`, of 64) that may be more than `level` binades below their scale
// if the bound is to hold in every slab of 64 along k. None if the number is so small that ordinary
// data would fail.
struct SlabRule {
  int level;
  unsigned allowed;
};
std::optional<SlabRule> slab_rule(double k);

// Whether a guarded product uses the fused split of the larger operand, if a tensor map permits it.
bool gains_by_guarded_fusing(const Problem& p);

}  // namespace ladder
