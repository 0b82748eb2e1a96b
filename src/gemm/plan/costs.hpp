// SPDX-License-Identifier: Apache-2.0
// What the planner knows of a device and of a call's operands, and its costs and limits.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace ladder {

// By default an H200's.
struct DeviceFacts {
  int sms = 132;
  int l2_bytes = 60 << 20;
  int cc = 90;  // compute capability
};

// Bytes of which the addresses of A and B are multiples, at most 256.
struct Alignment {
  int a = 256, b = 256;
};

struct CostRow {
  std::string_view table, name;
  double value;
  std::string_view unit, meaning, measured_by;
};

// The rows of costs.inc: as an array, for tests, and as named constants.
#define LADDER_COST(table, name, value, unit, meaning, command) \
  CostRow{#table, #name, value, unit, meaning, command},
#define LADDER_LIMIT(name, ...) LADDER_COST(limit, name, __VA_ARGS__)
inline constexpr std::array kCostsOfH200{
#include "gemm/plan/costs.inc"
};
#undef LADDER_COST
#undef LADDER_LIMIT
#ifdef LADDER_FITS_COSTS  // bench/h200/fit_plans.cpp
#define LADDER_COST_IS inline double
#else
#define LADDER_COST_IS constexpr double
#endif
#define LADDER_COST(table, name, value, unit, meaning, command) \
  namespace table##_cost {                                      \
    LADDER_COST_IS name = value;                                \
  }
#define LADDER_LIMIT(name, value, unit, meaning, command) \
  namespace limit {                                       \
  constexpr std::int64_t name = value;                    \
  }
#include "gemm/plan/costs.inc"
#undef LADDER_COST
#undef LADDER_COST_IS
#undef LADDER_LIMIT

}  // namespace ladder
