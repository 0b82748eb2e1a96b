// SPDX-License-Identifier: Apache-2.0
// Files of this folder that are embedded in the program: "page.css", "page.js", "render_charts.py".
#pragma once
#include <string_view>

namespace ladder::page {

std::string_view file(std::string_view name);  // throws std::out_of_range for another name

}  // namespace ladder::page
