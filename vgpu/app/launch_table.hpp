// SPDX-License-Identifier: Apache-2.0
// The counters file as a table for the terminal.
#pragma once
#include <string>

namespace vgpu::app {

// `json` is a counters file's text; "" gives an empty table. Equal launches in a row are one line with their
// number.
std::string launch_table(const std::string& json);

}  // namespace vgpu::app
