// SPDX-License-Identifier: Apache-2.0
// What a launch counted.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/device_launch.hpp"
#include "observer/counters.hpp"

namespace vgpu {

using Metrics = std::map<std::string, std::uint64_t>;  // keyed by Nsight Compute's metric names

// Instructions of a source line that wait for a scoreboard which an instruction of another (or the
// same) line has set: until its operands are read (`for_reads`), otherwise until its result is
// there.
struct LineWait {
  std::string file;  // of the line that set the scoreboard
  std::uint32_t line = 0;
  std::uint8_t scoreboard = 0;
  bool for_reads = false;
  std::uint32_t instructions = 0;  // that wait
};

// What the machine code of a source line states, whether it was executed or not.
struct LineSchedule {
  std::uint32_t instructions = 0;  // issue slots
  std::uint32_t stall_cycles = 0;  // sum of the stall counts
  std::vector<LineWait> waits;     // in order of file, line and scoreboard
};

// The part of the metrics that belongs to one source line, if the code has line information.
// Metrics that are 0 are omitted.
struct LineReport {
  std::string file;
  std::uint32_t line = 0;
  Metrics exact, estimates;
  LineSchedule schedule = {};  // of machine code
};

// An instruction as reports name it.
struct CodePlace {
  std::uint32_t offset = 0;  // bytes
  std::string text;
  std::string file;  // "" if unknown
  std::uint32_t line = 0;
};

struct ChainedWait {
  CodePlace waiter, setter;
  std::uint8_t scoreboard = 0;
  bool for_reads = false;
};

// How long a pipe of an SM is busy with one iteration of one warp, at least; 0: not known.
struct LoopPipe {
  std::string name;
  std::uint32_t slots = 0;
  double cycles = 0;
};

// The loop of the machine code whose instructions were executed most.
struct HotLoop {
  std::uint32_t first = 0, last = 0;  // offsets of its instructions
  std::uint64_t iterations = 0;       // by warps
  std::uint32_t stall_cycles = 0;     // the least time of an iteration of a warp
  std::vector<LoopPipe> pipes;
  std::uint32_t waits = 0;         // pairs of an instruction and one that it waits for
  std::vector<ChainedWait> chain;  // waits whose latencies add up (ir/schedule.hpp)
};

// Counts of one executed instruction.
struct InstructionReport {
  std::string text;         // the PTX statement or the disassembled instruction
  std::uint32_t place = 0;  // line in the PTX, or byte offset in the machine code
  std::string file;         // of the source; "" where unknown
  std::uint32_t line = 0;
  std::string operation;  // "load", "ffma", ... (count/instruction.hpp)
  std::uint64_t executions = 0, lanes = 0;
  std::uint64_t global_requests = 0, global_sectors = 0, shared_requests = 0, shared_wavefronts = 0;
  AccessSample sample;
};

// Metrics use Nsight Compute's names. `exact` holds only values equal to the hardware's for a
// deterministic kernel; all others are estimates.
struct LaunchReport {
  std::string engine;        // "ptx" or "sass"
  Metrics exact, estimates;  // all are listed in count/metrics.hpp
  // The device's architecture, if its counters were not measured: rules of sm_90 make estimates.
  std::string unmeasured;
  std::vector<LineReport> lines;                // in order of file and line
  std::optional<HotLoop> hot_loop;              // with `lines`; of machine code
  std::vector<InstructionReport> instructions;  // in order of the code; only what was executed
  double seconds = 0;                           // host time of the launch
  std::uint64_t lane_instructions = 0;          // executed; measures the engine's own speed
  std::string output;                           // what the kernel printed (printf), in block order
  // printf calls whose text did not fit into LaunchConfig::print_bytes.
  std::uint64_t lost_prints = 0;
  // The race check found something.
  bool raced = false;
  // The kernel called printf, malloc or free, which on hardware are the driver's code.
  bool called_driver = false;
  // The kernel is linked with the driver's code for printf, assert, malloc or free.
  bool linked_with_driver = false;
  // The launch did nothing but change memory, and what it did follows from its code, its
  // configuration and the memory that it touched. Only known where that is noted.
  bool repeatable = false;
  // A read of local memory that the thread never wrote, where no second run shows whether it
  // matters.
  std::string unwritten;
  std::vector<DeviceLaunch> launches;  // by the kernel
  std::uint64_t end_clock = 0;         // at least every value that the kernel read from %clock
};

}  // namespace vgpu
