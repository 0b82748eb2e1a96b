// SPDX-License-Identifier: Apache-2.0
// Plans large tiles on CUDA cores, whole or shared by blocks along k, by the least predicted time.
#pragma once
#include "device/tiling.hpp"
#include "gemm/plan/facts.hpp"

#include <ladder/problem.hpp>

#include <array>
#include <cstddef>
#include <functional>

namespace ladder {

struct LargeTileCost {
  int m, n;            // outputs
  int k;               // per stage
  int blocks_of_sm;    // that run on an SM at once
  double step;         // cycles of one of them per stage
  double from_memory;  // further cycles per stage if K-major operands exceed L2
  double tile;         // cycles per tile: first copies and store
};
inline constexpr int kLargeStep = 8;  // k per stage and group of warps
inline constexpr std::array kLargeTiles{
#define LADDER_LARGE_TILE(BM, BN, WK, STAGES, blocks, step, from_memory, tile) \
  LargeTileCost{BM, BN, kLargeStep * WK, blocks, step, from_memory, tile},
#include "gemm/plan/large_tiles.inc"
#undef LADDER_LARGE_TILE
};

struct LargePlan {
  int tile = 0;         // of kLargeTiles
  bool shares = false;  // all blocks have as many steps of k (stream-K), of all tiles or the last
  bool packs = false;   // operands that are not aligned; else they are copied element by element
  Tiling tiling{};
  double cycles = 0;  // predicted

  const LargeTileCost& shape() const { return kLargeTiles[static_cast<std::size_t>(tile)]; }
  // Whether the launches are the same.
  bool operator==(const LargePlan& other) const {
    return tile == other.tile && shares == other.shares && packs == other.packs;
  }
};

// Calls `visit` with every plan that is considered. `p` is row-major, and C is not empty.
void each_large_plan(const Problem& p, const Alignment& at, int sms,
                     const std::function<void(const LargePlan&)>& visit);

// The predicted time of one of them, with its tile.
double large_cycles(const Problem& p, const Alignment& at, const LargePlan& plan,
                    const LargeTileCost& tile, int sms);

// The measured plan of TunedPlans, or the one of least predicted time.
LargePlan plan_large_tiles(const Problem& p, const Alignment& at, int sms);

}  // namespace ladder
