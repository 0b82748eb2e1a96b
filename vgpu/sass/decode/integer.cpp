// SPDX-License-Identifier: Apache-2.0
// Integers, bits and predicates.
#include <fmt/format.h>

#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

void add_carry_in(Reader& r) {
  r.ignore(84, 3);  // an unused second carry
  const Operand in = r.predicate_at(87, 90);
  if (r.insn.extended)
    r.add(in);
  else if (in.index != kTrue)
    r.refuse("a carry without .X");
}

}  // namespace

// d, carry-outs p and q, a, b, c, and with .X two carry-ins.
void decode_iadd3(Reader& r) {
  r.insn.extended = r.suffix_if(r.bit(74), ".X");
  r.bitwise = r.insn.extended;
  r.insn.operands = {};
  r.add(r.reg(16));
  const Operand p = r.predicate_at(81), q = r.predicate_at(84);
  const bool any = p.index != kTrue || q.index != kTrue;
  if (any) r.add(p);
  r.add_written(q);
  r.insn.mode = static_cast<std::uint8_t>(r.insn.count - 1);  // carries out
  if (r.prints_absent_predicates()) add_absent(r, any ? 2u - r.insn.mode : 2u);
  r.add({r.a(kNegate), r.b(kNegate), r.c(kNegate)});  // bit 74 is .X, not an absolute value
  const Operand in = r.predicate_at(87, 90), in2 = r.predicate_at(77, 80);
  if (r.insn.extended) {
    r.add({in, in2});
  } else if (in.index != kTrue || in2.index != kTrue) {
    r.refuse("a carry without .X");
  }
}

// Pairs of registers.
void decode_iadd3_wide(Reader& r) {
  decode_iadd3(r);
  if (r.insn.extended || r.insn.mode != 0) r.refuse("a carry");
}

static void imad(Reader& r, bool wide) {
  r.signed_at(73, ".U32");
  r.insn.extended = r.suffix_if(r.bit(74), ".X");
  r.bitwise = r.insn.extended;
  r.add(r.reg(16));
  if (r.add_written(r.predicate_at(81)) && !wide) r.refuse("a carry out");
  r.insn.mode = static_cast<std::uint8_t>(r.insn.count - 1);  // carries out
  r.expect(72, 1, {0});
  r.add({r.a(), r.b(kNegate), r.c(kNegate)});
  r.ignore(76, 5);
  add_carry_in(r);
}

void decode_imad(Reader& r) { imad(r, false); }
void decode_imad_wide(Reader& r) {
  r.suffix(".WIDE");
  imad(r, true);
}
void decode_imad_high(Reader& r) {
  r.suffix(".HI");
  imad(r, true);
  if (r.insn.extended) r.refuse("a carry");
}

// d, carry-out, a, b: d = (a << shift) + b. With .HI, the shifted value is the upper half of
// (c:a << shift).
void decode_lea(Reader& r) {
  r.insn.high = r.suffix_if(r.bit(80), ".HI");
  r.insn.extended = r.suffix_if(r.bit(74), ".X");
  r.insn.is_signed = r.suffix_if(r.bit(73), ".SX32");
  r.insn.shift = r.byte(75, 5);
  r.add(r.reg(16));
  r.add_written(r.predicate_at(81));
  r.insn.mode = static_cast<std::uint8_t>(r.insn.count - 1);
  Operand b = r.b(), c = r.c();
  r.modify_low(r.is_crossed() ? c : b, kNegate);
  if (c.negated) r.refuse("a negated summand");
  r.bitwise = r.insn.extended;
  r.add({r.a(kNegate), b});
  if (r.insn.high && !r.insn.is_signed)
    r.add(c);
  else if (c.kind != (r.insn.uniform ? Kind::kUniform : Kind::kRegister))
    r.refuse("a third operand");
  r.add(Reader::immediate(r.insn.shift));
  add_carry_in(r);
}

void decode_lop3(Reader& r) {
  r.suffix(".LUT");
  const Operand p = r.predicate_at(81);
  r.insn.mode = p.index != kTrue ? 1 : 0;  // predicates written
  if (r.suffix_if(r.bit(80), ".PAND")) r.insn.high = true;
  r.add_written(p);
  r.add({r.reg(16), r.a(), r.b(), r.c()});
  r.insn.table = r.byte(72, 8);
  r.add({Reader::immediate(r.insn.table), r.predicate_at(87, 90)});
  r.ignore(84, 3);
}

void decode_plop3(Reader& r) {
  r.suffix(".LUT");
  r.insn.table = static_cast<std::uint8_t>(r.field(64, 3) | r.field(72, 5) << 3);
  r.insn.table2 = r.byte(16, 8);
  r.add({r.predicate_at(81), r.predicate_at(84), r.predicate_at(87, 90), r.predicate_at(77, 80)});
  Operand third = r.predicate_at(68, 71);
  if (r.bit(67)) third.kind = Kind::kUniformPredicate;
  r.add({third, Reader::immediate(r.insn.table), Reader::immediate(r.insn.table2)});
  r.ignore(91, 1);
}

// The signs of three registers in place of predicates.
void decode_plop3_signs(Reader& r) {
  r.suffix(".LUT");
  r.insn.table = r.byte(72, 8);
  r.insn.table2 = r.byte(16, 8);
  r.add({r.predicate_at(81), r.predicate_at(84)});
  for (const Operand& o : {r.a(), r.b(), r.c()}) {
    if (o.kind != Kind::kRegister && o.kind != Kind::kUniform) r.refuse("another operand");
    r.add(o);
    r.add_behind(".SIGN");
  }
  r.add({Reader::immediate(r.insn.table), Reader::immediate(r.insn.table2)});
}

void decode_shf(Reader& r) {
  r.insn.right = r.named(76, 1, {".L", ".R"}) != 0;
  r.insn.wrap = r.suffix_if(r.bit(75), ".W");
  r.insn.type = r.named(73, 2, {".S64", ".U64", ".S32", ".U32"});
  r.insn.high = r.suffix_if(r.bit(80), ".HI");
  r.add({r.reg(16), r.a(), r.b(), r.c()});
  r.ignore(77, 3);
  r.expect(81, 3, {0, 7});
  r.ignore(84, 3);
  r.ignore(87, 4);
}

void decode_isetp(Reader& r) {
  r.insn.compare =
      static_cast<Compare>(r.named(76, 3, {".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".T"}));
  r.insn.is_signed = r.bit(73);
  const bool wide = r.architecture() >= 100 && r.bit(80);
  r.suffix_if(wide, r.insn.is_signed ? ".S64" : ".U64");
  r.suffix_if(!wide && !r.insn.is_signed, ".U32");
  r.combine_at(74);
  r.insn.extended = r.suffix_if(r.bit(72), ".EX");
  r.add({r.predicate_at(81), r.predicate_at(84), r.a()});
  const Operand lower = r.predicate_at(68, 71);
  r.expect(64, 4, {0});
  r.add({r.form() == 1   ? r.reg(32)
         : r.form() == 4 ? Reader::immediate(r.field(32, 32))
                         : r.b(),
         r.predicate_at(87, 90)});
  if (r.insn.extended)
    r.add(lower);
  else if (!is_true(lower) && !(lower.index == 0 && !lower.negated))
    r.refuse("a comparison of the lower words without .EX");
  if (!wide) return;
  if (r.insn.extended) r.refuse("128 bits");
  make_pairs(r);
}

// One number or two of 16 bits (`type`). `wrap`: negative results become zero.
static void vector_type_at(Reader& r) {
  const char* const word = r.architecture() >= 120 ? ".S32" : "";
  const std::uint8_t type = r.named(72, 2, {".U32", word, ".U16x2", ".S16x2"});
  r.insn.is_signed = type % 2 != 0;
  r.insn.type = type / 2;
  r.insn.wrap = r.suffix_if(r.bit(76), ".RELU");
}

// VIMNMX: the minimum if the predicate is true, otherwise the maximum; p and q, if there are any:
// whether the lower (upper) half is a's.
void decode_vimnmx(Reader& r) {
  vector_type_at(r);
  r.add(r.reg(16));
  const Operand p = r.predicate_at(81), q = r.predicate_at(84);
  if (p.index != kTrue || q.index != kTrue) {
    r.insn.mode = 2;  // predicates written
    r.add({p, q});
  } else if (r.architecture() == 100) {
    add_absent(r, 2);
  }
  r.add({r.a(), r.second(), r.predicate_at(87, 90)});
}

// The same before sm_90, of 32 bits only.
void decode_imnmx(Reader& r) {
  r.signed_at(73, ".U32");
  r.expect(81, 6, {0, 0x3f});
  r.add({r.reg(16), r.a(), r.second(), r.predicate_at(87, 90)});
}

void decode_vimnmx3(Reader& r) {
  vector_type_at(r);
  r.add({r.reg(16), r.a(), r.b(), r.c(), r.predicate_at(87, 90)});
}

// The minimum or maximum of a + b and c.
void decode_viaddmnmx(Reader& r) {
  vector_type_at(r);
  r.add({r.reg(16), r.a(), r.b(kNegate), r.c(), r.predicate_at(87, 90)});
  r.expect(81, 6, {0, 0x3f});
}

// The difference's magnitude added to c.
void decode_vabsdiff(Reader& r) {
  r.signed_at(73, ".U32");
  r.expect(81, 3, {kTrue});
  r.add({r.reg(16), r.a(), r.b(), r.c()});
}

// The same for each byte; `mode`: adds the four and c.
void decode_vabsdiff4(Reader& r) {
  r.signed_at(73, ".U8");
  r.insn.mode = r.suffix_if(r.bit(75), ".ACC") ? 1 : 0;
  r.expect(81, 3, {kTrue});
  r.add({r.reg(16), r.a(), r.b(), r.c()});
}

// `high`: of each half.
void decode_viadd(Reader& r) {
  r.insn.high = r.suffix_if(r.bit(73), ".16x2");
  r.add({r.reg(16), r.a(kNegate), r.second(kNegate)});
}

// One source: IABS, POPC, BREV.
void decode_unary(Reader& r) {
  r.bitwise = true;
  r.unused(24);
  r.add({r.reg(16), r.second(r.insn.op == Op::kIabs ? Modifier::kNone : kNegate)});
}

void decode_flo(Reader& r) {
  r.bitwise = true;
  r.signed_at(73, ".U32");
  r.insn.high = r.suffix_if(r.bit(74), ".SH");  // distance from the top
  r.unused(24);
  r.add_written(r.predicate_at(81));
  r.insn.mode = r.insn.count;
  r.add({r.reg(16), r.second(kNegate)});
}

void decode_prmt(Reader& r) {
  r.insn.type = r.named(72, 3, {"", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16"});
  r.add({r.reg(16), r.a(), r.b(), r.c()});
}

void decode_sel(Reader& r) {
  const bool wide = r.insn.uniform && r.form() == 6;
  if (r.suffix_if(wide && r.architecture() >= 120, ".64")) r.insn.op = Op::kSel64;
  r.add({r.reg(16), r.a(), r.second(), r.predicate_at(87, 90)});
  if (r.insn.op == Op::kSel64) make_pairs(r);
}

// BMSK: a mask of b bits that begins at bit a; values of 32 and more behave as in PTX's bmsk
// (measured). SGXT: the lower b bits of a, extended.
void decode_bit_range(Reader& r) {
  r.insn.wrap = r.suffix_if(r.bit(75), ".W");
  if (r.insn.op == Op::kSgxt) r.signed_at(73, ".U32");
  r.add({r.reg(16), r.a(), r.second()});
}

// The dot product of four pairs of bytes, or (`mode`) of two numbers of 16 bits with two bytes of
// b.
void decode_idp(Reader& r) {
  r.insn.mode = r.bit(76) ? 1 : 0;
  const bool pairs = r.insn.mode == 1;
  r.suffix(pairs ? ".2A" : ".4A");
  if (pairs) r.insn.right = r.named(77, 1, {".LO", ".HI"}) != 0;  // b's upper bytes
  r.insn.is_signed = r.named(73, 1, {".U", ".S"}) != 0;
  r.suffix(pairs ? "16" : "8");
  r.insn.high = r.named(74, 1, {".U8", ".S8"}) != 0;  // b is signed
  r.add({r.reg(16), r.a(), r.b(), r.c()});
}

// Integers of 64 bits in pairs of registers, from sm_100 on.

void add_absent(Reader& r, unsigned count) {
  for (unsigned n = 0; n < count; ++n) r.add_text(r.insn.uniform ? "UPT" : "PT");
}

void make_pairs(Reader& r) {
  for (std::size_t n = 0; n < r.insn.count; ++n) {
    Operand& o = r.insn.operands[n];
    o.pair = o.kind == Kind::kRegister || o.kind == Kind::kUniform || o.kind == Kind::kImmediate;
  }
}

// IADD.64: d, a, b in pairs of registers.
void decode_iadd64(Reader& r) {
  r.suffix(".64");
  r.expect(73, 2, {1});
  r.expect(81, 3, {kTrue});
  r.expect(84, 3, {0});
  r.expect(87, 4, {0xf, 7});
  r.ignore(75, 6);
  r.add({r.reg(16), r.a(kNegate), r.second(kNegate)});
  make_pairs(r);
}

// UIADD3.64: a + b + c in pairs of registers.
void decode_iadd3_64(Reader& r) {
  r.suffix(".64");
  r.expect(73, 8, {0xf0});
  r.expect(81, 6, {0x3f});
  r.expect(87, 4, {0xf});
  r.add(r.reg(16));
  add_absent(r, 2);
  Operand b = r.b();
  if (b.kind == Kind::kUniform) b.negated = r.bit(63);
  r.add({r.a(kNegate), b, r.c()});
  make_pairs(r);
}

// SEL.64: the immediate has 33 bits.
void decode_sel64(Reader& r) {
  r.suffix(".64");
  r.add({r.reg(16), r.a()});
  if (r.form() == 2) {
    const bool negative = r.bit(64);
    Operand b = Reader::immediate(r.field(32, 32));
    if (negative != (b.value >> 31 != 0)) r.refuse("an immediate of more than 32 bits");
    r.add(b);
  } else {
    r.unused(64);
    r.add(r.form() == 7 ? r.uniform_at(32) : r.reg(32));
  }
  r.add(r.predicate_at(87, 90));
  make_pairs(r);
}

// MOV.64, UMOV.64 of an immediate that begins at bit 24; its upper half is Instruction::target.
void decode_mov64(Reader& r) {
  r.suffix(".64");
  Operand d = r.reg(16);
  d.pair = true;
  r.add(d);
  const std::uint64_t value = r.field(24, 64);
  r.insn.target = static_cast<std::uint32_t>(value >> 32);
  r.add_silently(Reader::immediate(value));
  r.add_text(fmt::format("0x{:x}", value));
}

}  // namespace vgpu::sass
