// SPDX-License-Identifier: Apache-2.0
// Moves between registers of all kinds and between lanes, special registers.
#include <fmt/format.h>

#include "sass/decode/families.hpp"

namespace vgpu::sass {

void decode_mov(Reader& r) {
  if (!r.insn.uniform) r.expect(72, 4, {0xf, 0});
  r.unused(24);
  const bool wide = r.architecture() >= 120 && r.suffix_if(r.bit(80), ".64");
  if (wide) r.insn.op = Op::kMov64;
  Operand d = r.reg(16), a = r.second();
  if (wide && a.kind != Kind::kRegister && a.kind != Kind::kUniform) r.refuse("another operand");
  d.pair = a.pair = wide;
  r.add({d, a});
}

// Moves predicates to a byte of a register.
void decode_p2r(Reader& r) {
  r.insn.mode = r.byte(76, 2);
  if (r.insn.mode != 0) r.suffix(fmt::format(".B{}", r.insn.mode).c_str());
  if (r.form() != 4) r.refuse("a mask in a register");
  r.unused(64);
  r.add(r.reg(16));
  r.add_text(r.insn.uniform ? "UPR" : "PR");
  r.add({r.a(), Reader::immediate(r.field(32, 32))});
}

// Moves a byte of a register to predicates.
void decode_r2p(Reader& r) {
  r.insn.mode = r.byte(76, 2);
  if (r.form() != 4) r.refuse("a mask in a register");
  r.unused(16);
  r.unused(64);
  r.add_text(r.insn.uniform ? "UPR" : "PR");
  r.add(r.a());
  if (r.insn.mode != 0) r.add_behind(fmt::format(".B{}", r.insn.mode));
  const Operand chosen = Reader::immediate(r.field(32, 32));
  chosen.value == 0xff ? r.add_silently(chosen) : r.add(chosen);
}

// Copies the value of one active lane; the predicate is set in lanes with a different value.
void decode_r2ur(Reader& r) {
  r.insn.combine = r.suffix_if(r.bit(84), ".OR") ? Combine::kOr : Combine::kAnd;
  r.insn.mode = r.add_written(r.predicate_at(81)) ? 1 : 0;
  r.add({r.uniform_at(16), r.general_at(24)});
  r.unused(32);
}

namespace {

struct NamedSpecial {
  std::uint64_t number;
  const char* name;
};
constexpr NamedSpecial kSpecials[] = {
#define SPECIAL(number, name, special) {number, name},
#define UNREAD(number, name) {number, name},
#include "sass/special_registers.def"
};

// Reads the register's number. Returns its name.
const char* special_register(Reader& r) {
  const std::uint64_t number = r.field(72, 8);
  r.insn.mode = static_cast<std::uint8_t>(number);
  for (const NamedSpecial& each : kSpecials) {
    if (each.number == number) return each.name;
  }
  r.refuse(fmt::format("special register 0x{:x}", number));
}

}  // namespace

// S2R, S2UR.
void decode_s2r(Reader& r) {
  const char* const name = special_register(r);
  r.add(r.insn.opcode == 0x9c3 ? r.uniform_at(16) : r.general_at(16));
  r.add_text(name);
}

void decode_cs2r(Reader& r) {
  const char* const name = special_register(r);
  r.insn.bytes = r.bit(80) ? 8 : 4;
  r.suffix_if(r.insn.bytes == 4, ".32");
  r.add(r.general_at(16));
  r.add_text(name);
}

// Exchange between the lanes of a warp: shuffles, votes, matches, reductions; and address queries.

void decode_shfl(Reader& r) {
  r.insn.mode = r.named(58, 2, {".IDX", ".UP", ".DOWN", ".BFLY"});
  r.add({r.predicate_at(81), r.general_at(16), r.general_at(24)});
  const unsigned opcode = r.insn.opcode;
  const bool fixed_lane = opcode == 0xf89 || opcode == 0x989,
             fixed_clamp = opcode == 0xf89 || opcode == 0x589;
  r.add({fixed_lane ? Reader::immediate(r.field(53, 5)) : r.general_at(32),
         fixed_clamp ? Reader::immediate(r.field(40, 13)) : r.general_at(64)});
}

// VOTE, VOTEU: the mask of lanes whose predicate is true, and whether it is true in all lanes or in
// any lane, or equal in all.
void decode_vote(Reader& r) {
  const bool uniform = r.insn.opcode == 0x886;
  r.insn.mode = r.named(72, 2, {".ALL", ".ANY", ".EQ"});
  Operand d = uniform ? r.uniform_at(16) : r.general_at(16);
  Operand p = r.predicate_at(81);
  if (uniform) p.kind = Kind::kUniformPredicate;
  const bool mask_wanted = d.index != (uniform ? kZeroUniform : kZeroRegister);
  if (mask_wanted)
    r.add(d);
  else
    r.insn.high = true;  // the predicate is the only result
  r.add({p, r.predicate_at(87, 90)});
}

void decode_match(Reader& r) {
  r.insn.high = r.field(79, 2) == 0;
  r.suffix(r.insn.high ? ".ALL" : ".ANY");
  r.insn.bytes = r.suffix_if(r.bit(73), ".U64") ? 8 : 4;
  const Operand p = r.predicate_at(81);
  if (r.insn.high) r.add(p);
  r.add({r.general_at(16), r.general_at(24)});
}

void decode_redux(Reader& r) {
  r.insn.mode = r.named(78, 3, {"", ".OR", ".XOR", ".SUM", ".MIN", ".MAX"});
  r.insn.is_signed = r.suffix_if(r.bit(73), ".S32");
  r.add({r.uniform_at(16), r.general_at(24)});
}

void decode_elect(Reader& r) {
  r.add({r.predicate_at(81), r.uniform_at(16), r.predicate_at(87, 90)});
}

void decode_qspc(Reader& r) {
  r.suffix(".E");
  r.insn.mode = r.named(72, 4, {nullptr, ".G", nullptr, ".L", nullptr, ".S", nullptr, ".D"});
  r.add({r.predicate_at(81), r.general_at(16)});
  Operand address = register_address(r, false);
  if (r.insn.opcode == 0x9aa) {
    r.expect(91, 1, {1});
    address.uniform = r.uniform_index(32);
    address.wide = r.bit(90);
    address.narrow = !address.wide;
  }
  r.add(address);
}

}  // namespace vgpu::sass
