// SPDX-License-Identifier: Apache-2.0
// Parses the virtual GPU's trace of a launch: instructions with counts, and the addresses of memory
// accesses.
#pragma once
#include <ladder/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/access.hpp"

namespace ladder::analyse {

struct TracedInstruction {
  std::string text, file, operation;
  std::uint32_t place = 0, line = 0;
  std::uint64_t executions = 0, lanes = 0;
  std::uint64_t global_requests = 0, global_sectors = 0, shared_requests = 0, shared_wavefronts = 0;
  std::uint64_t block = 0;
  std::uint32_t warp = 0;
  Access access;  // mask 0: not a memory instruction
};

struct Trace {
  // engine: "ptx" or "sass"; decides the meaning of instructions and places
  std::string kernel, engine;
  std::vector<TracedInstruction> instructions;
};

// Parses the text of vgpuTraceJson. Errors (kIo): not that format.
Result<std::vector<Trace>> parse_trace(std::string_view json);

// The accesses of a trace as machine code performs them. Neighbouring 32-bit shared loads in PTX
// are merged, as ptxas does, into 64- and 128-bit loads if every lane's addresses are adjacent and
// aligned.
struct LoopAccess {
  Access access;
  std::uint64_t executions = 0;
  std::string text, file;  // of the first merged access
  std::uint32_t line = 0;
  int merged = 1;
};
std::vector<LoopAccess> merged_accesses(const Trace& trace);

}  // namespace ladder::analyse
