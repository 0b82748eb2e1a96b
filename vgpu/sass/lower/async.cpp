// SPDX-License-Identifier: Apache-2.0
// Lowering of asynchronous copies, mbarriers and register reallocation to PTX's cp.async, mbarrier
// and setmaxnreg.
#include "ir/bulk.hpp"
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
  program_.copies = true;
}

void Lowering::lower_copies(const Instruction& i) {
  program_.copies = true;
  switch (i.op) {
    case Op::kLdgdepbar:
      emit("cp.async.commit_group");
      return;
    case Op::kDepbar:
      at(emit("cp.async.wait_group")).imm = i.shift;
      return;
    case Op::kUblkcp:
      return lower_bulk_load(i);
    default: {  // ARRIVES
      const u32 pc = emit("cp.async.mbarrier.arrive");
      at(pc).sub = i.mode;
      at(pc).flags |= kFlagStore;
      address(pc, i[0], false);
    }
  }
}

// A uniform register holds the shared address of the data, the next one that of the mbarrier. Sizes
// are in units of 16 bytes.
void Lowering::lower_bulk_load(const Instruction& i) {
  const u32 places = row(uniforms_ + i[0].uniform), from = row(uniforms_ + i[1].uniform),
            units = source(i[2]);
  const u32 four = constant(4);
  const auto prepare = [&](const char* operation, u32 to, u32 a, u32 b) {
    const u32 pc = emit(operation, true, false);
    at(pc).d = wide_scratch(to);
    at(pc).s[0] = a;
    at(pc).s[1] = b;
  };
  prepare("cvt.u64.u32", 0, places, kNone);
  prepare("pack.32x2", 1, from, from + 128);
  prepare("cvt.u64.u32", 2, places + 128, kNone);
  prepare("shl.b32", 3, units, four);
  const u32 pc = emit("bulk");
  Insn& insn = at(pc);
  insn.site = program_.sites++;
  insn.sub = static_cast<u8>(BulkKind::kLoad);
  insn.vector = 0;
  insn.flags |= kFlagMachine;
  insn.list = static_cast<u32>(program_.lists.size());
  program_.lists.resize(program_.lists.size() + kBulkOperands, kNone);
  u32* const operands = program_.lists.data() + insn.list;
  operands[kBulkShared] = wide_scratch(0);
  operands[kBulkOther] = wide_scratch(1);
  operands[kBulkBarrier] = wide_scratch(2);
  operands[kBulkSize] = wide_scratch(3);
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
