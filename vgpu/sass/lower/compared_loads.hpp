// SPDX-License-Identifier: Apache-2.0
// Finds the loads of compare-and-swap loops. The compiler emits such a loop for atomic operations
// that the hardware lacks (floating-point or 64-bit sums in shared memory, all 16-bit operations):
// load the word, compute, exchange if the word is unchanged. The load is an ordinary instruction,
// but it does not race with atomic operations, because the exchange at the same address compares
// the loaded value. 16-bit operations access the whole 32-bit word. Its other half may belong to
// another thread, may be unwritten and may be outside the allocation; the hardware does the same,
// so these accesses are not faults.
#pragma once
#include <vector>

#include "sass/decode/instruction.hpp"

namespace vgpu::sass {

// Sets Instruction::compared on each load, and on the compare-and-swap of the same address that
// follows it, if the compared value is the loaded one or is computed from it. No barrier, call or
// unconditional jump may be between them. Sets Instruction::half on both if the stored word
// replaces one half of the loaded word.
void mark_compared_loads(std::vector<Instruction>& code);

}  // namespace vgpu::sass
