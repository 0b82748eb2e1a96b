// SPDX-License-Identifier: Apache-2.0
// What each instruction of machine code counts as, and its counts.
#pragma once
#include <vector>

#include "engine/count/counters.hpp"

namespace vgpu::sass {

std::vector<count::Instruction> instructions(const execute::Program& program,
                                             const count::Counters& counters);
// What makes its counts uncertain.
count::Doubts doubts(const execute::Program& program, const count::Counters& counters);

}  // namespace vgpu::sass
