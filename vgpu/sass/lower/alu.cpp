// SPDX-License-Identifier: Apache-2.0
// Lowering of arithmetic instructions: operands become rows, modifiers become bits (modifiers.hpp).
#include <fmt/format.h>

#include "ir/modifiers.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {
namespace {

u64 signs(const Operand& o, u64 negate, u64 absolute) {
  return (o.negated ? negate : 0) | (o.absolute ? absolute : 0);
}
u64 signs_a(const Operand& o) { return signs(o, kNegateA, kAbsoluteA); }
u64 signs_b(const Operand& o) { return signs(o, kNegateB, kAbsoluteB); }
u64 signs_c(const Operand& o) { return signs(o, kNegateC, kAbsoluteC); }
u64 sign_a(const Operand& o) { return o.negated ? kNegateA : 0; }
u64 sign_b(const Operand& o) { return o.negated ? kNegateB : 0; }
u64 sign_c(const Operand& o) { return o.negated ? kNegateC : 0; }
u64 sign_p(const Operand& o) { return o.negated ? kNegateP : 0; }

u64 common(const Instruction& i) {
  return (i.flush ? kFlush : 0) | (i.saturate ? kSaturate : 0) | u64{i.rounding} << kRoundingAt |
         (i.extended ? kExtended : 0) | (i.is_signed ? kSigned : 0) | (i.high ? kHigh : 0) |
         (i.right ? kRight : 0) | (i.wrap ? kWrap : 0) |
         u64{static_cast<u8>(i.compare)} << kCompareAt |
         u64{static_cast<u8>(i.combine)} << kCombineAt | u64{i.type & 7u} << kTypeAt;
}

u64 half_bits(const Operand& o) {
  return o.half == Half::kLow ? 1 : o.half == Half::kHigh ? 2 : o.half == Half::kCrossed ? 3 : 0;
}

}  // namespace

// .XORSIGN is known with |a| and |b| only, which is how the compiler emits it.
void Lowering::need_plain_signs(const Instruction& i) const {
  const auto magnitude = [](const Operand& o) { return o.absolute && !o.negated; };
  if (i.wrap && !(magnitude(i[1]) && magnitude(i[2]))) refuse(".XORSIGN without |a| and |b|");
}

void Lowering::lower_float(const Instruction& i) {
  switch (i.op) {
    case Op::kFfma: {
      const Operand &a = i[1], &b = i[2], &c = i[3];
      const bool plain =
          !i.flush && !i.saturate && i.rounding == 0 && !a.absolute && !b.absolute && !c.absolute;
      if (!plain) {
        emit_row("sass.ffma", i, 3, common(i) | signs_a(a) | signs_b(b) | signs_c(c));
        return;
      }
      const bool minus = a.negated != b.negated;
      const char* const name = minus ? (c.negated ? "sass.ffma.minus.less" : "sass.ffma.minus")
                                     : (c.negated ? "sass.ffma.less" : "fma.rn.f32");
      emit_row(name, i, 3);
      return;
    }
    case Op::kFadd:
    case Op::kFmul: {
      const u64 m = common(i) | signs_a(i[1]) | signs_b(i[2]);
      const bool multiplies = i.op == Op::kFmul;
      constexpr unsigned kUnscaled = 4;
      if (multiplies && i.mode != kUnscaled) {
        emit_row("sass.fmul.scaled", i, 2, m).sub = i.mode;
        return;
      }
      const char* const name = m == 0 ? (multiplies ? "mul.rn.f32" : "add.rn.f32")
                                      : (multiplies ? "sass.fmul" : "sass.fadd");
      emit_row(name, i, 2, m);
      return;
    }
    case Op::kFmnmx: need_plain_signs(i); [[fallthrough]];
    case Op::kFsel:
    case Op::kFset:
      emit_alu(i.op == Op::kFmnmx  ? "sass.fmnmx"
               : i.op == Op::kFsel ? "sass.fsel"
                                   : "sass.fset",
               destination(i[0]), {source(i[1]), source(i[2]), zero_, predicate(i[3])},
               common(i) | signs_a(i[1]) | signs_b(i[2]) | sign_p(i[3]));
      return;
    case Op::kFsetp:
    case Op::kDsetp: {
      const bool wide = i.op == Op::kDsetp;
      if (i.uniform) return lower_uniform_comparison(i);
      const u32 a = wide ? source_pair(i[2]) : source(i[2]),
                b = wide ? source_pair(i[3]) : source(i[3]);
      emit_alu(wide ? "sass.dsetp" : "sass.fsetp", {predicate_out(i[0]), predicate_out(i[1])},
               {a, b, zero_, predicate(i[4])},
               common(i) | signs_a(i[2]) | signs_b(i[3]) | sign_p(i[4]));
      return;
    }
    case Op::kFswzadd: emit_row("sass.fswzadd", i, 2, common(i)).sub = i.mode; return;
    case Op::kFchk: emit_alu("sass.fchk", predicate(i[0]), {source(i[1]), source(i[2])}); return;
    case Op::kMufu:
      if (i.type != 0) return lower_half_function(i);
      emit_row("sass.mufu", i, 1, signs_a(i[1])).sub = i.mode;
      return;
    case Op::kDfma:
      emit_alu("sass.dfma", destination(i[0]),
               {source_pair(i[1]), source_pair(i[2]), source_pair(i[3])},
               common(i) | signs_a(i[1]) | signs_b(i[2]) | signs_c(i[3]));
      return;
    default:
      emit_alu(i.op == Op::kDmul ? "sass.dmul" : "sass.dadd", destination(i[0]),
               {source_pair(i[1]), source_pair(i[2])}, common(i) | signs_a(i[1]) | signs_b(i[2]));
  }
}

// UFSETP: the result of an active lane, which all have, becomes the uniform predicate.
void Lowering::lower_uniform_comparison(const Instruction& i) {
  if (i[1].index != kTrue) refuse("two results");
  helper("sass.fsetp", kCarryPredicates, {source(i[2]), source(i[3]), zero_, predicate(i[4])},
         common(i) | signs_a(i[2]) | signs_b(i[3]) | sign_p(i[4]));
  program_.code.back().list = kNone;
  helper("sass.sel", scratch(), {constant(1), zero_, zero_, kCarryPredicates});
  helper("sass.r2ur", address_rows(), {scratch()});
  emit_alu("u.sass.isetp", {predicate_out(i[0]), kNone}, {address_rows(), zero_, zero_, 4 * kTrue},
           u64{static_cast<u8>(Compare::kNotEqual)} << kCompareAt)
      .target = kNone;
}

void Lowering::lower_half(const Instruction& i) {
  if (i.flush && i.type == 4) refuse("subnormal halves as zeros");
  const bool is_bfloat = i.type == 4;
  const auto pairs = [](const Operand& a, const Operand& b) {
    return signs_a(a) | signs_b(b) | half_bits(a) << kHalfAAt | half_bits(b) << kHalfBAt;
  };
  const auto named = [&](const char* half, const char* bfloat) {
    return is_bfloat ? bfloat : half;
  };
  if (i.op == Op::kHmnmx2) {
    need_plain_signs(i);
    emit_alu(named("sass.hmnmx2", "sass.bmnmx2"), destination(i[0]),
             {source(i[1]), source(i[2]), zero_, predicate(i[3])},
             pairs(i[1], i[2]) | sign_p(i[3]) | (i.high ? kHigh : 0) | (i.wrap ? kWrap : 0) |
                 (i.flush ? kFlush : 0));
    return;
  }
  if (i.op == Op::kVhmnmx) {
    if (i.wrap) refuse(".XORSIGN of three operands");
    emit_alu(named("sass.hmnmx3", "sass.bmnmx3"), destination(i[0]),
             {source(i[1]), source(i[2]), source(i[3]), predicate(i[4])},
             pairs(i[1], i[2]) | signs_c(i[3]) | half_bits(i[3]) << kHalfCAt | sign_p(i[4]) |
                 (i.high ? kHigh : 0) | (i.flush ? kFlush : 0));
    return;
  }
  if (i.op == Op::kHset2) {
    emit_alu(named("sass.hset2", "sass.bset2"), destination(i[0]),
             {source(i[1]), source(i[2]), zero_, predicate(i[3])},
             common(i) | pairs(i[1], i[2]) | sign_p(i[3]));
    return;
  }
  if (i.op == Op::kHsetp2) {
    emit_alu(named("sass.hsetp2", "sass.bsetp2"), {predicate_out(i[0]), predicate_out(i[1])},
             {source(i[2]), source(i[3]), zero_, predicate(i[4])},
             common(i) | pairs(i[2], i[3]) | sign_p(i[4]));
    return;
  }
  if (i.flush && i.op == Op::kHadd2 && i.high) refuse("subnormal halves as zeros");
  u64 m = (i.saturate ? kSaturate : 0) | (i.flush ? kFlush : 0) | (i.high ? kHigh : 0) |
          pairs(i[1], i[2]);
  if (i.op == Op::kHfma2) {
    m |= signs_c(i[3]) | half_bits(i[3]) << kHalfCAt | (i.wrap ? kRelu : 0) |
         (i.extended ? kExtended : 0);
    // The compiler loads constants in this form: -0 * 0 + constant.
    const bool moves = i[1].kind == Kind::kRegister && i[1].index == kZeroRegister &&
                       i[1].negated && i[2].kind == Kind::kRegister &&
                       i[2].index == kZeroRegister && !i[2].negated && !i.wrap &&
                       i[3].kind == Kind::kImmediate && !i.saturate;
    if (moves) {
      emit_alu("mov.b32", destination(i[0]), {constant(i[3].value)});
      return;
    }
    emit_row(named("sass.hfma2", "sass.bfma2"), i, 3, m);
    return;
  }
  const char* const name =
      i.op == Op::kHadd2 ? named("sass.hadd2", "sass.badd2") : named("sass.hmul2", "sass.bmul2");
  emit_alu(name, destination(i[0]), {source(i[1]), source(i[2]), zero_}, m);
}

// VIMNMX, VIMNMX3, VIADDMNMX.
void Lowering::lower_extreme(const Instruction& i) {
  const bool halves = i.type != 0, three = i.op == Op::kVimnmx3, adds = i.op == Op::kViaddmnmx;
  if (i.wrap && !i.is_signed) refuse(".RELU of unsigned numbers");
  if (i.mode != 0 && (!halves || i.wrap)) refuse("predicates");
  const u32 n = 1u + i.mode;
  const Operand& p = i[n + (three || adds ? 3u : 2u)];
  const u64 m = (i.is_signed ? kSigned : 0) | (i.wrap ? kRelu : 0) | (halves ? kHigh : 0) |
                sign_p(p) | (adds && i[2].negated ? kNegateC : 0);
  const u32 a = source(i[n]), b = source(i[n + 1]);
  const u32 c = three || adds ? source(i[n + 2]) : zero_;
  if (three) {
    emit_alu("sass.vimnmx3", destination(i[0]), {a, b, c, predicate(p)}, m);
    return;
  }
  if (i.uniform) {
    if (i.mode != 0) refuse("predicates");
    helper("sass.vimnmx", scratch(), {a, b, c, predicate(p)}, m);
    emit_alu("sass.r2ur", destination(i[0]), {scratch()});
    return;
  }
  Insn& insn =
      emit_alu("sass.vimnmx", destination(i[0]), {a, adds ? c : b, adds ? b : c, predicate(p)}, m);
  if (i.mode == 0) return;
  insn.list = predicate_out(i[1]);
  insn.target = predicate_out(i[2]);
}

// A 64-bit integer. An immediate is its lower word, which UIADD3.64 extends by its sign. Whether
// other instructions do is not known.
u32 Lowering::wide_source(const Operand& o) {
  if (o.kind != Kind::kImmediate) return source_pair(o);
  const bool negative = o.value >> 31 != 0;
  if (negative && current_->op != Op::kIadd3Wide) refuse("a 64-bit summand given by 32 bits");
  return constant_pair(o.value, negative ? ~0u : 0);
}

void Lowering::lower_integer(const Instruction& i) {
  switch (i.op) {
    case Op::kIadd3: {
      const u32 outs = i.mode;
      const Operand &a = i[1 + outs], &b = i[2 + outs], &c = i[3 + outs];
      u64 m = (i.extended ? kExtended : 0) | sign_a(a) | sign_b(b) | sign_c(c);
      u32 in = zero_;
      if (i.extended) {
        in = predicate(i[4 + outs]);
        m |= sign_p(i[4 + outs]) | (i[5 + outs].negated ? kNegateQ : 0) |
             u64{predicate(i[5 + outs])} << kSlotAt;
      }
      emit_alu(twin("sass.iadd3"), {destination(i[0]), outs > 0 ? predicate_out(i[1]) : kNone},
               {source(a), source(b), source(c), in}, m)
          .target = outs > 1 ? predicate_out(i[2]) : kNone;
      return;
    }
    case Op::kIadd3Wide:
      emit_alu("u.sass.iadd3.wide", destination(i[0]),
               {wide_source(i[1]), wide_source(i[2]), wide_source(i[3])},
               sign_a(i[1]) | sign_b(i[2]) | sign_c(i[3]));
      return;
    case Op::kViadd:
      emit_alu(i.high ? "sass.iadd3.halves" : "sass.iadd3", destination(i[0]),
               {source(i[1]), source(i[2]), zero_}, sign_a(i[1]) | sign_b(i[2]));
      return;
    case Op::kImad:
    case Op::kImadWide:
    case Op::kImadHi: {
      const u32 outs = i.mode;
      const Operand &a = i[1 + outs], &b = i[2 + outs], &c = i[3 + outs];
      const bool wide = i.op != Op::kImad;
      const u32 third = wide ? wide_source(c) : source(c);
      u64 m = (i.extended ? kExtended : 0) | (i.is_signed ? kSigned : 0) | sign_b(b) | sign_c(c);
      u32 in = zero_;
      if (i.extended) {
        in = predicate(i[4 + outs]);
        m |= sign_p(i[4 + outs]);
      }
      if (i.op == Op::kImadHi && (b.negated || c.negated)) refuse("a sign");
      const char* const name = i.op == Op::kImad       ? "sass.imad"
                               : i.op == Op::kImadWide ? "sass.imad.wide"
                                                       : "sass.imad.hi";
      emit_alu(twin(name), {destination(i[0]), outs > 0 ? predicate_out(i[1]) : kNone},
               {source(a), source(b), third, in}, m);
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
              u64{i.shift} << kShiftAt | sign_a(a) | sign_b(b);
      u32 in = zero_;
      if (i.extended) {
        in = predicate(i[n]);
        m |= sign_p(i[n]);
      }
      emit_alu(twin("sass.lea"), {destination(i[0]), i.mode != 0 ? predicate_out(i[1]) : kNone},
               {source(a), source(b), third, in}, m);
      return;
    }
    case Op::kLop3: {
      const u32 n = i.mode;  // predicates written
      const Operand& in = i[n + 5];
      emit_alu(twin("sass.lop3"), {destination(i[n]), n != 0 ? predicate_out(i[0]) : kNone},
               {source(i[n + 1]), source(i[n + 2]), source(i[n + 3]), predicate(in)},
               u64{i.table} << kTableAt | sign_p(in) | (i.high ? kHigh : 0));
      return;
    }
    case Op::kPlop3: {
      emit_alu(twin("sass.plop3"), {predicate_out(i[0]), predicate_out(i[1])},
               {predicate(i[2]), predicate(i[3]), predicate(i[4])},
               u64{i.table} << kTableAt | u64{i.table2} << kTable2At | sign_p(i[2]) |
                   (i[3].negated ? kNegateQ : 0) | (i[4].negated ? kNegateR : 0));
      return;
    }
    case Op::kPlop3Signs: {
      for (u32 n = 0; n < 3; ++n)
        helper("setp.lt.s32", kSignPredicates + 4 * n, {source(i[2 + n]), zero_});
      emit_alu("sass.plop3", {predicate_out(i[0]), predicate_out(i[1])},
               {kSignPredicates, kSignPredicates + 4, kSignPredicates + 8},
               u64{i.table} << kTableAt | u64{i.table2} << kTable2At);
      return;
    }
    case Op::kShf: emit_row(twin("sass.shf"), i, 3, common(i)); return;
    case Op::kIsetp:
      if (i[2].pair) return lower_wide_comparison(i);
      emit_alu(twin("sass.isetp"), {predicate_out(i[0]), predicate_out(i[1])},
               {source(i[2]), source(i[3]), zero_, predicate(i[4])},
               common(i) | sign_p(i[4]) | (i.extended && i[5].negated ? kNegateQ : 0))
          .target = i.extended ? predicate(i[5]) : kNone;
      return;
    case Op::kVimnmx:
    case Op::kVimnmx3:
    case Op::kViaddmnmx: lower_extreme(i); return;
    case Op::kVabsdiff: emit_row(i.is_signed ? "sad.s32" : "sad.u32", i, 3); return;
    case Op::kVabsdiff4:
      emit_row(fmt::format("vabsdiff4.u32.{}{}", i.is_signed ? "s32.s32" : "u32.u32",
                           i.mode == 0 ? "" : ".add"),
               i, 3);
      return;
    case Op::kIabs: emit_row("abs.s32", i, 1); return;
    case Op::kPopc: emit_row(twin("sass.popc"), i, 1, sign_a(i[1])); return;
    case Op::kBrev: emit_row(twin("sass.brev"), i, 1, sign_a(i[1])); return;
    case Op::kFlo: {
      const u32 n = i.mode;
      emit_alu(twin("sass.flo"), {destination(i[n]), n != 0 ? predicate_out(i[0]) : kNone},
               {source(i[n + 1])},
               sign_a(i[n + 1]) | (i.is_signed ? kSigned : 0) | (i.high ? kHigh : 0));
      return;
    }
    case Op::kPrmt: emit_row(twin("sass.prmt"), i, 3, common(i)); return;
    case Op::kSel:
      emit_alu(twin("sass.sel"), destination(i[0]),
               {source(i[1]), source(i[2]), zero_, predicate(i[3])}, sign_p(i[3]));
      return;
    case Op::kSgxt: emit_row(twin("sass.sgxt"), i, 2, common(i)); return;
    case Op::kBmsk: emit_row(twin("sass.bmsk"), i, 2, common(i)); return;
    case Op::kIdp:
      emit_row(fmt::format("{}.{}.{}",
                           i.mode == 0 ? "dp4a"
                           : i.right   ? "dp2a.hi"
                                       : "dp2a.lo",
                           i.is_signed ? "s32" : "u32", i.high ? "s32" : "u32"),
               i, 3);
      return;
    default: refuse("it is not implemented");
  }
}

// Integers of 64 bits become operations on the halves.

// A half of a 64-bit operand.
u32 Lowering::half_of(const Operand& o, bool upper) {
  if (o.kind == Kind::kImmediate)
    return constant(upper ? (o.value >> 31 != 0 ? ~0u : 0u) : o.value);
  const bool zero = o.index == (o.kind == Kind::kUniform ? kZeroUniform : kZeroRegister);
  return source(o) + (upper && !zero ? 128 : 0);
}

// Instructions of 64 bits in pairs of registers: the lower half, which is not counted, then the
// upper one.
void Lowering::lower_wide_integer(const Instruction& i) {
  if (i.op == Op::kMov64) {
    const u32 from =
        i[1].kind == Kind::kImmediate ? constant_pair(i[1].value, i.target) : source_pair(i[1]);
    emit_alu(twin("sass.mov64"), destination(i[0]), {from});
    return;
  }
  for (const bool upper : {false, true}) {
    const u32 pc = emit(twin(i.op == Op::kSel64 ? "sass.sel" : "sass.iadd3"), !upper);
    const bool absent = i[0].index == (i.uniform ? kZeroUniform : kZeroRegister);
    at(pc).d = destination(i[0]) + (upper && !absent ? 128 : 0);
    at(pc).s[0] = half_of(i[1], upper);
    at(pc).s[1] = half_of(i[2], upper);
    at(pc).s[2] = at(pc).s[3] = zero_;
    if (i.op == Op::kSel64) {
      at(pc).s[3] = predicate(i[3]);
      at(pc).imm = static_cast<i64>(sign_p(i[3]));
      continue;
    }
    if (i.count > 3) at(pc).s[2] = half_of(i[3], upper);
    u64 m = sign_a(i[1]) | sign_b(i[2]);
    if (upper) {
      m |= kExtended | u64{kCarryPredicates + 4} << kSlotAt;
      at(pc).s[3] = kCarryPredicates;
    } else {
      at(pc).list = kCarryPredicates;
      at(pc).target = kCarryPredicates + 4;
    }
    at(pc).imm = static_cast<i64>(m);
  }
}

void Lowering::lower_wide_comparison(const Instruction& i) {
  constexpr u32 kYes = 4 * kTrue;
  const u64 compares = u64{static_cast<u8>(i.compare)} << kCompareAt;
  helper(twin("sass.isetp"), kCarryPredicates,
         {half_of(i[2], false), half_of(i[3], false), zero_, kYes}, compares);
  program_.code.back().list = program_.code.back().target = kNone;
  emit_alu(twin("sass.isetp"), {predicate_out(i[0]), predicate_out(i[1])},
           {half_of(i[2], true), half_of(i[3], true), zero_, predicate(i[4])},
           compares | u64{static_cast<u8>(i.combine)} << kCombineAt | (i.is_signed ? kSigned : 0) |
               kExtended | sign_p(i[4]))
      .target = kCarryPredicates;
}

}  // namespace vgpu::sass
