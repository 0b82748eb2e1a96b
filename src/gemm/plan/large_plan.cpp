// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/large_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "gemm/plan/costs.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/plan/tuned_plans.hpp"

namespace ladder {
namespace {

std::optional<Tiling> share_tiles(Tiling plan, Shares shares, int sms) {
  constexpr int kChains = 4, kChainsFrom = 2048;  // rounding errors grow with a chain of additions
  const std::int64_t tiles = plan.whole_tiles, all_steps = tiles * plan.steps;
  if (shares == Shares::kEqual) {
    const std::int64_t each = std::min(sms / tiles, plan.steps / limit::share_steps);
    if (each < 2) return std::nullopt;
    plan.blocks = static_cast<int>(tiles * each);
    plan.whole_tiles = 0;
  } else if (shares == Shares::kAll && tiles >= sms) {
    const std::int64_t waves = ceil_div(tiles, sms);
    if (ceil_div(all_steps, sms) + limit::fixup_steps >= waves * plan.steps) return std::nullopt;
    plan.whole_tiles = static_cast<int>(std::max<std::int64_t>(waves - 2, 0) * sms);
  } else if (shares == Shares::kAll) {
    const std::int64_t blocks = std::min<std::int64_t>(sms, all_steps / limit::share_steps);
    if (blocks <= tiles || blocks % tiles == 0) return std::nullopt;
    plan.blocks = static_cast<int>(blocks);
    plan.whole_tiles = 0;
  }
  plan.split_tiles = static_cast<int>(tiles) - plan.whole_tiles;
  constexpr int kDepth = 8;
  plan.chain = plan.steps > kChainsFrom / kDepth ? static_cast<int>(ceil_div(plan.steps, kChains))
                                                 : plan.steps;
  return plan;
}

// Cycles of the copies for one step of k, per row of op(A) or column of op(B).
double copy(bool along_k, bool aligned) {
  return along_k ? (aligned ? large_cost::copy_along : large_cost::shift_along)
                 : (aligned ? large_cost::copy : large_cost::shift);
}

// An operand as the kernel reads it.
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

double large_cycles(const Problem& p, const Alignment& at, const LargePlan& plan) {
  const auto [a, b] = sides_of(p, at);
  const TileShape& t = kLargeTiles[plan.tile];
  const Tiling& tiling = plan.tiling;
  const bool aligned = plan.packs || (a.aligned && b.aligned);
  const auto step_of = [&](const Side& x, int vectors) {
    return vectors * copy(x.along_k && (x.aligned || !plan.packs), aligned);
  };
  const double step = large_cost::step + step_of(a, plan.swapped ? t.n : t.m) +
                      step_of(b, plan.swapped ? t.m : t.n);
  double pack = 0;
  for (const Side& x : {a, b}) {
    if (plan.packs && !x.aligned)
      pack += large_cost::pack + large_cost::packed * x.elements / tiling.blocks;
  }
  const std::int64_t tiles = std::int64_t{tiling.tiles_m} * tiling.tiles_n,
                     waves = ceil_div(tiles, tiling.blocks),
                     steps = plan.shares == Shares::kNone
                                 ? waves * tiling.steps
                                 : ceil_div(tiles * tiling.steps, tiling.blocks);
  double cycles =
      large_cost::launch + pack + step * static_cast<double>(steps) +
      (large_cost::tile + (plan.swapped ? large_cost::turned : 0)) * static_cast<double>(waves);
  if (plan.shares != Shares::kNone) {
    cycles += large_cost::split +
              large_cost::share *
                  std::max(1.0, static_cast<double>(tiling.blocks) / static_cast<double>(tiles));
  }
  const double bytes = 4.0 * static_cast<double>(p.m) * static_cast<double>(p.n);
  return std::max(cycles, bytes / (large_cost::stores_per_cycle * tiling.blocks));
}

namespace {

template <class Visit>
void each_plan(const Problem& p, const Alignment& at, int sms, Visit visit) {
  const auto [a, b] = sides_of(p, at);
  const int packs = a.aligned && b.aligned ? 0 : 1;
  for (std::size_t i = 0; i < kLargeTiles.size(); ++i) {
    const TileShape& t = kLargeTiles[i];
    for (const bool swapped : {false, true}) {
      const auto [rows, cols] = swapped ? std::pair{p.n, p.m} : std::pair{p.m, p.n};
      const Tiling whole = plan_whole_tiles(rows, cols, p.k, t.m, t.n, t.k, sms);
      for (const Shares shares : {Shares::kNone, Shares::kEqual, Shares::kAll}) {
        const auto tiling = share_tiles(whole, shares, sms);
        if (!tiling) continue;
        for (int packed = 0; packed <= packs; ++packed) {
          LargePlan plan{i, swapped, shares, packed == 1, *tiling};
          plan.cycles = large_cycles(p, at, plan);
          visit(plan);
        }
      }
    }
  }
}

}  // namespace

void each_large_plan(const Problem& p, const Alignment& at, int sms,
                     const std::function<void(const LargePlan&)>& visit) {
  each_plan(p, at, sms, visit);
}

LargePlan plan_large_tiles(const Problem& p, const Alignment& at, int sms) {
  if (const auto tuned = TunedPlans::of_process().find(part_shape(p, at), sms);
      tuned && tuned->large)
    return *tuned->large;
  std::optional<LargePlan> best;
  each_plan(p, at, sms, [&](const LargePlan& plan) {
    if (!best || plan.cycles < best->cycles) best = plan;
  });
  return *best;
}

}  // namespace ladder
