// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies to shared memory, mbarriers (SYNCS, ARRIVES) and register reallocation
// (USETMAXREG).
#include <fmt/format.h>

#include "sass/decode/families.hpp"

namespace vgpu::sass {

Operand uniform_address(Reader& r, unsigned position) {
  Operand address;
  address.kind = Kind::kAddress;
  address.index = kZeroRegister;
  address.uniform = r.uniform_index(position);
  address.shows_zero = true;
  return address;
}

// [shared address], [global address], and a predicate; if it is false, zeros are written. ZFILL:
// the lowest bits of the global address are a number of bytes: the copy ends with as many zeros.
void decode_ldgsts(Reader& r) {
  r.suffix(".E");
  r.suffix_if(!r.bit(81), ".BYPASS");
  eviction_at(r);
  const bool shifted = r.architecture() >= 100;
  if (!shifted) r.expect(70, 1, {1});
  r.named(shifted ? 72 : 71, 2, {"", ".LTC64B", ".LTC128B", ".LTC256B"});
  static constexpr std::uint8_t kBytes[] = {4, 8, 16};
  r.insn.bytes = kBytes[r.named(shifted ? 74 : 73, 2, {"", ".64", ".128"})];
  if (!shifted) r.expect(75, 1, {1});
  if (shifted) r.expect(83, 1, {1});
  r.insn.mode = r.named(82, shifted ? 1 : 2, {"", ".ZFILL"});
  r.expect(77, 4, {0});
  if (!r.bit(76)) r.refuse("an address without a descriptor");
  r.expect(91, 1, {1});
  r.add(r.address_at(16, r.signed_field(44, 20)));
  Operand from = r.address_at(24, r.signed_field(32, 12));
  from.wide = true;
  from.bank = r.uniform_index(64);
  add_far(r, from);
  r.add_unless_true(r.predicate_at(87, 90));
}

// The copies since the last LDGDEPBAR form a group, which counts on the scoreboard `mode`.
void decode_ldgdepbar(Reader& r) { r.insn.mode = r.byte(110, 3); }

// Waits until at most `shift` instructions are pending on the scoreboard `mode`, and none on those
// of the mask `table`.
void decode_depbar(Reader& r) {
  const bool counts = r.bit(47);
  r.insn.mode = counts ? r.byte(44, 3) : kNoScoreboard;
  r.insn.table = r.byte(32, 6);
  if (counts) {
    r.suffix(".LE");
    r.insn.shift = r.byte(38, 6);
    r.add_text(fmt::format("SB{}", r.insn.mode));
    r.add(Reader::immediate(r.insn.shift));
  }
  if (r.insn.table == 0 && counts) return;
  std::string set;
  for (unsigned n = 6; n-- > 0;) {
    if ((r.insn.table >> n & 1) != 0) set += fmt::format("{}{}", set.empty() ? "" : ",", n);
  }
  r.add_text("{" + set + "}");
}

// SYNCS.EXCH.64 URd, [URa + offset], URb: sets the mbarrier to the 64 bits in URb and the next
// register.
void decode_syncs_exchange(Reader& r) {
  r.expect(72, 1, {1});
  r.expect(91, 1, {1});
  r.suffix(".64");
  const Operand old = r.uniform_at(16);
  if (old.index != kZeroUniform) r.refuse("what the mbarrier was before");
  Operand address = uniform_address(r, 24);
  address.value = static_cast<std::uint32_t>(r.signed_field(40, 24));
  r.add({old, address, r.uniform_at(32)});
}

// SYNCS.ARRIVE.TRANS64 Rd, [address], Rb: the numbers of arrivals and of bytes are 0, 1 or Rb.
void decode_syncs_arrive(Reader& r) {
  r.expect(70, 2, {0});
  r.suffix_if(r.bit(74), ".RED");
  if (r.bit(73)) r.refuse("an arrival that gives the lanes before it");
  r.insn.high = r.suffix_if(r.bit(75), ".OPTOUT");  // decrements the expected arrivals
  r.insn.mode = r.named(84, 3, {"", ".A1T0", ".A0T1", ".A0TR", ".A0TX", ".ART0"});
  r.add({r.general_at(16), near_address(r, 64), r.general_at(32)});
}

// SYNCS.PHASECHK P, [address], Rb: whether the phase with the parity in bit 31 of Rb is complete.
void decode_syncs_test(Reader& r) {
  r.expect(70, 2, {1});
  r.suffix_if(r.bit(72), ".TRYWAIT");
  r.add({r.predicate_at(81), near_address(r, 64), r.general_at(32)});
}

void decode_syncs_invalidate(Reader& r) { r.add(near_address(r, 64)); }

// Arrives at the mbarrier, or completes one byte, when the lanes' earlier copies have completed.
void decode_copies_arrive(Reader& r) {
  r.expect(72, 4, {0xa});
  r.insn.mode = r.named(70, 2, {nullptr, ".ARVCNT", ".TRANSCNT"});
  r.add(near_address(r, 64));
}

// USETMAXREG.TRY_ALLOC UP, registers; USETMAXREG.DEALLOC registers.
void decode_set_registers(Reader& r) {
  r.insn.mode = r.named(72, 2, {nullptr, ".DEALLOC", ".TRY_ALLOC"});
  r.expect(74, 1, {1});
  r.suffix(".CTAPOOL");
  Operand got = r.predicate_at(81);
  got.kind = Kind::kUniformPredicate;
  if (r.insn.mode == 2) r.add(got);
  r.add(Reader::immediate(r.field(32, 10)));
  r.ignore(91, 1);
}

}  // namespace vgpu::sass
