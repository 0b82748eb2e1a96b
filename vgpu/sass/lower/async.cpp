// SPDX-License-Identifier: Apache-2.0
// Lowering of asynchronous copies, mbarriers and register reallocation to PTX's cp.async, mbarrier
// and setmaxnreg.
#include <algorithm>

#include "sass/lower/lower.hpp"

namespace vgpu::sass {

void Lowering::lower_copy(const Instruction& i) {
  const Operand &to = i[0], &from = i[1], &p = i[2];
  const u32 pc = emit("cp.async");
  Insn& insn = at(pc);
  insn.site = program_.sites++;
  insn.bytes = i.bytes;
  insn.flags = kFlagMachine | kFlagAddress32 | kFlagCopy;
  insn.s[0] = to.index == kZeroRegister ? zero_ : row(to.index);
  insn.s[1] = from.index == kZeroRegister ? zero_ : row(from.index);
  insn.imm = static_cast<i64>(u64{from.value} << 32 | to.value);
  insn.s[2] = predicate(p);
  insn.sub = p.negated ? 1 : 0;
  insn.vector = i.mode;
  program_.copies = true;
}

void Lowering::lower_copies(const Instruction& i) {
  program_.copies = true;
  switch (i.op) {
    case Op::kLdgdepbar: emit("cp.async.commit_group"); return;
    case Op::kDepbar: return lower_wait(i);
    default: {  // ARRIVES
      const u32 pc = emit("cp.async.mbarrier.arrive");
      at(pc).sub = i.mode;
      at(pc).flags |= kFlagStore;
      address(pc, i[0], false);
    }
  }
}

// Groups of a thread's copies and of bulk stores count on the same scoreboard. Scoreboards of other
// instructions only delay.
void Lowering::lower_wait(const Instruction& i) {
  const auto waits_for = [&](Op op, const char* operation, bool helper) {
    const auto here = [&](const Instruction& other) {
      return other.op == op && (other.mode == i.mode || (i.table >> other.mode & 1) != 0);
    };
    const auto found = std::ranges::find_if(instructions_, here);
    if (found == instructions_.end()) return false;
    at(emit(operation, helper)).imm = found->mode == i.mode ? i.shift : 0;
    return true;
  };
  const bool copies = waits_for(Op::kLdgdepbar, "cp.async.wait_group", false);
  const bool bulk = waits_for(Op::kUtmaCommit, "bulk.wait_group", copies);
  if (!copies && !bulk) emit("nop");
}

void Lowering::lower_mbarrier(const Instruction& i) {
  const u32 one = constant(1);
  const u32 pc = emit("mbarrier");
  Insn& insn = at(pc);
  insn.d = kNone;
  insn.s[1] = one;
  insn.s[2] = zero_;
  MbarrierKind kind{};
  switch (i.op) {
    case Op::kSyncsInit:
      kind = MbarrierKind::kInit;
      address(pc, i[1], false);
      insn.s[1] = source(i[2]);
      break;
    case Op::kSyncsInvalidate:
      kind = MbarrierKind::kInvalidate;
      address(pc, i[0], false);
      break;
    case Op::kSyncsTest:
      kind = MbarrierKind::kWaitParity;
      insn.site = program_.sites++;
      if (i[0].index == kTrue) refuse("no result");
      address(pc, i[1], false);
      insn.d = predicate(i[0]);
      insn.s[1] = source(i[2]);
      break;
    default: {  // SYNCS.ARRIVE: arrivals and bytes
      address(pc, i[1], false);
      const u32 value = source(i[2]);
      const bool arrives = i.mode == 0 || i.mode == 1 || i.mode == 5;
      if (i.high && !arrives) refuse("less is expected, and nobody arrives");
      if (i.mode == 5) insn.s[1] = value;
      if (i.mode == 0 || i.mode == 3 || i.mode == 4) insn.s[2] = value;
      if (i.mode == 2) insn.s[2] = one;
      if (!arrives)
        kind = i.mode == 4 ? MbarrierKind::kComplete : MbarrierKind::kExpect;
      else if (i.mode == 0)
        kind = i.high ? MbarrierKind::kDropExpect : MbarrierKind::kArriveExpect;
      else
        kind = i.high ? MbarrierKind::kDrop : MbarrierKind::kArrive;
      if (i[0].index != kZeroRegister) insn.d = destination(i[0]);
    }
  }
  insn.sub = static_cast<u8>(kind);
  if (kind != MbarrierKind::kWaitParity) insn.flags |= kFlagStore;
  insn.flags |= kFlagStrong;
}

// If too few registers are free, setmaxnreg waits and then succeeds, so the retry loop in the code
// never repeats.
void Lowering::lower_set_registers(const Instruction& i) {
  const bool takes = i.mode == 2;
  const u32 pc = emit("setmaxnreg");
  at(pc).imm = i[takes ? 1 : 0].value;
  at(pc).sub = takes ? 1 : 0;
  if (!takes || i[0].index == kTrue) return;
  const u32 got = emit("mov.pred", true);
  at(got).d = predicate(i[0]);
  at(got).s[0] = 4 * kTrue;
}

}  // namespace vgpu::sass
