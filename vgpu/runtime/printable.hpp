// SPDX-License-Identifier: Apache-2.0
// Makes text safe for a terminal. Kernel names come from the program's file and may contain any
// bytes.
#pragma once
#include <string>
#include <string_view>

namespace vgpu {

// Replaces control characters by \xNN, except line ends and tabs.
std::string printable(std::string_view text);

}  // namespace vgpu
