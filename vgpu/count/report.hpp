// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "count/instruction.hpp"
#include "count/launch_report.hpp"
#include "ir/launch.hpp"

namespace vgpu::count {

// Fills exact, estimates, lane_instructions and, if config requests them, lines and instructions.
void report(const ir::Program& program, const observer::Counters& counters,
            const LaunchConfig& config, LaunchReport& into);

// Where no hardware of the device's architecture was measured: makes estimates of the metrics that
// follow from rules of the measured one.
void mark_unmeasured(int architecture, LaunchReport& report);

// Where the warps of a kernel wait, from its machine code's control codes: per source line, and for
// the loop that executes most. `counted` is instructions(program, ...). Fills the schedules of
// into.lines, and into.hot_loop. For PTX there is nothing to fill.
void report_schedule(const ir::Program& program, const std::vector<Instruction>& counted,
                     LaunchReport& into);

}  // namespace vgpu::count
