// SPDX-License-Identifier: Apache-2.0
// Selects how threads share a product of few rows, by the least predicted time in cycles.
#pragma once
#include "gemm/plan/part_plan.hpp"

#include <functional>

namespace ladder {

inline constexpr int kMostThinLanes = 8;  // log2

// Columns of a block.
int thin_columns(const ThinPlan& plan);

// Its predicted time.
double thin_cycles(const PartShape& x, const ThinPlan& plan, int sms);

// Calls `visit` with every plan that is considered; none with more than kThinVectors rows.
void each_thin_plan(const PartShape& x, int sms, const std::function<void(const ThinPlan&)>& visit);

// The plan of least predicted time; of 0 cycles where there is none.
ThinPlan plan_thin(const PartShape& x, int sms);

}  // namespace ladder
