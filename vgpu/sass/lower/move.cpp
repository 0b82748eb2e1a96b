// SPDX-License-Identifier: Apache-2.0
// Lowering of moves and of special registers.
#include "ir/modifiers.hpp"
#include "ir/special.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {

void Lowering::lower_move(const Instruction& i) {
  switch (i.op) {
    case Op::kMov:
      emit_alu(twin("sass.mov"), destination(i[0]), {source(i[1])});
      return;
    case Op::kP2r:
    case Op::kR2p: {
      const bool reads = i.op == Op::kP2r;
      const u32 pc = reads ? emit_alu("sass.p2r", destination(i[0]), {source(i[1]), 0})
                           : emit_alu("sass.r2p", kNone, {source(i[0]), 0});
      at(pc).target = i[reads ? 2 : 1].value;
      at(pc).sub = i.mode;
      return;
    }
    case Op::kR2ur: {
      const u32 pc = emit_alu("sass.r2ur", destination(i[i.mode]), {source(i[i.mode + 1u])});
      at(pc).list = i.mode != 0 ? predicate_out(i[0]) : kNone;
      at(pc).sub = i.combine == Combine::kOr ? 1 : 0;
      return;
    }
    default:
      break;
  }
  // S2R, S2UR, CS2R.
  if (i.op == Op::kCs2r && i.mode == 0xff) {
    emit_alu(i.bytes == 8 ? "sass.mov64" : "sass.mov", destination(i[0]), {zero_});
    return;
  }
  Special special;
  switch (i.mode) {
    case 0x00:
      special = Special::kLaneid;
      break;
    case 0x02:
      special = Special::kVirtualConfiguration;
      break;
    case 0x21:
      special = Special::kTidX;
      break;
    case 0x22:
      special = Special::kTidY;
      break;
    case 0x23:
      special = Special::kTidZ;
      break;
    case 0x25:
      special = Special::kCtaidX;
      break;
    case 0x26:
      special = Special::kCtaidY;
      break;
    case 0x27:
      special = Special::kCtaidZ;
      break;
    case 0x2f:
      special = Special::kSharedWindowHi;
      break;
    case 0x32:
      special = Special::kSharedEnd;
      break;
    case 0x37:
      special = Special::kZero;  // where the stack ends, which grows down
      break;
    case 0x38:
      special = Special::kLanemaskEq;
      break;
    case 0x39:
      special = Special::kLanemaskLt;
      break;
    case 0x3a:
      special = Special::kLanemaskLe;
      break;
    case 0x3b:
      special = Special::kLanemaskGt;
      break;
    case 0x3c:
      special = Special::kLanemaskGe;
      break;
    case 0x43:
      special = Special::kSmid;
      break;
    case 0x50:
      special = i.bytes == 8 ? Special::kClock64 : Special::kClock;
      break;
    case 0x51:
      special = Special::kClockHi;
      break;
    case 0x52:
      special = i.bytes == 8 ? Special::kGlobaltimer : Special::kGlobaltimerLo;
      break;
    case 0x53:
      special = Special::kGlobaltimerHi;
      break;
    case 0x88:
      special = Special::kClusterCtarank;
      break;
    default:
      refuse("the special register");
  }
  const bool wide = i.op == Op::kCs2r && i.bytes == 8, uniform = i[0].kind == Kind::kUniform;
  if (!wide && !uniform) {
    const u32 pc = emit_alu("special.32", destination(i[0]), {});
    at(pc).sub = static_cast<u8>(special);
    return;
  }
  if (uniform) {
    const u32 pc = emit("special.32", true, false);
    at(pc).d = scratch();
    at(pc).sub = static_cast<u8>(special);
    emit_alu("sass.r2ur", destination(i[0]), {scratch()});
    return;
  }
  const u32 pc = emit_alu("special.64", wide_scratch(0), {});
  at(pc).sub = static_cast<u8>(special);
  for (u32 half = 0; half < 2; ++half) {
    const u32 part = emit(half == 0 ? "unpack.64.32.0" : "unpack.64.32.1", true);
    at(part).s[0] = wide_scratch(0);
    at(part).d = destination(i[0]) + half * 128;
  }
}

}  // namespace vgpu::sass
