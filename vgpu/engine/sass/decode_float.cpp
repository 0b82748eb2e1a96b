// SPDX-License-Identifier: Apache-2.0
// Floating point and conversions.
#include "engine/sass/families.hpp"

namespace vgpu::sass {
namespace {

using Modifier = Reader::Modifier;
constexpr Modifier kBoth = Modifier::kNegateAndAbsolute;

void rounding_at(Reader& r, unsigned position) {
  r.insn.rounding = r.named(position, 2, {"", ".RM", ".RP", ".RZ"});
}

void compare_at(Reader& r) {
  r.insn.compare =
      static_cast<Compare>(r.named(76, 4,
                                   {".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM", ".NAN", ".LTU",
                                    ".EQU", ".LEU", ".GTU", ".NEU", ".GEU", ".T"}));
}
void combine_at(Reader& r) { r.insn.combine = static_cast<Combine>(r.named(74, 2, {".AND", ".OR", ".XOR"})); }

}  // namespace

void decode_ffma(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  rounding_at(r, 78);
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.add(r.reg(16));
  Operand a = r.a(), b = r.b(), c = r.c();
  r.modify_first(a, kBoth);
  r.modify_b(b, kBoth);
  r.modify_c(c, kBoth);
  r.add(a);
  r.add(b);
  r.add(c);
}

// FADD, FMUL.
void decode_fadd(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  if (r.insn.op == Op::kFmul) r.expect(84, 3, {4});  // no power of two besides
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  rounding_at(r, 78);
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.add(r.reg(16));
  Operand a = r.a(), b = r.second();
  r.modify_first(a, kBoth);
  r.modify_low(b, kBoth);
  r.add(a);
  r.add(b);
}

// FMNMX, FSEL: the predicate chooses.
void decode_fsel(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.add(r.reg(16));
  Operand a = r.a(), b = r.second();
  r.modify_first(a, kBoth);
  r.modify_low(b, kBoth);
  r.add(a);
  r.add(b);
  r.add(r.predicate_at(87, 90));
}

// FSETP, DSETP.
void decode_fsetp(Reader& r) {
  r.literal = r.insn.op == Op::kDsetp ? Reader::Literal::kDouble : Reader::Literal::kSingle;
  compare_at(r);
  r.insn.flush = r.insn.op == Op::kFsetp && r.suffix_if(r.bit(80), ".FTZ");
  combine_at(r);
  r.add(r.predicate_at(81));
  r.add(r.predicate_at(84));
  Operand a = r.a(), b = r.second();
  r.modify_first(a, kBoth);
  r.modify_low(b, kBoth);
  r.add(a);
  r.add(b);
  r.add(r.predicate_at(87, 90));
}

void decode_fchk(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.add(r.predicate_at(81));
  Operand a = r.a(), b = r.second();
  r.modify_first(a, kBoth);
  r.modify_low(b, kBoth);
  r.add(a);
  r.add(b);
}

void decode_mufu(Reader& r) {
  r.insn.mode = r.named(
      74, 6, {".COS", ".SIN", ".EX2", ".LG2", ".RCP", ".RSQ", ".RCP64H", ".RSQ64H", ".SQRT", ".TANH"});
  r.literal = r.insn.mode == 6 || r.insn.mode == 7 ? Reader::Literal::kDouble : Reader::Literal::kSingle;
  r.unused(24);
  r.add(r.reg(16));
  Operand a = r.second();
  r.modify_low(a, kBoth);
  r.add(a);
}

void decode_dfma(Reader& r) {
  r.literal = Reader::Literal::kDouble;
  rounding_at(r, 78);
  r.add(r.reg(16));
  Operand a = r.a(), b = r.b(), c = r.c();
  r.modify_first(a, kBoth);
  r.modify_b(b, kBoth);
  r.modify_c(c, kBoth);
  r.add(a);
  r.add(b);
  r.add(c);
}

void decode_dmul(Reader& r) {
  r.literal = Reader::Literal::kDouble;
  rounding_at(r, 78);
  r.add(r.reg(16));
  Operand a = r.a(), b = r.second();
  r.modify_first(a, kBoth);
  r.modify_low(b, kBoth);
  r.add(a);
  r.add(b);
}

// The second operand lies where others have their third.
void decode_dadd(Reader& r) {
  r.literal = Reader::Literal::kDouble;
  rounding_at(r, 78);
  r.add(r.reg(16));
  Operand a = r.a();
  if (r.form() == 1) r.unused(32);
  Operand b = r.c();
  r.modify_first(a, kBoth);
  r.modify_c(b, kBoth);
  r.add(a);
  r.add(b);
}

namespace {

const std::initializer_list<const char*> kIntegerSizes = {"8", "16", "32", "64"};

void integer_type(Reader& r, std::uint8_t size, bool is_signed, bool say_signed_32) {
  if (size == 2 && is_signed && !say_signed_32) return;
  r.suffix(is_signed ? ".S" : ".U");
  r.suffix(kIntegerSizes.begin()[size]);
}

}  // namespace

// Types: 0 to 3 integers of 8, 16, 32 and 64 bits; 1 F16, 2 F32, 3 F64, 4 BF16.
void decode_i2f(Reader& r) {
  r.unused(24);
  r.expect(60, 2, {0});
  r.insn.type = static_cast<std::uint8_t>(r.field(75, 2));
  if (r.insn.type < 2) r.refuse("a result of 16 bits");
  r.suffix_if(r.insn.type == 3, ".F64");
  r.insn.source_type = static_cast<std::uint8_t>(r.field(84, 2));
  r.insn.is_signed = r.bit(74);
  integer_type(r, r.insn.source_type, r.insn.is_signed, false);
  rounding_at(r, 78);
  r.add(r.reg(16));
  Operand a = r.second();
  r.add(a);
}

void decode_f2i(Reader& r) {
  r.unused(24);
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.type = static_cast<std::uint8_t>(r.field(75, 2));
  r.insn.is_signed = r.bit(72);
  if (r.insn.type < 2) r.refuse("a result of 8 or 16 bits");
  integer_type(r, r.insn.type, r.insn.is_signed, false);
  r.insn.source_type = static_cast<std::uint8_t>(r.field(84, 3));
  if (r.insn.source_type != 2 && r.insn.source_type != 3) r.refuse("a source of 16 bits");
  r.suffix_if(r.insn.source_type == 3, ".F64");
  r.insn.rounding = r.named(78, 2, {"", ".FLOOR", ".CEIL", ".TRUNC"});
  r.insn.mode = r.suffix_if(r.bit(77), ".NTZ") ? 1 : 0;
  r.add(r.reg(16));
  Operand a = r.second();
  r.modify_low(a, kBoth);
  r.add(a);
}

void decode_f2f(Reader& r) {
  r.unused(24);
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.type = r.named(75, 3, {nullptr, ".F16", ".F32", ".F64", ".BF16"});
  r.insn.source_type = r.named(84, 3, {nullptr, ".F16", ".F32", ".F64", ".BF16"});
  rounding_at(r, 78);
  r.add(r.reg(16));
  Operand a = r.second();
  r.modify_low(a, kBoth);
  r.add(a);
}

void decode_frnd(Reader& r) {
  r.unused(24);
  r.literal = Reader::Literal::kSingle;
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.type = static_cast<std::uint8_t>(r.field(75, 3));
  r.insn.source_type = static_cast<std::uint8_t>(r.field(84, 3));
  if (r.insn.type != r.insn.source_type || (r.insn.type != 2 && r.insn.type != 3)) r.refuse("types");
  r.suffix_if(r.insn.type == 3, ".F64");
  r.insn.rounding = r.named(78, 2, {"", ".FLOOR", ".CEIL", ".TRUNC"});
  r.add(r.reg(16));
  Operand a = r.second();
  r.modify_low(a, kBoth);
  r.add(a);
}

void decode_i2fp(Reader& r) {
  r.unused(24);
  r.expect(75, 3, {2});
  r.expect(84, 2, {2});
  r.insn.type = r.insn.source_type = 2;
  r.insn.is_signed = r.bit(74);
  r.suffix(r.insn.is_signed ? ".F32.S32" : ".F32.U32");
  r.insn.rounding = r.named(78, 2, {"", nullptr, nullptr, ".RZ"});
  r.add(r.reg(16));
  r.add(r.second());
}

// Two singles to a pair of halves; the second operand goes to the lower half.
void decode_f2fp(Reader& r) {
  r.literal = Reader::Literal::kSingle;
  r.expect(86, 2, {0});
  r.expect(78, 3, {0});
  r.insn.saturate = r.suffix_if(r.bit(77), ".SATFINITE");
  if (r.insn.saturate) r.refuse("saturation to finite values");
  r.insn.type = r.bit(76) ? 4 : 1;
  r.suffix(r.insn.type == 4 ? ".BF16.F32.PACK_AB" : ".F16.F32.PACK_AB");
  r.add(r.reg(16));
  Operand a = r.a(), b = r.b();
  r.modify_first(a, kBoth);
  r.modify_b(b, kBoth);
  r.add(a);
  r.add(b);
  r.expect(64, 8, {kZeroRegister});
}

namespace {

Half half_at(Reader& r, unsigned position, bool single_allowed) {
  switch (r.field(position, 2)) {
    case 0:
      return Half::kPair;
    case 2:
      return Half::kLow;
    case 3:
      return Half::kHigh;
    default:
      if (!single_allowed) r.refuse("a half that is neither");
      return Half::kSingle;
  }
}

void half_low(Reader& r, Operand& operand) {  // at 32
  if (operand.kind == Kind::kImmediate) return;
  operand.half = half_at(r, 60, false);
  r.modify_low(operand, kBoth);
}

}  // namespace

// HADD2, HMUL2: pairs of halves. The type of the result may be a single.
void decode_hadd2(Reader& r) {
  const bool is_bfloat = r.bit(85);
  r.literal = is_bfloat ? Reader::Literal::kBfloats : Reader::Literal::kHalves;
  r.insn.type = is_bfloat ? 4 : 1;
  if (r.insn.op == Op::kHadd2) {
    r.insn.high = r.suffix_if(r.bit(78), ".F32");
  } else {
    r.expect(78, 1, {0});
    r.expect(76, 1, {0});
  }
  r.suffix_if(is_bfloat, ".BF16_V2");
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.add(r.reg(16));
  Operand a = r.a(), b = r.second();
  a.half = half_at(r, 74, false);
  r.modify_first(a, kBoth);
  half_low(r, b);
  r.add(a);
  r.add(b);
}

// HFMA2 and HFMA2.MMA, which differ in the pipe that they run on.
void decode_hfma2(Reader& r) {
  const bool matrix_pipe = (r.insn.opcode & 0x1ff) == 0x35;
  const bool is_bfloat = r.bit(85);
  r.literal = is_bfloat ? Reader::Literal::kBfloats : Reader::Literal::kHalves;
  r.insn.type = is_bfloat ? 4 : 1;
  r.suffix_if(matrix_pipe, ".MMA");
  r.suffix_if(is_bfloat, ".BF16_V2");
  r.insn.flush = r.suffix_if(r.bit(80), ".FTZ");
  r.insn.saturate = r.suffix_if(r.bit(77), ".SAT");
  r.add(r.reg(16));
  Operand a = r.a(), b = r.b(), c = r.c();
  const bool c_is_high = r.form() != 2 && r.form() != 3 && r.form() != 7;
  r.modify_first(a, Modifier::kNegate);
  if (!matrix_pipe) a.half = half_at(r, 74, false);
  Operand& high = c_is_high ? c : b;
  Operand& low = c_is_high ? b : c;
  if (low.kind != Kind::kImmediate) {
    low.negated = r.bit(63);
    if (!matrix_pipe) low.half = half_at(r, 60, false);
  }
  high.negated = r.bit(84);
  if (!matrix_pipe) high.half = half_at(r, 81, false);
  r.add(a);
  r.add(b);
  r.add(c);
}

}  // namespace vgpu::sass
