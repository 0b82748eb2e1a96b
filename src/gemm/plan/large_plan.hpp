// SPDX-License-Identifier: Apache-2.0
// Plans large tiles on CUDA cores, of C or C^T, whole or shared by blocks along k, by the least
// predicted time in cycles.
#pragma once
#include "device/tiling.hpp"
#include "gemm/plan/facts.hpp"

#include <ladder/problem.hpp>

#include <functional>

namespace ladder {

struct LargePlan {
  bool swapped = false;  // C^T = B^T A^T is computed
  bool shares = false;   // all blocks have as many steps of k (stream-K), of all tiles or the last
  Tiling tiling{};
  double cycles = 0;  // predicted

  // Whether the launches are the same.
  bool operator==(const LargePlan& other) const {
    return swapped == other.swapped && shares == other.shares;
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
