// SPDX-License-Identifier: Apache-2.0
// How the runtime tells the program vgpu that a check fired: lines in the file that VGPU_REPORT
// names. A process that clears its fault (vgpuClearFault) has dealt with it, and takes it back.
#pragma once
#include <string>
#include <string_view>

namespace vgpu {

// Adds a line; "" or what is wrong with the file.
std::string report_fault(const std::string& file, std::string_view kind, std::string_view kernel);
std::string report_cleared(const std::string& file);

// Whether some process had a fault that it did not clear.
bool check_fired(std::string_view report);

}  // namespace vgpu
