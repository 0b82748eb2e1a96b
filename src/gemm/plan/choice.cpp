// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/choice.hpp"

#include <algorithm>

namespace ladder {

bool ends_with_most(std::int64_t k) {
  constexpr std::int64_t kSlab = 64, kOfLast = 48;
  return k % kSlab == 0 || k % kSlab >= kOfLast;
}

bool has_few_tiles(const Problem& p) {
  constexpr std::int64_t kThin = 64, kHalfTile = 128, kFewK = 4;
  constexpr std::int64_t kSmall = std::int64_t{1} << 19, kSmallSquare = 900'000, kSquare = 512;
  const std::int64_t cols = p.layout == Layout::kRowMajor ? p.n : p.m, least = std::min(p.m, p.n);
  if (least <= kThin || cols <= kHalfTile || p.k <= kFewK) return true;
  return p.m < (least >= kSquare ? kSmallSquare : kSmall) / p.n;
}

namespace {

// Whether the fused split is possible for the larger operand of a row-major problem: a tensor map
// can describe it, and the last slab of 64 along k is mostly filled.
bool splits_on_the_way(const Problem& p) {
  return (p.m > p.n ? p.lda : p.ldb) % 4 == 0 && ends_with_most(p.k);
}

}  // namespace

bool gains_by_words(const Problem& problem) {
  constexpr double kLeast = 760.0 * 760 * 760, kLeastResults = 0x1p17;
  // With fewer rows or columns than this, the pre-pass of the other operand takes longer.
  constexpr std::int64_t kTile = 192;
  // Limits of the fused split, which saves the pre-pass of one operand: C with few rows or columns
  // (at least 48), or C small compared with k (from 256 x 256 with k = 16384).
  constexpr std::int64_t kFew = 48, kMost = 512, kFewOfDeep = 256;
  constexpr double kLeastSplit = 0x1p29, kLeastDeep = 0x1p30;
  const Problem p = as_row_major(problem).problem;
  const auto [few, many] = std::minmax(p.m, p.n);
  const double products = flops(p) / 2;
  const bool thin = few >= kFew && gains_by_fusing(p);
  const bool deep = few >= kFewOfDeep && many <= kMost && products >= kLeastDeep;
  if (((thin && products >= kLeastSplit) || deep) && splits_on_the_way(p)) return true;
  return few >= kTile && static_cast<double>(p.m) * static_cast<double>(p.n) >= kLeastResults &&
         products >= kLeast;
}

bool gains_by_fusing(const Problem& p) {
  constexpr std::int64_t kFew = 512, kMany = 2048, kTimes = 4;
  const auto [few, many] = std::minmax(p.m, p.n);
  return few <= kFew && many >= std::max(kMany, kTimes * few);
}

bool is_deep(const Problem& p) {
  constexpr std::int64_t kMost = 512, kDeep = 4096;
  return std::max(p.m, p.n) <= kMost && p.k >= kDeep;
}

FusedPlan plan_fused(const Problem& p, int bk, int sms) {
  const auto [lines, raw] = std::minmax(p.m, p.n);
  FusedPlan chosen{.wide = lines > 64};
  Plan& plan = chosen.plan;
  plan = plan_whole_tiles(raw, lines, p.k, 128, chosen.wide ? 128 : 64, bk, sms);
  const int tiles = plan.whole_tiles, waves = static_cast<int>(ceil_div(tiles, sms));
  // Stream-K: if the last tiles do not fill a wave, all blocks receive equal shares of them.
  plan.blocks = static_cast<int>(std::min<std::int64_t>(sms, std::int64_t{tiles} * plan.steps));
  plan.whole_tiles = tiles % sms == 0 ? tiles : std::max(waves - 2, 0) * sms;
  plan.cut_tiles = tiles - plan.whole_tiles;
  if (!is_deep(p)) return chosen;
  // Split-K with a second kernel: with so many k-splits, blocks that forward partial sums to one
  // another would wait too long.
  constexpr int kLeastSteps = 4;
  chosen.parts = std::max(1, std::min(sms / tiles, plan.steps / kLeastSteps));
  if (chosen.parts == 1) return chosen;
  plan.blocks = tiles * chosen.parts;
  plan.whole_tiles = 0;
  plan.cut_tiles = tiles;
  return chosen;
}

}  // namespace ladder
