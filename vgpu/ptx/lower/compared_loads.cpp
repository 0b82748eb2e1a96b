// SPDX-License-Identifier: Apache-2.0
#include "ptx/lower/passes.hpp"

#include <set>

#include "ir/operations.hpp"

namespace vgpu::ptx {
namespace {

const std::string& name_of(const Insn& insn) { return operations()[insn.op].name; }

bool parts(const Insn& insn) {
  const std::string& name = name_of(insn);
  if (name.starts_with("bar") || name.starts_with("call")) return true;
  return (name == "bra" || name == "ret" || name == "exit") && insn.guard == kNone;
}

bool is_load(const Insn& insn) {
  const std::string& name = name_of(insn);
  return name.starts_with("ld.shared") || name.starts_with("ld.generic");
}

void mark_load_of(Program& program, u32 begin, u32 exchange) {
  const Insn& swap = program.code[exchange];
  std::set<u32> compared{swap.s[1]};  // slots
  for (u32 pc = exchange; pc-- > begin && !parts(program.code[pc]);) {
    Insn& insn = program.code[pc];
    if (insn.d == kNone) continue;
    if (insn.d == swap.s[0]) return;
    if (!compared.contains(insn.d)) continue;
    if (is_load(insn) && insn.vector == 1 && insn.bytes == swap.bytes && insn.s[0] == swap.s[0] &&
        insn.imm == swap.imm) {
      insn.flags |= kFlagCompared;
      return;
    }
    if (name_of(insn).starts_with("mov.")) compared.insert(insn.s[0]);
  }
}

}  // namespace

void mark_compared_loads(Program& program, u32 begin) {
  for (u32 pc = begin; pc < program.code.size(); ++pc) {
    if (name_of(program.code[pc]).starts_with("atom.cas")) mark_load_of(program, begin, pc);
  }
}

}  // namespace vgpu::ptx
