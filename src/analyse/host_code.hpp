// SPDX-License-Identifier: Apache-2.0
// A CPU rung's machine code: objdump's text of the function that runs, its hot loop, and what a
// round of it asks of the core. Only x86-64 is read.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/control_flow.hpp"

namespace ladder::analyse {

struct HostInstruction {
  std::uint64_t address = 0;
  std::string text;          // "vfmadd231ps zmm1,zmm0,zmm2"
  std::string name;          // "vfmadd231ps"
  std::uint64_t target = 0;  // of a jump
};

struct HostFunction {
  std::string name;
  std::vector<HostInstruction> code;
};

// What a round of a loop does, in instructions but for the bytes and the multiply-adds, of
// elements.
struct HostMix {
  int instructions = 0, arithmetic = 0, loads = 0, stores = 0;
  double multiplies = 0;  // products of elements
  int vector_bytes = 0;   // of the widest arithmetic
  bool fused = false;
  int chained =
      // additions that wait for the one before them, each on a register of its own: 0, none does
      0;
  std::map<std::string, int> names;
};

struct HostLoop : Loop {
  HostMix mix;
};

// The function that does the work of a host rung on `problem`: its launch, or the register tile
// that it takes. Errors (kUnsupportedProblem): no objdump (LADDER_OBJDUMP, PATH), not x86-64, or
// the function is not found.
Result<HostFunction> host_function(const KernelInfo& kernel, const Problem& problem);

// objdump's text, Intel's syntax, one function. Errors (kInvalidArgument): there is none in it.
Result<HostFunction> parse_objdump(std::string_view text);

// The innermost loop with the most products a round; the smaller of equals. Errors
// (kInvalidArgument): none multiplies.
Result<HostLoop> hot_loop(const HostFunction& function);

}  // namespace ladder::analyse
