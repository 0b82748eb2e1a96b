// SPDX-License-Identifier: Apache-2.0
// Reports failed checks to the program `vgpu`, as lines of JSON in the file that VGPU_REPORT names.
// If a process clears its fault (vgpuClearFault), it adds a line that withdraws its reports.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vgpu {

// A check that failed.
struct Finding {
  std::string rule;    // "race", ...: as to_string(FaultKind), or a check of host calls
  std::string kernel;  // demangled; "" if no kernel was running
  std::string message;
  std::string file;  // of the source; "" where unknown
  int line = 0;
};

// Each adds a line and returns "" or an error message about the file.
std::string report_finding(const std::string& file, const Finding& finding);
std::string report_cleared(const std::string& file);

// The findings of all processes that did not clear them, in order.
std::vector<Finding> findings_in(std::string_view report);

}  // namespace vgpu
