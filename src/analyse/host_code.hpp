// SPDX-License-Identifier: Apache-2.0
// A CPU rung's machine code: the objdump listing of the function that runs, its hot loop, and the
// resources that one iteration uses. Only x86-64 is supported.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/schedule.hpp"

namespace ladder::analyse {

using vgpu::ir::Loop;

struct HostInstruction {
  std::uint64_t address = 0;
  std::string text;          // "vfmadd231ps zmm1,zmm0,zmm2"
  std::string name;          // "vfmadd231ps"
  std::uint64_t target = 0;  // target address of a jump
};

struct HostFunction {
  std::string name;
  std::vector<HostInstruction> code;
};

// Contents of one loop iteration, as numbers of instructions unless stated otherwise.
struct HostMix {
  int instructions = 0, arithmetic = 0, loads = 0, stores = 0;
  double multiplies = 0;  // products of elements
  int vector_bytes = 0;   // width of the widest arithmetic
  bool fused = false;
  // Additions that depend on their own result of the previous iteration, each in its own register.
  int chained = 0;
  std::map<std::string, int> names;
};

struct HostLoop : Loop {
  HostMix mix;
};

// Disassembles the function that does the work of a host rung on `problem`: its launch function, or
// the micro kernel of the register tile that it selects. Errors (kUnsupportedProblem): objdump is
// missing (searched in LADDER_OBJDUMP and PATH), the host is not x86-64, or the function is not
// found.
Result<HostFunction> host_function(const KernelInfo& kernel, const Problem& problem);

// Parses objdump's listing of one function in Intel syntax. Errors (kInvalidArgument): the text has
// no function.
Result<HostFunction> parse_objdump(std::string_view text);

// The innermost loop with the most products per iteration; the shortest one on a tie. Errors
// (kInvalidArgument): no loop multiplies.
Result<HostLoop> hot_loop(const HostFunction& function);

}  // namespace ladder::analyse
