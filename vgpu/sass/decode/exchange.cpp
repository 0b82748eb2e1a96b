// SPDX-License-Identifier: Apache-2.0
// Exchange between the lanes of a warp: shuffles, votes, matches, reductions; and address queries.
#include "sass/decode/families.hpp"

namespace vgpu::sass {

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
  r.insn.high = r.field(79, 2) == 0;  // .ALL
  if (r.insn.high) {
    r.suffix(".ALL");
  } else {
    r.suffix(".ANY");
  }
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
  Operand p = r.predicate_at(81);
  r.add({p, r.uniform_at(16), r.predicate_at(87, 90)});
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
