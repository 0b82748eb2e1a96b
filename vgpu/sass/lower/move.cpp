// SPDX-License-Identifier: Apache-2.0
// Lowering of moves and of special registers.
#include "ir/special.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {

// The ir::Special that is read.
u8 Lowering::special_of(const Instruction& i) const {
  constexpr unsigned kClockLow = 0x50, kGlobaltimerLow = 0x52;
  Special special{};
  switch (i.mode) {
#define UNREAD(number, name)
#define SPECIAL(number, name, value) \
  case number:                       \
    special = Special::value;        \
    break;
#include "sass/special_registers.def"
    default: refuse("the special register");
  }
  if (i.bytes == 8 && i.mode == kClockLow) special = Special::kClock64;
  if (i.bytes == 8 && i.mode == kGlobaltimerLow) special = Special::kGlobaltimer;
  return static_cast<u8>(special);
}

void Lowering::lower_move(const Instruction& i) {
  switch (i.op) {
    case Op::kMov: emit_alu(twin("sass.mov"), destination(i[0]), {source(i[1])}); return;
    case Op::kP2r:
    case Op::kR2p: {
      const bool reads = i.op == Op::kP2r;
      Operand first;  // of the predicates
      first.kind = i.uniform ? Kind::kUniformPredicate : Kind::kPredicate;
      const u32 all = predicate(first);
      Insn& insn = reads ? emit_alu(twin("sass.p2r"), destination(i[0]), {source(i[1]), all})
                         : emit_alu(twin("sass.r2p"), kNone, {source(i[0]), all});
      insn.target = i[reads ? 2 : 1].value;
      insn.sub = i.mode;
      return;
    }
    case Op::kR2ur:
      emit_alu("sass.r2ur", {destination(i[i.mode]), i.mode != 0 ? predicate_out(i[0]) : kNone},
               {source(i[i.mode + 1u])})
          .sub = i.combine == Combine::kOr ? 1 : 0;
      return;
    default: break;
  }
  // S2R, S2UR, CS2R.
  if (i.op == Op::kCs2r && i.mode == 0xff) {
    emit_alu(i.bytes == 8 ? "sass.mov64" : "sass.mov", destination(i[0]), {zero_});
    return;
  }
  const u8 special = special_of(i);
  const bool wide = i.op == Op::kCs2r && i.bytes == 8, uniform = i[0].kind == Kind::kUniform;
  if (!wide && !uniform) {
    emit_alu("special.32", destination(i[0]), {}).sub = special;
    return;
  }
  if (uniform) {
    helper("special.32", scratch(), {});
    program_.code.back().sub = special;
    emit_alu("sass.r2ur", destination(i[0]), {scratch()});
    return;
  }
  emit_alu("special.64", wide_scratch(0), {}).sub = special;
  unpack(destination(i[0]), wide_scratch(0));
}

}  // namespace vgpu::sass
