// SPDX-License-Identifier: Apache-2.0
// Errors: what the engine does not implement, and what kernels do wrong.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "ir/kernel.hpp"

namespace vgpu {

// An instruction, modifier or directive that the engine does not implement. what() names it, with
// its line in the PTX and in the source. The engine never guesses.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FaultKind {
#define FAULT(kind, name) kind,
#include "ir/fault.def"
};
const char* to_string(FaultKind kind);  // "out of bounds", ...

// Puts the text of an instruction on one line, with single blanks.
std::string one_line(std::string_view text);

// An error in the kernel. what() is the full report, several lines: what happened, kernel, block,
// thread, address, the PTX instruction with its line, and the source file and line if the PTX has
// them (.loc).
struct Fault : std::runtime_error {
  Fault(FaultKind what_kind, const std::string& report)
      : std::runtime_error(report), kind(what_kind) {}
  FaultKind kind;
  std::string kernel;       // demangled where possible
  Dim3 block, thread;       // indices, not extents
  std::string instruction;  // the PTX text
  std::string file;         // "" where unknown
  int line = 0;
  // What, in which kernel, where, and where the other access is: equal for reports that differ only
  // in blocks, threads and addresses, or in the copies that a compiler made of one source line.
  std::string identity;
};

}  // namespace vgpu
