// SPDX-License-Identifier: Apache-2.0
// Selection of the library's kernel by shape. The limits were measured on an H200.
#pragma once
#include "device/shares.hpp"

#include <ladder/problem.hpp>

#include <cstdint>

namespace ladder {

// Whether smaller tiles and split-K pay: C is thin, too small for many tiles of 128 x 256, or has
// so few columns that such tiles stay half empty.
bool has_few_tiles(const Problem& p);

// Whether tensor cores with split operands gain more time than the pre-passes, the choice and the
// kernels that return at once cost. On an H200, m = n = k = 768 takes 34 us on CUDA cores and 28 us
// with split operands.
bool gains_by_words(const Problem& problem);

// Whether the last slab of 64 elements along k is mostly filled. The guard of a fused split counts
// missing elements as below the level.
bool ends_with_most(std::int64_t k);

// Whether the pre-pass of the larger operand would take longer than the product gains from it, so
// that a fused split is faster.
bool gains_by_fusing(const Problem& p);

// Whether C is small and k so large that k-splits fill the device. A pre-pass of one operand then
// takes half the time of one of both.
bool is_deep(const Problem& p);

// Plan of a product with a fused split of the larger operand, in steps of bk.
struct FusedPlan {
  bool wide;      // tiles of 128 columns; else of 64
  int parts = 1;  // k-splits per tile, if all tiles are split
  Plan plan{};
};
FusedPlan plan_fused(const Problem& p, int bk, int sms);

}  // namespace ladder
