// SPDX-License-Identifier: Apache-2.0
// What a launch counted.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observer/counters.hpp"

namespace vgpu {

using Metrics = std::map<std::string, std::uint64_t>;  // keyed by Nsight Compute's metric names

// The part of the metrics that belongs to one source line, if the code has line information.
// Metrics that are 0 are omitted.
struct LineReport {
  std::string file;
  std::uint32_t line = 0;
  Metrics exact, estimates;
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
  std::vector<InstructionReport> instructions;  // in order of the code; only what was executed
  double seconds = 0;                           // host time of the launch
  std::uint64_t lane_instructions = 0;          // executed; measures the engine's own speed
  std::string output;                           // what the kernel printed (printf), in block order
  // printf calls whose text did not fit into LaunchConfig::print_bytes.
  std::uint64_t lost_prints = 0;
  // The kernel called printf, malloc or free, which on hardware are the driver's code.
  bool called_driver = false;
  std::uint64_t end_clock = 0;  // at least every value that the kernel read from %clock
};

}  // namespace vgpu
