// SPDX-License-Identifier: Apache-2.0
// Builds Nsight Compute's command line and parses its output.
#pragma once
#include <ladder/status.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ladder::analyse {

std::string find_ncu();  // searches LADDER_NCU, PATH, CUDA_HOME, /usr/local/cuda; "" if not found

// Command that reads `metrics` for every launch of `program` and prints them as CSV.
std::vector<std::string> ncu_command(const std::string& ncu,
                                     const std::vector<std::string>& metrics,
                                     const std::vector<std::string>& program);

struct Profiled {
  std::string kernel;
  std::map<std::string, double> metrics;
};

// Parses the output of that command, mixed with the program's own output. Errors:
// kUnsupportedDevice (counters are not permitted; the message says how to allow them), kIo (no
// table of metrics; the message quotes ncu's error line if there is one).
Result<std::vector<Profiled>> parse_ncu(std::string_view output);

// The metrics of one kernel and shape from a table of golden counters (tests/golden/<gpu>.csv:
// kernel, shape, ..., one column per metric); empty if there is no such row.
std::map<std::string, double> golden_counters(std::string_view table, std::string_view kernel,
                                              std::string_view shape);

}  // namespace ladder::analyse
