// SPDX-License-Identifier: Apache-2.0
// Host: which tile a product of split operands is cut into, and how tiles are shared out among SMs.
// As plan_tensor_tiles(), but a step costs as many products as there are pairs of words, and more
// bytes.
#pragma once
#include "gemm/tensor/tensor_plan.cuh"

#include <span>

namespace ladder {

// What a step of k costs beside what TileShape says.
struct SplitCost {
  int products;   // of words
  int line;       // bytes of a row or column in a step, all words
  int word_line;  // of them, of one word
};

inline TensorPlan plan_split_tiles(const Problem& p, const SplitCost& cost,
                                   std::span<const TileShape> shapes, int sms) {
  using namespace plan_detail;
  TensorPlan best;
  double best_clocks = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const TileShape& t = shapes[i];
    Plan plan = plan_whole_tiles(p.m, p.n, p.k, t.m, t.n, t.k, sms);
    const int tiles = plan.whole_tiles, waves = static_cast<int>(ceil_div(tiles, sms));
    // Narrow tiles read A as often, for fewer products. Where warpgroups take turns, tiles are
    // whole.
    const double narrow = t.n >= 256 ? 1.0 : t.n >= 128 ? 1.12 : 1.5;
    const bool in_turns = t.m < 128;
    const double products = cost.products * narrow * t.m * t.n / 32.0 * cost.word_line / 128.0;
    const double step = std::max(products, (t.m + t.n) * cost.line / kLoadBytesPerClock);
    const auto consider = [&](int parts, double clocks) {
      if (clocks >= best_clocks) return;
      best_clocks = clocks;
      best = {i, parts, {plan, {}, false}};
    };
    consider(1, waves * (plan.steps * step + kTileClocks));
    // The last tiles cut so that all blocks have equal shares: of the last two waves, or all where
    // there are not two.
    const double hand_on = kHandOnClocks * t.m * t.n;
    if (in_turns) continue;
    if (tiles > sms) {
      plan.whole_tiles = std::max(waves - 2, 0) * sms;
      plan.cut_tiles = tiles - plan.whole_tiles;
      // Power binds: while SMs idle, the others' clock rises. Less than a tenth won is nothing won.
      constexpr double kWorth = 1.1;
      consider(1, kWorth * (static_cast<double>(tiles) * plan.steps / sms * step + hand_on +
                            waves * kTileClocks));
      plan.whole_tiles = tiles;
      plan.cut_tiles = 0;
    }
    for (int parts = 2; tiles * parts <= sms && plan.steps / parts >= kLeastSteps; ++parts) {
      const double share = static_cast<double>(ceil_div(plan.steps, parts)) * step;
      plan.blocks = tiles * parts;
      // From neighbour to neighbour, one after the other; or all through device memory and a second
      // kernel.
      plan.whole_tiles = 0;
      plan.cut_tiles = tiles;
      consider(1, share + kTileClocks + (parts - 1) * hand_on);
      plan.whole_tiles = tiles;
      plan.cut_tiles = 0;
      const double bytes = 8.0 * tiles * parts * t.m * t.n;
      consider(parts, share + 2 * kTileClocks + kLaunchClocks + bytes / kAddBytesPerClock);
    }
  }
  return best;
}

}  // namespace ladder
