// SPDX-License-Identifier: Apache-2.0
// Classes and counts of machine-code instructions.
#pragma once
#include <vector>

#include "count/counters.hpp"

namespace vgpu::sass {

std::vector<count::Instruction> instructions(const ir::Program& program,
                                             const count::Counters& counters);
count::Doubts doubts(const ir::Program& program, const count::Counters& counters);

}  // namespace vgpu::sass
