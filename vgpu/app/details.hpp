// SPDX-License-Identifier: Apache-2.0
// Formats a counters file for the terminal, like the details page and the source view of Nsight
// Compute.
#pragma once
#include <functional>
#include <string>

namespace vgpu::app {

// `json` is the text of a counters file; "" gives "". Launches of one kernel with one configuration
// share a table, and values that differ between them are shown as a range. Values marked with ~ are
// estimates. Zeros are omitted.
std::string details(const std::string& json);

// The source lines with the most executed instructions, in descending order and at most `most` per
// kernel. The counts of a kernel's launches are added. `read` returns the text of a source file, or
// "" if it cannot be read.
using ReadFile = std::function<std::string(const std::string& path)>;
std::string source_view(const std::string& json, int most, const ReadFile& read);

}  // namespace vgpu::app
