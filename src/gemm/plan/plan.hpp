// SPDX-License-Identifier: Apache-2.0
// The plan of a library call: kernel, tiles, and the reason. The launchers call the same functions.
#pragma once
#include "gemm/plan/costs.hpp"

#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ladder {

struct CallPlan {
  std::string_view kernel;  // id as printed by `ladder list`
  std::string why;
  std::vector<std::pair<std::string, std::string>> parts;  // decisions: name, value
  double clocks = 0;  // predicted, per SM; 0: only one plan exists, or plans are not compared
};

// Assumes FP32 operands that are 256-byte aligned. Errors: kUnsupportedDevice (the library has no
// kernels for it), kUnsupportedProblem, kInvalidArgument.
Result<CallPlan> plan(const Problem& problem, Precision precision, int cc,
                      const DeviceFacts& device);

}  // namespace ladder
