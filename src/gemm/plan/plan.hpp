// SPDX-License-Identifier: Apache-2.0
// The plan of a library call: kernel, reason and tiles. The launchers call the same functions.
#pragma once
#include "gemm/plan/large_plan.hpp"
#include "gemm/plan/part_plan.hpp"
#include "gemm/plan/tile_plan.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ladder {

// Whole tiles, each by one block, on any GPU.
struct EveryGpuPlan {
  EveryGpuTile tile;
  std::int64_t tiles_m = 0, tiles_n = 0;
  double clocks = 0;  // predicted, per SM
  double clocks_of_ieee = 0;
};

struct Plan {
  KernelChoice choice;
  // Of: a C that is only scaled; ladder_large_tiles; ladder_split_k; products on tensor cores, with
  // a pre-pass of both operands if they are split; the same with a fused split; the kernels of
  // every GPU.
  std::variant<std::monostate, LargePlan, SmallPlan, TensorPlan, FusedPlan, EveryGpuPlan> tiles;
};

// Errors: kUnsupportedDevice (the library has no kernel for it in this precision),
// kUnsupportedProblem, kInvalidArgument.
Result<Plan> plan(const Problem& problem, Precision precision, const DeviceFacts& device,
                  const Alignment& at = {});

// The decisions as text: name, value.
std::vector<std::pair<std::string, std::string>> describe(const Plan& plan);
// Predicted clocks per SM; 0 if only one plan exists, or plans are not compared.
double predicted_clocks(const Plan& plan);

}  // namespace ladder
