// SPDX-License-Identifier: Apache-2.0
// A search to look at: the best that was found for each pair of values of two parameters, as a
// picture; and all candidates as CSV, for any other view.
#pragma once
#include <string>
#include <string_view>

#include "report/chart.hpp"
#include "tune/tuner.hpp"

namespace ladder::tune {

// Values of `rows` down, of `columns` across, in each cell the best GFLOP/s over the other
// parameters. Errors (kInvalidArgument): no such parameter, the same one twice, nothing passed.
Result<Chart> heat_map(const Job& job, const Tuning& outcome, std::string_view rows,
                       std::string_view columns);

// One line a candidate below a line of names: the parameters, status, registers, spill_bytes,
// shared_bytes, ms, gflops, model_ms; empty where there is no figure.
std::string candidates_csv(const Job& job, const Tuning& outcome);

}  // namespace ladder::tune
