// SPDX-License-Identifier: Apache-2.0
// Reports failed checks to the program `vgpu`, as lines in the file that VGPU_REPORT names. If a
// process clears its fault (vgpuClearFault), it adds a line that withdraws its report.
#pragma once
#include <string>
#include <string_view>

namespace vgpu {

// Each adds a line and returns "" or an error message about the file.
std::string report_fault(const std::string& file, std::string_view kind, std::string_view kernel);
std::string report_cleared(const std::string& file);

// Whether any process had a fault that it did not clear.
bool check_fired(std::string_view report);

}  // namespace vgpu
