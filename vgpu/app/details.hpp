// SPDX-License-Identifier: Apache-2.0
// The counters file as text for the terminal, in the manner of Nsight Compute's details page and
// source view.
#pragma once
#include <functional>
#include <string>

namespace vgpu::app {

// `json` is a counters file's text; "" gives "". Launches of one kernel with one configuration are
// one table: values that differ among them are shown as a range. Values behind a ~ are estimates;
// zeros are left out.
std::string details(const std::string& json);

// The lines that most instructions of each kernel come from, hottest first, at most `most` of a
// kernel; launches are added up. `read` gives a source file's text, "" where it cannot.
using ReadFile = std::function<std::string(const std::string& path)>;
std::string source_view(const std::string& json, int most, const ReadFile& read);

}  // namespace vgpu::app
