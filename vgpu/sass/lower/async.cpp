// SPDX-License-Identifier: Apache-2.0
// Lowering of asynchronous copies, mbarriers and register reallocation to PTX's cp.async, mbarrier
// and setmaxnreg.
#include <algorithm>

#include "ir/modifiers.hpp"
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
    case Op::kLdgdepbar:
      emit("cp.async.commit_group");
      return;
    case Op::kDepbar:
      return lower_wait(i);
    default: {  // ARRIVES
      const u32 pc = emit("cp.async.mbarrier.arrive");
      at(pc).sub = i.mode;
      at(pc).flags |= kFlagStore;
      address(pc, i[0], false);
    }
  }
}

// Groups of a thread's copies and of bulk stores count on the same scoreboard.
void Lowering::lower_wait(const Instruction& i) {
  const auto has = [this](Op op) {
    return std::any_of(instructions_.begin(), instructions_.end(),
                       [op](const Instruction& other) { return other.op == op; });
  };
  const bool bulk = has(Op::kUtmaCommit), copies = !bulk || has(Op::kLdgdepbar);
  if (copies) at(emit("cp.async.wait_group")).imm = i.shift;
  if (bulk) at(emit("bulk.wait_group", copies)).imm = i.shift;
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
