// SPDX-License-Identifier: Apache-2.0
// What follows when the program has ended: the comparison with the baseline, reports, exit status.
#pragma once
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/ci_report.hpp"

namespace vgpu::app {

// What the processes reported in that file. A missing report counts as a failed check: a process
// could not write it.
std::vector<Finding> findings_of(const std::string& report);

// Compares, writes what the options ask for, and returns the exit status. `counters`: the counters
// files of the program's processes.
int conclude(const Options& options, const std::vector<std::string>& counters, Outcome& outcome);

}  // namespace vgpu::app
