// SPDX-License-Identifier: Apache-2.0
// Text for a terminal: names of kernels come from the program's file, and may hold anything.
#pragma once
#include <string>
#include <string_view>

namespace vgpu {

// Control characters become \xNN; ends of lines and tabs stay.
std::string printable(std::string_view text);

}  // namespace vgpu
