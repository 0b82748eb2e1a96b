// SPDX-License-Identifier: Apache-2.0
// Finds the words that vector loads of shared memory load and nothing reads. ptxas loads s[0] to
// s[6] by two LDS.128 and ignores s[7], which may lie behind the block's memory, or be written by
// another warp at that moment. The program has no such access.
#pragma once
#include <vector>

#include "sass/decode/instruction.hpp"

namespace vgpu::sass {

// Sets Instruction::dead. A word counts as read where that is not known.
void mark_dead_words(std::vector<Instruction>& code);

}  // namespace vgpu::sass
