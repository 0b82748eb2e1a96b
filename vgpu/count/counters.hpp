// SPDX-License-Identifier: Apache-2.0
// What the executor counts while a kernel runs. Every worker has its own counters, and they are
// added after the launch. Counting needs no locks, and the result does not depend on the
// distribution of blocks over workers.
#pragma once
#include <vector>

#include "count/instruction.hpp"
#include "ir/program.hpp"

namespace vgpu::count {

using ir::u32;
using ir::u64;

struct RunCount {      // of a straight-line sequence of instructions
  u64 executions = 0;  // by warps
  u64 lanes = 0;       // active lanes, summed over executions
};

struct GuardCount {    // of a guarded instruction
  u64 executions = 0;  // with the guard true in at least one lane
  u64 lanes = 0;       // with the guard true, summed over executions
};

// Executions that the hardware performs in addition to those counted in RunCount, and their lanes.
// repeated: lanes that execute the instruction a second time; they may be lanes counted here or in
// RunCount.
struct Repetition {
  u64 executions = 0, lanes = 0, repeated = 0;
};

struct Counters {
  explicit Counters(const ir::Program& program, bool traced = false);
  void add(const Counters& other);

  std::vector<RunCount> runs;
  std::vector<GuardCount> guards;
  std::vector<SiteCount> sites;
  std::vector<u64> divergent;         // by instruction
  std::vector<Repetition> again;      // by instruction; empty for PTX
  std::vector<AccessSample> samples;  // by site; empty unless traced
  bool retried = false;               // the exchange of a compare-and-swap loop failed
  bool waited = false;                // a thread polled memory for a value that was not there yet
  bool called_driver = false;         // vprintf, malloc or free
  bool parted = false;                // kParted
};

// The program's instructions with their classes, counts and source lines. The texts are valid as
// long as the program.
std::vector<Instruction> instructions(const ir::Program& program, const Counters& counters);
Doubts torn_copies(const Counters& counters);  // kTornCopies or kNever
Doubts doubts(const ir::Program& program, const Counters& counters);

}  // namespace vgpu::count
