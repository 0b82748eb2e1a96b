// SPDX-License-Identifier: Apache-2.0
// What the library's kernels for FP32 decide before they run, of row-major problems.
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

// Tiles of bm x bn, the last ones cut where that ends sooner.
Plan plan_large_tiles(const Problem& p, int bm, int bn, int bk, int sms);

// What tiny elements may add to fp16x3's error, so that it stays below SGEMM's; compensation may
// add its own factor.
double guard_budget(double k);
// Whether the sums of k products in words have a bound below SGEMM's.
bool guard_holds(double k);

// How many elements of 64 may be how far below their scale for the bound to hold in each 64 of k by
// itself; none where so few may be that data without a flaw would not pass.
struct SlabRule {
  int level;
  unsigned allowed;
};
std::optional<SlabRule> slab_rule(double k);

// Whether a guarded product splits the operand of more lines on its way, if tensor maps take it.
bool gains_by_guarded_fusing(const Problem& p);

}  // namespace ladder
