// SPDX-License-Identifier: Apache-2.0
// What the virtual GPU's trace says of a launch: instructions with counts, and the addresses of
// memory accesses.
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
  Access access;  // mask 0: no memory instruction
};

struct Trace {
  std::string kernel, engine;  // "ptx" or "sass": what instructions and places are
  std::vector<TracedInstruction> instructions;
};

// Reads vgpuTraceJson's text. Errors (kIo): not that format.
Result<std::vector<Trace>> parse_trace(std::string_view json);

// The accesses of a trace as machine code makes them: PTX's neighbouring 32-bit loads of shared
// memory are put together, as ptxas does, into 64- and 128-bit ones where every lane's addresses
// lie side by side and aligned.
struct LoopAccess {
  Access access;
  std::uint64_t executions = 0;
  std::string text, file;  // of the first of them
  std::uint32_t line = 0;
  int merged = 1;
};
std::vector<LoopAccess> merged_accesses(const Trace& trace);

}  // namespace ladder::analyse
