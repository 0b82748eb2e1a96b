// SPDX-License-Identifier: Apache-2.0
// Integers of 64 bits in pairs of registers, from sm_100 on.
#include <fmt/format.h>

#include "sass/decode/families.hpp"

namespace vgpu::sass {

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
  r.add(r.reg(16));
  Operand a = r.a(), b = r.second();
  a.negated = r.bit(72);
  r.modify_low(b, Modifier::kNegate);
  r.add({a, b});
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
  Operand a = r.a(), b = r.b();
  a.negated = r.bit(72);
  if (b.kind == Kind::kUniform) b.negated = r.bit(63);
  r.add({a, b, r.c()});
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
