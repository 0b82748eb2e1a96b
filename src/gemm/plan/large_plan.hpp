// SPDX-License-Identifier: Apache-2.0
// Selects the tile of a large product on CUDA cores, and how blocks share tiles along k, by the
// least predicted time in cycles.
#pragma once
#include "device/tiling.hpp"
#include "gemm/plan/facts.hpp"

#include <ladder/problem.hpp>

#include <cstddef>
#include <functional>

namespace ladder {

// How blocks share tiles along k: not at all; each tile has the same number of blocks; all blocks
// have the same number of steps (stream-K), of the last two waves of tiles if there are more.
enum class Shares { kNone, kEqual, kAll };

struct LargePlan {
  std::size_t tile = 0;  // of kLargeTiles
  bool swapped = false;  // C^T = B^T A^T is computed
  Shares shares = Shares::kNone;
  bool packs = false;  // operands that are not 16-byte aligned are packed first
  Tiling tiling{};
  double cycles = 0;  // predicted

  // Whether the launches are the same.
  bool operator==(const LargePlan& other) const {
    return tile == other.tile && swapped == other.swapped && shares == other.shares &&
           packs == other.packs;
  }
};

// Calls `visit` with every plan that is considered. `p` is row-major, and C is not empty.
void each_large_plan(const Problem& p, const Alignment& at, int sms,
                     const std::function<void(const LargePlan&)>& visit);

// The predicted time of one of them.
double large_cycles(const Problem& p, const Alignment& at, const LargePlan& plan);

// The measured plan of TunedPlans, or the one of least predicted time.
LargePlan plan_large_tiles(const Problem& p, const Alignment& at, int sms);

}  // namespace ladder
