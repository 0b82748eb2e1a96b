// SPDX-License-Identifier: Apache-2.0
// ladder tune for what has no search space: the blocks into which the CPU rungs h04 and h05 divide
// a product, and the library's plans.
#pragma once
#include <ladder/problem.hpp>

#include <string>
#include <vector>

#include "target.hpp"

namespace ladder::app {

// True if `name`, as the user types it, is a rung with searchable block sizes.
bool has_blocks(const std::string& name);

// Prints the best sizes and writes them to `output`, or, if that is "", to src/host/tuned/CPU.json
// of the checkout at `source`. Returns the program's exit status. Throws BadInput: --output.
int tune_blocks(const Problem& problem, double budget_s, const std::string& source,
                const std::string& output);

struct PlanTuning {
  std::vector<Problem> problems;
  std::string output;  // the plans that were faster than the planner's, for LADDER_PLANS
  std::string rows;    // every candidate's time as CSV; "": none
  int candidates = 12;
  std::uint64_t seed = 1;
};

// ladder tune --suite: measures the library's plans of FP32 products on CUDA cores, and the two
// forms of a guarded product. Returns the exit status. Throws BadInput.
int tune_plans(const PlanTuning& tuning, const Target& target);

}  // namespace ladder::app
