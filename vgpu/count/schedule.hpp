// SPDX-License-Identifier: Apache-2.0
// Where the warps of a kernel wait, from its machine code's control codes: per source line, and for
// the loop that executes most.
#pragma once
#include "count/instruction.hpp"
#include "count/launch_report.hpp"

namespace vgpu::count {

// `counted` is instructions(program, ...). Fills the schedules of into.lines, and into.hot_loop.
// For PTX there is nothing to fill.
void report_schedule(const ir::Program& program, const std::vector<Instruction>& counted,
                     LaunchReport& into);

}  // namespace vgpu::count
