// SPDX-License-Identifier: Apache-2.0
#include "observer/fault.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vgpu::observer {
namespace {

std::string show(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

const ir::Statement* statement_of(const ir::Program& program, u32 pc) {
  const u32 index = program.origin[pc].statement;
  return index == ir::kNone ? nullptr : &program.statements[index];
}

// The source line, or, where it is not known, the instruction.
std::string position(const ir::Program& program, u32 pc) {
  const ir::Statement* const statement = pc == ir::kNone ? nullptr : statement_of(program, pc);
  if (statement == nullptr) return "";
  return statement->file.empty() ? fmt::format("{:x}", statement->place)
                                 : fmt::format("{}:{}", statement->file, statement->line);
}

}  // namespace

std::string place(const ir::Program& program, u32 pc) {
  const ir::Statement* const statement = statement_of(program, pc);
  if (statement == nullptr) return "the end of the function";
  std::string text = one_line(statement->text);
  text += program.machine_code ? fmt::format(" (machine code 0x{:x}", statement->place)
                               : fmt::format(" (PTX line {}", statement->place);
  if (!statement->file.empty()) text += fmt::format("; {}:{}", statement->file, statement->line);
  return text + ")";
}

Fault made_fault(const Lane& at, FaultKind kind, const std::string& what,
                 const std::string& details, u32 other) {
  const Block& block = *at.warp.home;
  const ir::Program& program = block.program;
  const u32 pc = static_cast<u32>(&at.insn - at.warp.code);
  const Dim3 thread{at.warp.thread[0][at.lane], at.warp.thread[1][at.lane],
                    at.warp.thread[2][at.lane]};
  const u32 function = program.origin[pc].function;

  std::string report =
      fmt::format("{}: {}\n  kernel {}\n  block {}, thread {} (warp {}, lane {})", to_string(kind),
                  what, program.display_name, show(block.index), show(thread), at.warp.id, at.lane);
  if (function != 0) report += fmt::format("\n  in function {}", program.functions[function].name);
  for (std::size_t begin = 0; begin < details.size();) {
    const std::size_t end = std::min(details.find('\n', begin), details.size());
    report += "\n  " + details.substr(begin, end - begin);
    begin = end + 1;
  }
  report += "\n  at " + place(program, pc);

  Fault made(kind, report);
  made.kernel = program.display_name;
  made.block = block.index;
  made.thread = thread;
  if (const ir::Statement* const statement = statement_of(program, pc); statement != nullptr) {
    made.instruction = one_line(statement->text);
    made.file = statement->file;
    made.line = static_cast<int>(statement->line);
  }
  std::string here = position(program, pc), there = position(program, other);
  if (there < here) std::swap(here, there);  // either access of a race may come last
  made.identity = fmt::format("{}|{}|{}|{}", to_string(kind), program.display_name, here, there);
  return made;
}

void fault(const Lane& at, FaultKind kind, const std::string& what, const std::string& details) {
  throw made_fault(at, kind, what, details);
}

void fault(const Lane& at, FaultKind kind, const char* what) {
  fault(at, kind, std::string(what), std::string());
}

}  // namespace vgpu::observer
