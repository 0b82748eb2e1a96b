// SPDX-License-Identifier: Apache-2.0
// Prints numbers of two kernels side by side on the terminal.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analyse/difference.hpp"

namespace ladder::app {

// Prints nothing if there are no rows.
void print_differences(const std::string& title, const std::vector<analyse::Compare>& rows,
                       std::string_view a, std::string_view b);

}  // namespace ladder::app
