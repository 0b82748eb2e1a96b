// SPDX-License-Identifier: Apache-2.0
// Compares the counters of a program's launches with those of a former run, the baseline. Both are
// counters files (docs/counters.schema.json). The n-th launch of a kernel is compared with the
// n-th launch of that kernel in the baseline.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vgpu::app {

struct Tolerance {
  double percent = 0;
  bool estimates = false;  // compare metrics that are estimates, too
};

// What differs to the worse: a value that grew, occupancy that fell, or a launch that cannot be
// compared.
struct Change {
  std::string kernel;
  std::size_t ordinal = 0;  // of the kernel's launches, from 0
  std::string what;         // the metric, or "launch", "device", ...
  std::string former, now;
  std::string growth;  // "+12.5%"; "" where no percentage makes sense
};

struct Comparison {
  std::vector<Change> changes;
  std::size_t launches = 0, values = 0;  // compared
  std::size_t better = 0;                // values that are better than in the baseline
};

// Returns "" or what is wrong with the text of a baseline. `estimates`: it must have some.
std::string check_baseline(const std::string& json, bool estimates);

// `runs`: the texts of the counters files of the program's processes. Both must be valid.
Comparison compare(const std::string& baseline, const std::vector<std::string>& runs,
                   const Tolerance& tolerance);

// The table of what grew, with one line at the end that sums up.
std::string table(const Comparison& comparison, const Tolerance& tolerance);

// The text of a baseline with the launches of these counters files, with estimates or without.
std::string baseline_of(const std::vector<std::string>& runs, bool estimates);

bool has_launches(const std::vector<std::string>& runs);

// "" gives 0 percent. Returns "" or an error message.
std::string parse_tolerance(std::string_view text, double& percent);

}  // namespace vgpu::app
