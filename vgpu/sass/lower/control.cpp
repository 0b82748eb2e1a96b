// SPDX-License-Identifier: Apache-2.0
// Lowering of control flow and barriers, and the dispatch on the operation.
#include "ir/modifiers.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {
void Lowering::lower(const Instruction& i) {
  static constexpr void (Lowering::*kMethods[])(const Instruction&) = {
#define OPERATION(name, lowering, what, space, ...) &Lowering::lower_##lowering,
#include "sass/opcodes.def"
  };
  (this->*kMethods[static_cast<std::size_t>(i.op)])(i);
}

// Memory accesses execute in order, and caches are not modelled.
void Lowering::lower_nop(const Instruction&) { emit("nop"); }
void Lowering::lower_fence(const Instruction&) { emit("fence"); }
void Lowering::lower_proxy_fence(const Instruction&) { emit("fence.proxy.async"); }
void Lowering::lower_nanosleep(const Instruction&) { emit("nanosleep"); }

void Lowering::lower_control(const Instruction& i) {
  switch (i.op) {
    case Op::kBra: {
      if (i.mode >= 2) {  // .DIV, .CONV
        const u32 pc = emit("sass.bra.div");
        at(pc).s[0] = !i[0].negated                ? source(i[0])
                      : i[0].index == kZeroUniform ? constant(~u32{0})
                                                   : kNone;
        if (at(pc).s[0] == kNone) refuse("the other lanes");
        at(pc).target = i.target;
        at(pc).sub = i.mode == 3 ? 1 : 0;
        return;
      }
      Insn& insn = emit_alu("sass.bra", kNone, {zero_, zero_, zero_, predicate(i[0])},
                            i[0].negated ? kNegateP : 0);
      insn.target = i.target;
      const bool any = i.text.find(".ANY") != i.text.npos;
      insn.sub = static_cast<u8>(any ? Quorum::kAny : i.mode == 1 ? Quorum::kAll : Quorum::kEach);
      return;
    }
    case Op::kBrx:
    case Op::kRet: {
      const u32 pc = emit("sass.jump");
      at(pc).s[0] = source(i[0]);
      at(pc).imm = static_cast<std::int32_t>(i.target);
      at(pc).sub = i.op == Op::kBrx ? 1 : 0;
      return;
    }
    case Op::kCall: {
      const u32 pc = emit(i.opcode == 0x944 ? "sass.call" : "sass.jump");
      if (i.opcode == 0x944) {
        at(pc).target = i.target;
      } else {
        at(pc).s[0] = source(i[0]);
        at(pc).imm = static_cast<std::int32_t>(i.target);
      }
      return;
    }
    case Op::kCallAbsolute: return lower_absolute_call(i);
    case Op::kLepc: {
      emit_alu("sass.mov", destination(i[0]), {constant(i.target)});
      emit_uncounted("sass.mov", destination(i[0]) + 128, {zero_});
      return;
    }
    case Op::kExit: {
      if (i.count == 0) {
        emit("sass.exit");
      } else {
        emit_alu("sass.exit.if", kNone, {zero_, zero_, zero_, predicate(i[0])},
                 i[0].negated ? kNegateP : 0);
      }
      return;
    }
    case Op::kBreak: {
      emit_alu("sass.break", source(i[1]), {zero_, zero_, zero_, predicate(i[0])},
               i[0].negated ? kNegateP : 0);
      return;
    }
    case Op::kBssy: {
      const u32 pc = emit("sass.bssy");
      at(pc).d = source(i[0]);
      at(pc).sub = i[0].index;
      return;
    }
    case Op::kBsync: {
      if (i.guard.index != kTrue || i.guard.negated) refuse("a guard");
      const u32 pc = emit("sass.bsync");
      at(pc).s[0] = source(i[0]);
      at(pc).sub = i[0].index;
      return;
    }
    case Op::kBmov: {
      const bool saves = i.opcode == 0x355;
      Insn& insn = emit_alu(saves ? "sass.mov" : "sass.bmov",
                            saves ? destination(i[0]) : source(i[0]), {source(i[1])});
      if (!saves) insn.sub = i[0].index;
      if (saves && i.high) emit_uncounted("sass.mov", source(i[1]), {zero_});
      return;
    }
    case Op::kWarpsync: {
      const u32 pc = emit(i.mode == 1 ? "sass.warpsync.exclusive" : "sass.warpsync");
      at(pc).s[0] = i.count == 0 ? kNone : source(i[0]);
      return;
    }
    default: emit("sass.trap");
  }
}

// Arguments of the driver's functions are in registers from R4 on, 64-bit arguments in pairs.
void Lowering::lower_absolute_call(const Instruction& i) {
  static constexpr u32 kPairs[] = {4, 6, 10}, kLine = 8, kResult = 4, kArgumentRows = 9;
  for (u32 n = 0; n < 3; ++n)
    helper("pack.32x2", wide_scratch(n), {row(kPairs[n]), row(kPairs[n] + 1)});
  const u32 pc = emit("sass.call.absolute");
  at(pc).s[0] = i.opcode == 0x343 ? source(i[0]) : kNone;
  at(pc).imm = i.target;
  at(pc).target = static_cast<u32>(program_.calls.size());
  const auto wide = [&](u32 n) { return ParamPlace{wide_scratch(n), 8}; };
  program_.calls.push_back({Call::Kind::kPrint, kNone, {wide(0), wide(1)}, {{row(kResult), 4}}});
  program_.calls.push_back(
      {Call::Kind::kAssert, kNone, {wide(0), wide(1), {row(kLine), 4}, wide(2)}, {}});
  program_.calls.push_back(
      {Call::Kind::kAllocate, kNone, {wide(0)}, {{row(kResult), 4}, {row(kResult + 1), 4}}});
  program_.calls.push_back({Call::Kind::kFree, kNone, {wide(0)}, {}});
  Call device{Call::Kind::kDevice, kNone, {}, {{row(kResult), 4}, {row(kResult + 1), 4}}};
  for (u32 n = 0; n < kArgumentRows; ++n) device.args.push_back({row(kResult + n), 4});
  program_.calls.push_back(std::move(device));
}

void Lowering::lower_barrier(const Instruction& i) {
  if (i.op == Op::kB2r) {
    const bool to_predicate = i.count > 1;
    if (to_predicate) {
      if (i[0].index != kZeroRegister) refuse("two results");
      emit_alu("mov.pred", predicate(i[1]), {kReductionPredicate});
    } else {
      emit_alu("sass.mov", destination(i[0]), {row(reduction_)});
    }
    return;
  }
  const bool count_in_register = i.opcode == 0x31d || i.opcode == 0x91d, both = i.opcode == 0x31d;
  u32 number = source(i[0]), count = count_in_register ? source(i[1]) : constant(i.target);
  if (both) {  // the upper half holds the count
    emit_uncounted("and.b32", wide_scratch(0), {number, constant(15)});
    emit_uncounted("shr.u32", wide_scratch(1), {number, constant(16)});
    number = wide_scratch(0);
    count = wide_scratch(1);
  }
  const u32 pc = emit("bar");
  Insn& insn = at(pc);
  insn.flags = kFlagAligned;
  insn.s[0] = number;
  insn.s[1] = count;
  insn.s[2] = kNone;
  switch (i.mode) {
    case 0: at(pc).sub = static_cast<u8>(BarrierKind::kSync); return;
    case 1: at(pc).sub = static_cast<u8>(BarrierKind::kArrive); return;
    default: {
      const Operand& p = i[i.count - 1u];
      static constexpr BarrierKind kKinds[] = {BarrierKind::kReducePopulation,
                                               BarrierKind::kReduceAnd, BarrierKind::kReduceOr};
      at(pc).sub = static_cast<u8>(kKinds[i.type]);
      at(pc).s[2] = predicate(p);
      if (p.negated) at(pc).flags |= kFlagNegate;
      at(pc).d = i.type == 0 ? row(reduction_) : kReductionPredicate;
    }
  }
}

}  // namespace vgpu::sass
