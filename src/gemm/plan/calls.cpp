// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/calls.hpp"

#include <algorithm>
#include <cmath>

#include "gemm/plan/choice.hpp"
#include "problem/split_error.hpp"

namespace ladder {

bool fits_split(const Problem& p) { return std::max({p.m, p.n, p.k}) <= kMaxExtent / 4; }

bool fits_few_tiles(const Problem& p) {
  constexpr std::int64_t kLeastTile = 16;
  return fits_split(p) && ceil_div(p.m, kLeastTile) * ceil_div(p.n, kLeastTile) <= kMaxExtent;
}

SmallWay small_way(const Problem& p) {
  constexpr int kFewK = 4, kManyCols = 64, kFewLines = 4;
  if ((reads_ab(p) ? p.k : 0) <= kFewK && p.n >= kManyCols) return SmallWay::kOuter;
  return std::min(p.m, p.n) <= kFewLines ? SmallWay::kFewLines : SmallWay::kPartsOfK;
}

// Blocks receive equal shares of the split tiles. Forwarding partial sums costs kHandOnSteps steps.
Plan plan_large_tiles(const Problem& p, int bm, int bn, int bk, int sms) {
  constexpr int kHandOnSteps = 4, kLeastShare = 8;
  constexpr int kChains = 4, kChainsFrom = 2048;  // rounding errors grow with a chain of additions
  Plan plan = plan_whole_tiles(p.m, p.n, p.k, bm, bn, bk, sms);
  const int tiles = plan.whole_tiles;
  if (tiles >= sms) {
    const std::int64_t waves = ceil_div(tiles, sms), whole = waves * plan.steps;
    const std::int64_t cut = ceil_div(std::int64_t{tiles} * plan.steps, sms) + kHandOnSteps;
    if (cut < whole)
      plan.whole_tiles = static_cast<int>(std::max<std::int64_t>(waves - 2, 0) * sms);
  } else if (const int shares = std::min(sms / tiles, plan.steps / kLeastShare); shares > 1) {
    plan.blocks = tiles * shares;
    plan.whole_tiles = 0;
  } else if (2 * tiles > sms &&
             tiles * std::int64_t{plan.steps} / sms + kHandOnSteps < plan.steps) {
    plan.blocks = sms;
    plan.whole_tiles = 0;
  }
  plan.cut_tiles = tiles - plan.whole_tiles;
  plan.chain = p.k > kChainsFrom ? static_cast<int>(ceil_div(plan.steps, kChains)) : plan.steps;
  return plan;
}

double guard_budget(double k) {
  return ieee_error(k) - (1 + 0x1p-23) * split_error(Precision::kFp16x3, k).products - 0x1p-23;
}

bool guard_holds(double k) {
  return guard_budget(k) > 0 && split_error(Precision::kBf16x6, k).products <= ieee_error(k);
}

std::optional<SlabRule> slab_rule(double k) {
  constexpr int kSlab = 64, kMostLeft = 16;
  for (const int level : {8, 6}) {
    const double lost = 1.01 * 2 * kSlab * 0x1p-10,
                 least = guard_budget(k) * std::ldexp(1.0, 28 - 2 * level);
    const int left = std::max(1, static_cast<int>(std::ceil(lost / least)));
    if (left <= kMostLeft) return SlabRule{level, static_cast<unsigned>(kSlab - left)};
  }
  return std::nullopt;
}

bool gains_by_guarded_fusing(const Problem& p) {
  return (gains_by_fusing(p) || is_deep(p)) && ends_with_most(p.k) &&
         slab_rule(static_cast<double>(p.k)).has_value();
}

}  // namespace ladder
