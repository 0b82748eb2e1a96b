// SPDX-License-Identifier: Apache-2.0
// Facts about a device, and the planner's cost constants.
#pragma once
#include <array>
#include <string_view>

namespace ladder {

struct DeviceFacts {
  int sms = 132;
  int l2_bytes = 60 << 20;
};

struct CostRow {
  std::string_view table, name;
  double value;
  std::string_view unit, meaning, measured_by;
};

// The rows of costs.inc: as an array, for tests, and as named constants.
#define LADDER_COST(table, name, value, unit, meaning, command) \
  CostRow{#table, #name, value, unit, meaning, command},
inline constexpr std::array kCostsOfH200{
#include "gemm/plan/costs.inc"
};
#undef LADDER_COST
#define LADDER_COST(table, name, value, unit, meaning, command) \
  namespace table##_cost {                                      \
    constexpr double name = value;                              \
  }
#include "gemm/plan/costs.inc"
#undef LADDER_COST

}  // namespace ladder
