// SPDX-License-Identifier: Apache-2.0
// Selects how threads share a product of few rows, by the least predicted time in cycles.
#pragma once
#include "gemm/plan/part_plan.hpp"

#include <functional>

namespace ladder {

inline constexpr int kMostThinLanes = 8;                  // log2
inline constexpr int kThinThreads = 256, kThinStep = 32;  // per block; k is split in such steps

// Loads of four elements that a thread of the kernels has in flight: of a K-major B, and else.
constexpr int thin_loads_along(int rows, int columns) {
  return columns == 1 ? 4 : rows <= 4 ? 2 : 1;
}
constexpr int thin_loads_across(int rows) { return rows <= 2 ? 8 : rows <= 8 ? 4 : 2; }

// Blocks that run on an SM at once.
constexpr int thin_blocks_along(int rows, int columns) {
  return columns == 1 ? 4 : rows <= 2 ? 3 : 2;
}
constexpr int thin_blocks_across(int rows) { return rows == 1 ? 4 : rows <= 4 ? 3 : 2; }

// Columns of a block.
int thin_columns(const ThinPlan& plan);

// Its predicted time.
double thin_cycles(const PartShape& x, const ThinPlan& plan, int sms);

// Calls `visit` with every plan that is considered; none with more than kThinVectors rows.
void each_thin_plan(const PartShape& x, int sms, const std::function<void(const ThinPlan&)>& visit);

// The plan of least predicted time; of 0 cycles where there is none.
ThinPlan plan_thin(const PartShape& x, int sms);

}  // namespace ladder
