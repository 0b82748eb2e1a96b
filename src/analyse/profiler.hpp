// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's command line: what to ask it, and what it answers.
#pragma once
#include <ladder/status.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ladder::analyse {

std::string find_ncu();  // LADDER_NCU, PATH, CUDA_HOME, /usr/local/cuda; "" if nowhere

// `ncu` reading `metrics` of every launch of `program`, answers as CSV.
std::vector<std::string> ncu_command(const std::string& ncu,
                                     const std::vector<std::string>& metrics,
                                     const std::vector<std::string>& program);

struct Profiled {
  std::string kernel;
  std::map<std::string, double> metrics;
};

// Reads what that command prints, the program's own output included. Errors (kUnsupportedDevice):
// counters are not permitted, with what to do; (kIo): no table of metrics, with ncu's own line of
// error where there is one.
Result<std::vector<Profiled>> parse_ncu(std::string_view output);

// The metrics that a table of golden counters (tests/golden/<gpu>.csv: kernel, shape, ..., a column
// a metric) holds of a kernel and a shape; empty if it has no such row.
std::map<std::string, double> golden_counters(std::string_view table, std::string_view kernel,
                                              std::string_view shape);

}  // namespace ladder::analyse
