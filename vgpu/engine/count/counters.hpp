// SPDX-License-Identifier: Apache-2.0
// What the executor counts while it runs. Every worker has its own set, added up when the launch is over: counting
// takes no locks and its result does not depend on how blocks were spread over workers.
#pragma once
#include <map>
#include <vector>

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

struct SiteCount {  // of a memory instruction; only accesses with a lane on
  u64 global_requests = 0, global_sectors = 0, global_bytes = 0;  // bytes: summed over lanes
  u64 shared_requests = 0, shared_wavefronts = 0, shared_bytes = 0;
  u64 local_requests = 0, local_sectors = 0;
};

struct Counters {
  explicit Counters(const execute::Program& program);
  void add(const Counters& other);

  std::vector<RunCount> runs;
  std::vector<GuardCount> guards;
  std::vector<SiteCount> sites;
  u64 divergent_branches = 0;
};

// One instruction's share, for attribution to source lines.
struct InstructionCount {
  u64 executions = 0;    // warp instructions
  u64 active_lanes = 0;  // guard off included
  u64 lanes = 0;         // guard on
  SiteCount memory;
};
std::vector<InstructionCount> by_instruction(const execute::Program& program, const Counters& counters);

// Fills exact, estimates and lane_instructions.
void report(const execute::Program& program, const Counters& counters, const LaunchConfig& config,
            LaunchReport& into);

}  // namespace vgpu::count
