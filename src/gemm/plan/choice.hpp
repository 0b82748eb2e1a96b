// SPDX-License-Identifier: Apache-2.0
// Which of the library's kernels a call takes, by shape: limits measured on an H200.
#pragma once
#include "device/shares.hpp"

#include <ladder/problem.hpp>

#include <cstdint>

namespace ladder {

// Where smaller tiles and parts of k pay: where C is thin, or too small for many tiles of
// 128 x 256, or has so few columns that they stay half empty.
bool has_few_tiles(const Problem& p);

// From where the passes, the choice and kernels that end at once cost less than tensor cores gain.
// On an H200 a cube of 768 takes CUDA cores 34 us and words 28.
bool gains_by_words(const Problem& problem);

// Whether of the last 64 of k most are there: for the guard of an operand that is split on its way
// to the product, what is not there counts as lost.
bool ends_with_most(std::int64_t k);

// Where the pass over the operand of more lines would take longer than the product gains by whole
// words.
bool gains_by_fusing(const Problem& p);

// Where C is small and k so deep that its parts fill the device: a pass over one operand is half
// of one over both.
bool is_deep(const Problem& p);

// A product whose operand of more lines is split on its way, in steps of bk.
struct FusedPlan {
  bool wide;      // tiles of 128 columns, or of 64
  int parts = 1;  // of each tile, where all are cut
  Plan plan{};
};
FusedPlan plan_fused(const Problem& p, int bk, int sms);

}  // namespace ladder
