// SPDX-License-Identifier: Apache-2.0
// Calls by absolute address, of machine code.
#pragma once
#include "machine/machine.hpp"

namespace vgpu::machine {

// Insn: s[0] is a pair of rows that holds the address; if it is kNone, imm is the address.
// target: index in Program::calls of vprintf; __assertfail, malloc, free and the device runtime's
// functions follow it.
void call_absolute(Warp& warp, const Insn& insn);

}  // namespace vgpu::machine
