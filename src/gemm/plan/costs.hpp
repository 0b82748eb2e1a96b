// SPDX-License-Identifier: Apache-2.0
// The planner's costs and limits. Only planners include them, so that a new value does not rebuild
// the kernels.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace ladder {

struct CostRow {
  std::string_view table, name;
  double value;
  std::string_view unit, meaning, measured_by;
};

namespace measured_by {
constexpr std::string_view hopper = "bench/h200/hopper.sh", split = "bench/h200/split.sh",
                           sweep = "bench/h200/sweep.sh", sizes = "bench/h200/sizes.sh",
                           thin = "bench/h200/thin.sh", fp8 = "bench/h200/fp8.sh",
                           every_gpu = "bench/every_gpu.sh";
}

// The rows of costs.inc: as an array, for tests, and as named constants.
#define LADDER_COST(table, name, value, unit, meaning, command) \
  CostRow{#table, #name, value, unit, meaning, measured_by::command},
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
