// SPDX-License-Identifier: Apache-2.0
// Charts a search: a heat map of the best result for each pair of values of two parameters, and all
// candidates as CSV.
#pragma once
#include <string>
#include <string_view>

#include "report/chart.hpp"
#include "tune/tuner.hpp"

namespace ladder::tune {

// Draws `rows` against `columns`; each cell shows the best GFLOP/s over the other parameters.
// Errors (kInvalidArgument): no such parameter, the same one twice, or no candidate passed.
Result<Chart> heat_map(const Job& job, const Tuning& outcome, std::string_view rows,
                       std::string_view columns);

// A header line and one line per candidate: the parameters, status, registers, spill_bytes,
// shared_bytes, ms, gflops, model_ms. Unknown values are empty.
std::string candidates_csv(const Job& job, const Tuning& outcome);

}  // namespace ladder::tune
