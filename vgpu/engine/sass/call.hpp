// SPDX-License-Identifier: Apache-2.0
// Calls by absolute address. A kernel's code begins at address 0. The functions that the driver
// provides have addresses beyond the end of any code.
#pragma once
#include <optional>
#include <string_view>

#include "engine/execute/machine.hpp"

namespace vgpu::sass {

inline constexpr std::uint32_t kPrintAddress = 0xffffff00, kAssertAddress = 0xffffff10,
                               kMallocAddress = 0xffffff20, kFreeAddress = 0xffffff30;

// vprintf, __assertfail, malloc and free.
std::optional<std::uint32_t> provided_function(std::string_view name);

// Insn: s[0] is a pair of rows that holds the address; if it is kNone, imm is the address.
// target: index in Program::calls of vprintf; __assertfail, malloc and free follow it.
void call_absolute(execute::Warp& warp, const execute::Insn& insn);

}  // namespace vgpu::sass
