// SPDX-License-Identifier: Apache-2.0
// Lowering of arithmetic: operands to rows, modifiers to bits.
#include <fmt/format.h>

#include "engine/execute/special.hpp"
#include "engine/sass/lower.hpp"
#include "engine/sass/modifiers.hpp"

namespace vgpu::sass {
namespace {

u64 signs(const Operand& o, u64 negate, u64 absolute) {
  return (o.negated ? negate : 0) | (o.absolute ? absolute : 0);
}
u64 signs_a(const Operand& o) { return signs(o, kNegateA, kAbsoluteA); }
u64 signs_b(const Operand& o) { return signs(o, kNegateB, kAbsoluteB); }
u64 signs_c(const Operand& o) { return signs(o, kNegateC, kAbsoluteC); }

u64 common(const Instruction& i) {
  return (i.flush ? kFlush : 0) | (i.saturate ? kSaturate : 0) | u64{i.rounding} << kRoundingAt |
         (i.extended ? kExtended : 0) | (i.is_signed ? kSigned : 0) | (i.high ? kHigh : 0) |
         (i.right ? kRight : 0) | (i.wrap ? kWrap : 0) | u64{static_cast<u8>(i.compare)} << kCompareAt |
         u64{static_cast<u8>(i.combine)} << kCombineAt | u64{i.type & 7u} << kTypeAt;
}

u64 half_bits(const Operand& o) { return o.half == Half::kLow ? 1 : o.half == Half::kHigh ? 2 : 0; }

}  // namespace

void Lowering::lower_float(const Instruction& i) {
  switch (i.op) {
    case Op::kFfma: {
      const Operand &a = i[1], &b = i[2], &c = i[3];
      const bool plain =
          !i.flush && !i.saturate && i.rounding == 0 && !a.absolute && !b.absolute && !c.absolute;
      if (!plain) {
        emit_alu("sass.ffma", destination(i[0]), {source(a), source(b), source(c)},
                 common(i) | signs_a(a) | signs_b(b) | signs_c(c));
        return;
      }
      const bool minus = a.negated != b.negated;
      const char* const name = minus ? (c.negated ? "sass.ffma.minus.less" : "sass.ffma.minus")
                                     : (c.negated ? "sass.ffma.less" : "fma.rn.f32");
      emit_alu(name, destination(i[0]), {source(a), source(b), source(c)});
      return;
    }
    case Op::kFadd:
    case Op::kFmul: {
      const u64 m = common(i) | signs_a(i[1]) | signs_b(i[2]);
      const bool multiplies = i.op == Op::kFmul;
      const char* const name =
          m == 0 ? (multiplies ? "mul.rn.f32" : "add.rn.f32") : (multiplies ? "sass.fmul" : "sass.fadd");
      emit_alu(name, destination(i[0]), {source(i[1]), source(i[2])}, m);
      return;
    }
    case Op::kFmnmx:
    case Op::kFsel:
      emit_alu(i.op == Op::kFmnmx ? "sass.fmnmx" : "sass.fsel", destination(i[0]),
               {source(i[1]), source(i[2]), zero_, predicate(i[3])},
               common(i) | signs_a(i[1]) | signs_b(i[2]) | (i[3].negated ? kNegateP : 0));
      return;
    case Op::kFsetp:
    case Op::kDsetp: {
      const bool wide = i.op == Op::kDsetp;
      const u32 a = wide ? source_pair(i[2]) : source(i[2]), b = wide ? source_pair(i[3]) : source(i[3]);
      const u32 pc =
          emit_alu(wide ? "sass.dsetp" : "sass.fsetp", predicate_out(i[0]), {a, b, zero_, predicate(i[4])},
                   common(i) | signs_a(i[2]) | signs_b(i[3]) | (i[4].negated ? kNegateP : 0));
      at(pc).list = predicate_out(i[1]);
      return;
    }
    case Op::kFchk:
      emit_alu("sass.fchk", predicate(i[0]), {source(i[1]), source(i[2])});
      return;
    case Op::kMufu: {
      const u32 pc = emit_alu("sass.mufu", destination(i[0]), {source(i[1])}, signs_a(i[1]));
      at(pc).sub = i.mode;
      return;
    }
    case Op::kDfma:
      emit_alu("sass.dfma", destination(i[0]), {source_pair(i[1]), source_pair(i[2]), source_pair(i[3])},
               common(i) | signs_a(i[1]) | signs_b(i[2]) | signs_c(i[3]));
      return;
    default:
      emit_alu(i.op == Op::kDmul ? "sass.dmul" : "sass.dadd", destination(i[0]),
               {source_pair(i[1]), source_pair(i[2])}, common(i) | signs_a(i[1]) | signs_b(i[2]));
  }
}

void Lowering::lower_half(const Instruction& i) {
  if (i.flush) refuse("subnormal halves as zeros");
  const bool is_bfloat = i.type == 4;
  u64 m = (i.saturate ? kSaturate : 0) | (i.high ? kHigh : 0) | signs_a(i[1]) | signs_b(i[2]) |
          half_bits(i[1]) << kHalfAAt | half_bits(i[2]) << kHalfBAt;
  if (i.op == Op::kHfma2) {
    m |= signs_c(i[3]) | half_bits(i[3]) << kHalfCAt;
    // How constants are often made: -0 * 0 + constant.
    const bool moves = i[1].kind == Kind::kRegister && i[1].index == kZeroRegister && i[1].negated &&
                       i[2].kind == Kind::kRegister && i[2].index == kZeroRegister && !i[2].negated &&
                       i[3].kind == Kind::kImmediate && !i.saturate;
    if (moves) {
      emit_alu("mov.b32", destination(i[0]), {constant(i[3].value)});
      return;
    }
    emit_alu(is_bfloat ? "sass.bfma2" : "sass.hfma2", destination(i[0]),
             {source(i[1]), source(i[2]), source(i[3])}, m);
    return;
  }
  const bool adds = i.op == Op::kHadd2;
  const char* const name =
      adds ? (is_bfloat ? "sass.badd2" : "sass.hadd2") : (is_bfloat ? "sass.bmul2" : "sass.hmul2");
  emit_alu(name, destination(i[0]), {source(i[1]), source(i[2]), zero_}, m);
}

void Lowering::lower_integer(const Instruction& i) {
  switch (i.op) {
    case Op::kIadd3: {
      const u32 outs = i.mode;
      const Operand &a = i[1 + outs], &b = i[2 + outs], &c = i[3 + outs];
      u64 m = (i.extended ? kExtended : 0) | (a.negated ? kNegateA : 0) | (b.negated ? kNegateB : 0) |
              (c.negated ? kNegateC : 0);
      u32 in = zero_;
      if (i.extended) {
        in = predicate(i[4 + outs]);
        m |= (i[4 + outs].negated ? kNegateP : 0) | (i[5 + outs].negated ? kNegateQ : 0) |
             u64{predicate(i[5 + outs])} << kSlotAt;
      }
      const u32 pc =
          emit_alu(twin("sass.iadd3"), destination(i[0]), {source(a), source(b), source(c), in}, m);
      at(pc).list = outs > 0 ? predicate_out(i[1]) : kNone;
      at(pc).target = outs > 1 ? predicate_out(i[2]) : kNone;
      return;
    }
    case Op::kViadd:
      emit_alu("sass.iadd3", destination(i[0]), {source(i[1]), source(i[2]), zero_},
               (i[1].negated ? kNegateA : 0) | (i[2].negated ? kNegateB : 0));
      return;
    case Op::kImad:
    case Op::kImadWide:
    case Op::kImadHi: {
      const u32 outs = i.mode;
      const Operand &a = i[1 + outs], &b = i[2 + outs], &c = i[3 + outs];
      const bool wide = i.op != Op::kImad;
      u32 third;
      if (!wide) {
        third = source(c);
      } else if (c.kind == Kind::kImmediate) {
        if ((c.value >> 31) != 0) refuse("a 64-bit summand given by 32 bits");
        third = constant_pair(c.value, 0);
      } else {
        third = source_pair(c);
      }
      u64 m = (i.extended ? kExtended : 0) | (i.is_signed ? kSigned : 0) | (b.negated ? kNegateB : 0) |
              (c.negated ? kNegateC : 0);
      u32 in = zero_;
      if (i.extended) {
        in = predicate(i[4 + outs]);
        m |= i[4 + outs].negated ? kNegateP : 0;
      }
      if (i.op == Op::kImadHi && (b.negated || c.negated)) refuse("a sign");
      const char* const name = i.op == Op::kImad       ? "sass.imad"
                               : i.op == Op::kImadWide ? "sass.imad.wide"
                                                       : "sass.imad.hi";
      const u32 pc = emit_alu(twin(name), destination(i[0]), {source(a), source(b), third, in}, m);
      at(pc).list = outs > 0 ? predicate_out(i[1]) : kNone;
      return;
    }
    case Op::kLea: {
      u32 n = 1 + i.mode;
      const Operand &a = i[n], &b = i[n + 1];
      n += 2;
      u32 third = zero_;
      if (i.high && !i.is_signed) third = source(i[n++]);
      ++n;  // the shift
      u64 m = (i.extended ? kExtended : 0) | (i.high ? kHigh : 0) | (i.is_signed ? kSigned : 0) |
              u64{i.shift} << kShiftAt | (a.negated ? kNegateA : 0) | (b.negated ? kNegateB : 0);
      u32 in = zero_;
      if (i.extended) {
        in = predicate(i[n]);
        m |= i[n].negated ? kNegateP : 0;
      }
      const u32 pc = emit_alu(twin("sass.lea"), destination(i[0]), {source(a), source(b), third, in}, m);
      at(pc).list = i.mode != 0 ? predicate_out(i[1]) : kNone;
      return;
    }
    case Op::kLop3: {
      const u32 n = i.mode;  // predicates written
      const Operand& in = i[n + 5];
      const u32 pc = emit_alu(twin("sass.lop3"), destination(i[n]),
                              {source(i[n + 1]), source(i[n + 2]), source(i[n + 3]), predicate(in)},
                              u64{i.table} << kTableAt | (in.negated ? kNegateP : 0) | (i.high ? kHigh : 0));
      at(pc).list = n != 0 ? predicate_out(i[0]) : kNone;
      return;
    }
    case Op::kPlop3: {
      const u32 pc = emit_alu(
          twin("sass.plop3"), predicate_out(i[0]), {predicate(i[2]), predicate(i[3]), predicate(i[4])},
          u64{i.table} << kTableAt | u64{i.table2} << kTable2At | (i[2].negated ? kNegateP : 0) |
              (i[3].negated ? kNegateQ : 0) | (i[4].negated ? kNegateR : 0));
      at(pc).list = predicate_out(i[1]);
      return;
    }
    case Op::kShf:
      emit_alu(twin("sass.shf"), destination(i[0]), {source(i[1]), source(i[2]), source(i[3])}, common(i));
      return;
    case Op::kIsetp: {
      const u32 pc = emit_alu(
          twin("sass.isetp"), predicate_out(i[0]), {source(i[2]), source(i[3]), zero_, predicate(i[4])},
          common(i) | (i[4].negated ? kNegateP : 0) | (i.extended && i[5].negated ? kNegateQ : 0));
      at(pc).list = predicate_out(i[1]);
      at(pc).target = i.extended ? predicate(i[5]) : kNone;
      return;
    }
    case Op::kVimnmx:
    case Op::kViaddmnmx: {
      const bool adds = i.op == Op::kViaddmnmx;
      const Operand& p = i[adds ? 4 : 3];
      emit_alu(
          "sass.vimnmx", destination(i[0]),
          {source(i[1]), source(i[adds ? 3 : 2]), adds ? source(i[2]) : zero_, predicate(p)},
          (i.is_signed ? kSigned : 0) | (p.negated ? kNegateP : 0) | (adds && i[2].negated ? kNegateC : 0));
      return;
    }
    case Op::kIabs:
      emit_alu("abs.s32", destination(i[0]), {source(i[1])});
      return;
    case Op::kPopc:
    case Op::kBrev:
      emit_alu(twin(i.op == Op::kPopc ? "sass.popc" : "sass.brev"), destination(i[0]), {source(i[1])},
               i[1].negated ? kNegateA : 0);
      return;
    case Op::kFlo: {
      const u32 n = i.mode;
      const u32 pc =
          emit_alu(twin("sass.flo"), destination(i[n]), {source(i[n + 1])},
                   (i[n + 1].negated ? kNegateA : 0) | (i.is_signed ? kSigned : 0) | (i.high ? kHigh : 0));
      at(pc).list = n != 0 ? predicate_out(i[0]) : kNone;
      return;
    }
    case Op::kPrmt:
      emit_alu(twin("sass.prmt"), destination(i[0]), {source(i[1]), source(i[2]), source(i[3])});
      return;
    case Op::kSel:
      emit_alu(twin("sass.sel"), destination(i[0]), {source(i[1]), source(i[2]), zero_, predicate(i[3])},
               i[3].negated ? kNegateP : 0);
      return;
    case Op::kSgxt:
      emit_alu(twin("sass.sgxt"), destination(i[0]), {source(i[1]), source(i[2])}, common(i));
      return;
    case Op::kIdp:
      emit_alu("sass.idp", destination(i[0]), {source(i[1]), source(i[2]), source(i[3])}, common(i));
      return;
    default:
      refuse("it is not implemented");
  }
}

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
      return;
    }
    case Op::kR2ur: {
      const u32 pc = emit_alu("sass.r2ur", destination(i[i.mode]), {source(i[i.mode + 1u])});
      at(pc).list = i.mode != 0 ? predicate_out(i[0]) : kNone;
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
  using execute::Special;
  Special special;
  switch (i.mode) {
    case 0x00:
      special = Special::kLaneid;
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
      special = Special::kZero;  // a block is its own cluster
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

// Conversions are PTX's, by way of a row of 64-bit values where there are any.
void Lowering::lower_conversion(const Instruction& i) {
  static constexpr const char* kToFloat[] = {"rn", "rm", "rp", "rz"};
  static constexpr const char* kToInteger[] = {"rni", "rmi", "rpi", "rzi"};
  std::string name;
  bool wide_result = false, wide_source = false, narrow_result = false;
  const Operand& from = i[1];
  const auto single_or_double = [](u8 type) { return type == 3 ? "f64" : "f32"; };
  switch (i.op) {
    case Op::kI2f:
    case Op::kI2fp: {
      wide_result = i.type == 3;
      wide_source = i.source_type == 3;
      name = fmt::format("cvt.{}.{}.{}{}", kToFloat[i.rounding], single_or_double(i.type),
                         i.is_signed ? "s" : "u", wide_source ? 64 : 32);
      break;
    }
    case Op::kF2i:
      wide_result = i.type == 3;
      wide_source = i.source_type == 3;
      if (i.source_type == 2 && i.mode == 0 && i.type != 3) refuse("a NaN that becomes no zero");
      name = fmt::format("cvt.{}{}.{}{}.{}", kToInteger[i.rounding], i.flush ? ".ftz" : "",
                         i.is_signed ? "s" : "u", wide_result ? 64 : 32, single_or_double(i.source_type));
      break;
    case Op::kFrnd:
      wide_result = wide_source = i.type == 3;
      name = fmt::format("cvt.{}{}.{}.{}", kToInteger[i.rounding], i.flush ? ".ftz" : "",
                         single_or_double(i.type), single_or_double(i.type));
      break;
    case Op::kF2fp: {
      const bool bfloat = i.type == 4;
      if (i[1].negated || i[2].negated || i[1].absolute || i[2].absolute) refuse("a sign");
      emit_alu(bfloat ? "cvt.rn.bf16x2.f32" : "cvt.rn.f16x2.f32", destination(i[0]),
               {source(i[1]), source(i[2])});
      return;
    }
    default: {  // F2F
      if (i.source_type != 2 && i.source_type != 3) refuse("a source of 16 bits");
      wide_result = i.type == 3;
      wide_source = i.source_type == 3;
      narrow_result = i.type == 1 || i.type == 4;
      const char* const to = i.type == 1 ? "f16" : i.type == 4 ? "bf16" : single_or_double(i.type);
      const std::string rounding =
          i.type == 3 ? "" : fmt::format("{}.", kToFloat[i.rounding]);  // widening needs none
      name =
          fmt::format("cvt.{}{}{}.{}", rounding, i.flush ? "ftz." : "", to, single_or_double(i.source_type));
    }
  }
  if (!execute::find_operation(name)) refuse(fmt::format("there is no conversion {}", name));
  u32 operand;
  const bool has_sign = from.negated || from.absolute;
  if (wide_source) {
    operand = wide_scratch(0);
    const u32 pc = emit("pack.32x2", true, false);
    const u32 pair = source_pair(from);
    at(pc).d = operand;
    at(pc).s[0] = pair;
    at(pc).s[1] = pair + 128;
    if (has_sign) {
      for (const char* const sign :
           {from.absolute ? "abs.f64" : nullptr, from.negated ? "neg.f64" : nullptr}) {
        if (sign == nullptr) continue;
        const u32 change = emit(sign, true, false);
        at(change).d = at(change).s[0] = operand;
      }
    }
  } else {
    operand = source(from);
    if (has_sign) {
      const u32 pc = emit("sass.fsel", true, false);  // with its signs
      at(pc).d = scratch();
      at(pc).s[0] = operand;
      at(pc).s[1] = operand;
      at(pc).s[3] = 4 * kTrue;
      at(pc).imm = static_cast<execute::i64>(signs_a(from));
      operand = scratch();
    }
    const bool from_integer = i.op == Op::kI2f || i.op == Op::kI2fp;
    if (from_integer && i.source_type < 2) {  // 8 and 16 bits
      const u32 pc = emit("sass.sgxt", true, false);
      at(pc).d = scratch();
      at(pc).s[0] = operand;
      at(pc).s[1] = constant(i.source_type == 0 ? 8 : 16);
      at(pc).imm = i.is_signed ? static_cast<execute::i64>(kSigned) : 0;
      operand = scratch();
    }
  }
  if (!wide_result && !narrow_result) {
    emit_alu(name, destination(i[0]), {operand});
    return;
  }
  emit_alu(name, wide_scratch(1), {operand});
  if (narrow_result) {
    const u32 pc = emit("cvt.u32.u16", true);
    at(pc).d = destination(i[0]);
    at(pc).s[0] = wide_scratch(1);
    return;
  }
  for (u32 half = 0; half < 2; ++half) {
    const u32 pc = emit(half == 0 ? "unpack.64.32.0" : "unpack.64.32.1", true);
    at(pc).d = destination(i[0]) + half * 128;
    at(pc).s[0] = wide_scratch(1);
  }
}

}  // namespace vgpu::sass
