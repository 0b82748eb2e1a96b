// SPDX-License-Identifier: Apache-2.0
// What the PTX executor counts while it runs. Every worker has its own set, added up when the
// launch is over: counting takes no locks and its result does not depend on how blocks were spread
// over workers.
#pragma once
#include <vector>

#include "engine/count/instruction.hpp"
#include "engine/execute/ir.hpp"

namespace vgpu::count {

using execute::u32;
using execute::u64;

struct RunCount {      // of a straight line of instructions
  u64 executions = 0;  // by a warp
  u64 lanes = 0;       // active, summed over executions
};

struct GuardCount {    // of a guarded instruction
  u64 executions = 0;  // with at least one lane on
  u64 lanes = 0;       // on
};

// What the hardware executes besides: executions and their lanes; and which lanes are there for
// another time, of these and of those that were counted as they ran.
struct Repetition {
  u64 executions = 0, lanes = 0, repeated = 0;
};

struct Counters {
  explicit Counters(const execute::Program& program, bool traced = false);
  void add(const Counters& other);

  std::vector<RunCount> runs;
  std::vector<GuardCount> guards;
  std::vector<SiteCount> sites;
  std::vector<u64> divergent;         // by instruction
  std::vector<Repetition> again;      // of machine code: by instruction
  std::vector<AccessSample> samples;  // by site; empty unless traced
  bool retried = false;  // an atomic operation that is a loop came too late, and began again
  bool waited = false;   // a thread looked at memory again, for a value that was not there yet
  bool called_driver = false;  // vprintf, malloc or free
  bool parted = false;         // kParted
};

// The program's instructions with their classes, counts and source lines. Texts live as long as the
// program.
std::vector<Instruction> instructions(const execute::Program& program, const Counters& counters);
Doubts torn_copies(const Counters& counters);  // kTornCopies, or nothing
Doubts doubts(const execute::Program& program, const Counters& counters);

}  // namespace vgpu::count
