// SPDX-License-Identifier: Apache-2.0
// ladder tune --suite: measures the library's plans of FP32 products on CUDA cores, and the two
// forms of a guarded product.
#pragma once
#include <string>
#include <vector>

#include "target.hpp"

#include <ladder/problem.hpp>

namespace ladder::app {

struct PlanTuning {
  std::vector<Problem> problems;
  std::string output;  // the plans that were faster than the planner's, for LADDER_PLANS
  std::string rows;    // every candidate's time as CSV; "": none
  int candidates = 12;
  std::uint64_t seed = 1;
};

// Returns the exit status. Errors: BadInput.
int tune_plans(const PlanTuning& tuning, const Target& target);

}  // namespace ladder::app
