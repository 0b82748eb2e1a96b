// SPDX-License-Identifier: Apache-2.0
// Atomic operations that the hardware does not have (sums of floating point or of 64 bits in shared
// memory, anything of 16 bits) are loops: load, compute, exchange if the memory still is what was
// loaded. The load looks like any other. It is no access of its own, since the exchange at the same
// address compares what it found, and thus races with no atomic. Operations of 16 bits take the
// word around their half. The other half may belong to somebody else, may never have been written,
// and may lie behind the end of the memory: that is what the hardware does, and no fault of the
// program's.
#pragma once
#include <vector>

#include "engine/sass/instruction.hpp"

namespace vgpu::sass {

// Sets Instruction::compared on the loads of a kernel's code whose value, as it is or computed
// with, goes to a compare-and-exchange of the same address further on, with no barrier and no jump
// that is always taken between. Sets Instruction::half on both where a half of the word is put in.
void mark_compared_loads(std::vector<Instruction>& code);

}  // namespace vgpu::sass
