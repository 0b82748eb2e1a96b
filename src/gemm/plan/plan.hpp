// SPDX-License-Identifier: Apache-2.0
// What a call of the library does, before anything runs: which kernel, which tiles, and why. The
// launchers ask the same functions.
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
  std::string_view kernel;  // as ladder list names it
  std::string why;
  std::vector<std::pair<std::string, std::string>> parts;  // what is decided, and how
  double clocks = 0;  // of an SM, predicted; 0: the kernel has one plan only, or is not compared
};

// Of f32 operands that begin on 256 bytes. Errors: kUnsupportedDevice, on which the library has no
// kernels of its own; kUnsupportedProblem; kInvalidArgument.
Result<CallPlan> plan(const Problem& problem, Precision precision, int cc,
                      const DeviceFacts& device);

}  // namespace ladder
