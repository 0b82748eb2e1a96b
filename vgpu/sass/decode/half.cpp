// SPDX-License-Identifier: Apache-2.0
// Pairs of 16-bit floating-point numbers.
#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

Half half_at(Reader& r, unsigned position) {
  switch (r.field(position, 2)) {
    case 0: return Half::kPair;
    case 2: return Half::kLow;
    case 3: return Half::kHigh;
    default: r.refuse("a half that is neither");
  }
}

// An operand at 32.
void half_low(Reader& r, Operand& operand) {
  if (operand.kind == Kind::kImmediate) return;
  operand.half = half_at(r, 60);
  r.modify_low(operand, kBoth);
}

// Sets the format of the two halves: F16 or BF16.
void format(Reader& r, bool is_bfloat) {
  r.literal = is_bfloat ? Reader::Literal::kBfloats : Reader::Literal::kHalves;
  r.insn.type = is_bfloat ? 4 : 1;
  r.suffix_if(is_bfloat, ".BF16_V2");
}

void add_pairs(Reader& r, Operand a, Operand b) {
  a.half = half_at(r, 74);
  half_low(r, b);
  r.add({a, b});
}

// HSET2, HSETP2: bits 64 to 71 hold modifiers, not a register.
void compare_pairs(Reader& r, const char* boolean, const char* both) {
  r.expect(64, 1, {0});
  format(r, r.bit(65));
  r.suffix_if(boolean != nullptr && r.bit(71), boolean);
  float_compare_at(r);
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.suffix_if(both != nullptr && r.bit(71), both);
  r.insn.high = r.bit(71);
  r.combine_at(69);
}

}  // namespace

// HADD2, HMUL2: pairs of 16-bit values. The result may be FP32.
void decode_hadd2(Reader& r) {
  if (r.insn.op == Op::kHadd2) {
    r.insn.high = r.suffix_if(r.bit(78), ".F32");
  } else {
    r.expect(78, 1, {0});
    r.expect(76, 1, {0});
  }
  format(r, r.bit(85));
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.add(r.reg(16));
  add_pairs(r, r.a(kBoth), r.second());
}

// HFMA2 and HFMA2.MMA, which differ in the pipe that they run on.
void decode_hfma2(Reader& r) {
  const bool matrix_pipe = (r.insn.opcode & 0x1ff) == 0x35;
  r.suffix_if(matrix_pipe, ".MMA");
  format(r, r.bit(85));
  // A product of which a factor lies outside the tensor, and the sum, are zero.
  if (!matrix_pipe) r.insn.extended = r.suffix_if(r.bit(76), ".OOB");
  if (r.insn.extended)
    r.expect(80, 1, {1});
  else
    r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.insn.wrap = r.suffix_if(r.bit(79), ".RELU");  // negative results become zero
  r.expect(87, 4, {0, kTrue});
  r.add(r.reg(16));
  Operand a = r.a(kNegate), b = r.b(), c = r.c();
  if (!matrix_pipe) a.half = half_at(r, 74);
  Operand& high = r.is_crossed() ? b : c;
  Operand& low = r.is_crossed() ? c : b;
  r.modify_low(low, kNegate);
  if (!matrix_pipe && low.kind != Kind::kImmediate) low.half = half_at(r, 60);
  high.absolute = r.bit(83);
  high.negated = r.bit(84);
  if (!matrix_pipe) high.half = half_at(r, 81);
  if (!matrix_pipe && r.bit(86)) {
    if (b.half != Half::kPair || b.kind == Kind::kImmediate) r.refuse("a half that is neither");
    b.half = Half::kCrossed;
  }
  r.add({a, b, c});
}

// The minimum if the predicate is true, otherwise the maximum.
void decode_hmnmx2(Reader& r) {
  format(r, r.bit(85));
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  extremes_at(r);
  r.add(r.reg(16));
  add_pairs(r, r.a(kBoth), r.second());
  r.add(r.predicate_at(87, 90));
}

// The same of three operands.
void decode_vhmnmx(Reader& r) {
  format(r, r.bit(85));
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  extremes_at(r);
  r.add(r.reg(16));
  add_pairs(r, r.a(kBoth), r.reg(32));
  Operand c = r.reg(64);
  c.half = half_at(r, 76);
  c.absolute = r.bit(83);
  c.negated = r.bit(84);
  r.add({c, r.predicate_at(87, 90)});
}

// One result per half: if true, all bits are set or, with .BF, the value is 1.
void decode_hset2(Reader& r) {
  compare_pairs(r, ".BF", nullptr);
  r.add(r.reg(16));
  add_pairs(r, r.a(kBoth), r.form() == 1 ? r.reg(32) : r.c());
  r.add(r.predicate_at(87, 90));
}

// One predicate per half; with .H_AND one predicate for both halves, and its complement.
void decode_hsetp2(Reader& r) {
  compare_pairs(r, nullptr, ".H_AND");
  r.add({r.predicate_at(81), r.predicate_at(84)});
  add_pairs(r, r.a(kBoth), r.form() == 1 ? r.reg(32) : r.c());
  r.add(r.predicate_at(87, 90));
}

}  // namespace vgpu::sass
