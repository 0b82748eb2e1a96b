// SPDX-License-Identifier: Apache-2.0
// Calls by absolute address. A kernel's code begins at address 0; the functions that the driver
// provides lie where no code reaches.
#pragma once
#include <optional>
#include <string_view>

#include "engine/execute/machine.hpp"

namespace vgpu::sass {

inline constexpr std::uint32_t kPrintAddress = 0xffffff00, kAssertAddress = 0xffffff10,
                               kMallocAddress = 0xffffff20, kFreeAddress = 0xffffff30;

// vprintf, __assertfail, malloc and free.
std::optional<std::uint32_t> provided_function(std::string_view name);

// Insn: s[0] a pair of rows with the address or, where it is kNone, imm the address; target: the
// index of what vprintf does here in Program::calls, with those of __assertfail, malloc and free
// behind.
void call_absolute(execute::Warp& warp, const execute::Insn& insn);

}  // namespace vgpu::sass
