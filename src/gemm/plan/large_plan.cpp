// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/large_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "gemm/plan/costs.hpp"
#include "gemm/plan/part_plan.hpp"
#include "gemm/plan/tuned_plans.hpp"

namespace ladder {
namespace {

// The tiling with stream-K; nullopt if its schedule would be that of whole tiles, or a block would
// have fewer than share_steps steps. slots: blocks that run at once.
std::optional<Tiling> share_tiles(Tiling plan, int step, int slots) {
  const std::int64_t tiles = plan.whole_tiles, all_steps = tiles * plan.steps;
  const std::int64_t of_step = step / kLargeStep;
  if (tiles >= slots) {
    const std::int64_t waves = ceil_div(tiles, slots);
    if (ceil_div(all_steps, slots) + limit::fixup_steps / of_step >= waves * plan.steps)
      return std::nullopt;
    plan.whole_tiles = static_cast<int>(std::max<std::int64_t>(waves - 2, 0) * slots);
  } else {
    // Tiles that all have the same number of blocks have fewer shares to add.
    constexpr double kFewIdle = 0.05;
    const std::int64_t most =
                           std::min<std::int64_t>(slots, all_steps * of_step / limit::share_steps),
                       equal = most / tiles * tiles;
    if (most <= tiles) return std::nullopt;
    const std::int64_t blocks =
        static_cast<double>(most - equal) <= kFewIdle * static_cast<double>(most) ? equal : most;
    plan.blocks = static_cast<int>(blocks);
    plan.whole_tiles = 0;
  }
  plan.split_tiles = static_cast<int>(tiles) - plan.whole_tiles;
  return plan;
}

struct Side {
  bool along_k, aligned;
  double elements;
};

std::pair<Side, Side> sides_of(const Problem& p, const Alignment& at) {
  const auto side = [&](bool along_k, int address, std::int64_t ld, std::int64_t vectors) {
    return Side{along_k, address % 16 == 0 && (ld | (along_k ? p.k : vectors)) % 4 == 0,
                static_cast<double>(vectors) * static_cast<double>(p.k)};
  };
  return {side(p.op_a == Op::kNone, at.a, p.lda, p.m), side(p.op_b != Op::kNone, at.b, p.ldb, p.n)};
}

}  // namespace

double large_cycles(const Problem& p, const Alignment& at, const LargePlan& plan,
                    const LargeTileCost& t, int sms) {
  const auto [a, b] = sides_of(p, at);
  const Tiling& tiling = plan.tiling;
  const double bytes_ab = 4.0 * (a.elements + b.elements),
               beyond = std::max(0.0, 1 - thin_cost::cached_bytes / bytes_ab);
  double step = t.step, cycles = large_cost::launch, along_k = 0;
  const bool by_element = !plan.packs && !(a.aligned && b.aligned);
  for (const auto& [x, vectors] : {std::pair{a, t.m}, std::pair{b, t.n}}) {
    const bool packed = plan.packs && !x.aligned;
    if (packed) cycles += large_cost::pack + large_cost::packed * x.elements / sms;
    if (by_element) step += large_cost::element * vectors * t.k;
    if (x.along_k && !packed) along_k += vectors;
  }
  step += t.from_memory * beyond * along_k / (t.m + t.n);
  // Copies of K-major rows cost time by the square of their number with steps of 8, and none with
  // steps of 16, which copy twice as many bytes of a row at once.
  if (t.k == kLargeStep)
    step += (by_element ? large_cost::element_along_k : large_cost::along_k) * along_k * along_k;
  // Cycles of one step of every block of an SM that has one of `blocks` blocks, or several.
  const auto step_of = [&](std::int64_t blocks, std::int64_t most_alone) {
    if (blocks > most_alone) return step * t.blocks_of_sm;
    return t.blocks_of_sm > 1 ? step * large_cost::alone : step;
  };
  const std::int64_t all = std::int64_t{tiling.tiles_m} * tiling.tiles_n,
                     waves = ceil_div(all, tiling.blocks);
  if (plan.shares) {
    const auto shares = static_cast<double>(ceil_div(all * tiling.steps, tiling.blocks));
    const double sums = t.m * t.n * t.blocks_of_sm;
    cycles += step_of(tiling.blocks, sms) * shares +
              sums * (large_cost::split +
                      large_cost::share * std::max(1.0, static_cast<double>(tiling.blocks) /
                                                            static_cast<double>(all)));
  } else {
    // Which of the running blocks share an SM is the hardware's choice. If over half as many as
    // there are SMs have a tile of the last wave, some of them do.
    const std::int64_t last = all - (waves - 1) * tiling.blocks,
                       most_alone = waves > 1 ? sms / 2 : sms;
    cycles += tiling.steps * (static_cast<double>(waves - 1) * step_of(tiling.blocks, sms) +
                              step_of(last, most_alone));
  }
  const double ragged = p.n % 4 != 0 ? large_cost::store_ragged * t.m * t.n : 0;
  cycles += (t.tile + ragged) * static_cast<double>(waves);
  const double bytes = 4.0 * static_cast<double>(p.m) * static_cast<double>(p.n);
  return std::max(
      {cycles, bytes / (large_cost::stores_per_cycle * sms), memory_cycles(bytes_ab, sms)});
}

void each_large_plan(const Problem& p, const Alignment& at, int sms,
                     const std::function<void(const LargePlan&)>& visit) {
  constexpr int kChains = 4, kChainsFrom = 2048;  // rounding errors grow with a chain of additions
  const auto [a, b] = sides_of(p, at);
  const bool all_aligned = a.aligned && b.aligned;
  for (std::size_t i = 0; i < kLargeTiles.size(); ++i) {
    const LargeTileCost& t = kLargeTiles[i];
    const int slots = sms * t.blocks_of_sm;
    Tiling whole = plan_whole_tiles(p.m, p.n, p.k, t.m, t.n, t.k, slots);
    if (p.k > kChainsFrom) whole.chain = static_cast<int>(ceil_div(whole.steps, kChains));
    for (const bool shares : {false, true}) {
      const std::optional<Tiling> tiling = shares ? share_tiles(whole, t.k, slots) : whole;
      if (!tiling) continue;
      for (const bool packs : {false, true}) {
        if (packs && all_aligned) continue;
        LargePlan plan{static_cast<int>(i), shares, packs, *tiling};
        plan.cycles = large_cycles(p, at, plan, t, sms);
        visit(plan);
      }
    }
  }
}

LargePlan plan_large_tiles(const Problem& p, const Alignment& at, int sms) {
  if (const auto tuned = TunedPlans::of_process().find(part_shape(p, at), sms);
      tuned && tuned->large)
    return *tuned->large;
  LargePlan best;
  each_large_plan(p, at, sms, [&](const LargePlan& plan) {
    if (best.cycles == 0 || plan.cycles < best.cycles) best = plan;
  });
  return best;
}

}  // namespace ladder
