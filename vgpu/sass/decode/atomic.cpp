// SPDX-License-Identifier: Apache-2.0
// Atomics and reductions: on global memory (ATOMG, REDG), at generic addresses (ATOM), on shared
// memory (ATOMS).
#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

// Types of floating-point sums that are named below (float_sum).
constexpr std::uint8_t kFloatPair = 0, kSingle = 9, kDouble = 15;

const std::initializer_list<const char*> kAtomics = {".ADD", ".MIN", ".MAX", ".INC", ".DEC",
                                                     ".AND", ".OR",  ".XOR", ".EXCH"};

// Before sm_90, floating-point sums have the opcodes of the other atomics.
void atomic_size(Reader& r, bool adds) {
  if (r.architecture() >= 90) {
    const std::uint8_t type = r.named(73, 3, {"", ".S32", ".64", ".S64"});
    r.insn.is_signed = type == 1 || type == 3;
    r.insn.bytes = type >= 2 ? 8 : 4;
    return;
  }
  static constexpr std::uint8_t kFloats[] = {kSingle, kFloatPair, 0, kDouble};
  const std::uint8_t type =
      r.named(73, 3, {"", ".S32", ".64", ".F32.FTZ.RN", ".F16x2.RN", ".S64", ".F64.RN"});
  r.insn.is_signed = type == 1 || type == 5;
  r.insn.bytes = type == 2 || type >= 5 ? 8 : 4;
  r.insn.floating = type == 3 || type == 4 || type == 6;
  if (!r.insn.floating) return;
  if (!adds) r.refuse("an operation of floating point");
  r.insn.type = kFloats[type - 3];
  r.insn.shift = 1;
}

// Floating-point sums: `bytes` per element, `shift` elements.
void float_sum(Reader& r) {
  r.insn.floating = true;
  r.suffix(".ADD");
  r.insn.type = r.named(73, 4,
                        {".F16x2.RN", ".F16x4.RN", ".F16x8.RN", ".BF16x2.RN", ".BF16x4.RN",
                         ".BF16x8.RN", nullptr, nullptr, nullptr, ".F32.FTZ.RN", ".F32x2.FTZ.RN",
                         ".F32x4.FTZ.RN", nullptr, nullptr, nullptr, ".F64.RN"});
  r.insn.bytes = r.insn.type == kDouble ? 8 : 4;
  static constexpr std::uint8_t kWords[] = {1, 2, 4, 1, 2, 4, 0, 0, 0, 1, 2, 4, 0, 0, 0, 1};
  r.insn.shift = kWords[r.insn.type];
}

// `bit`: from sm_100 on, there is a descriptor. Those with a result have bit 63 for registers of 64
// bits.
Operand atomic_address(Reader& r, unsigned bit, bool has_result) {
  if (r.architecture() < 100) return far_address(r, 64, 71);
  r.expect(72, 1, {1});
  if (r.insn.opcode == 0x38a) {
    r.unused(64);
    r.expect(76, 1, {0});
    return r.address_at(24, r.signed_field(40, 24));
  }
  if (has_result) r.expect(63, 1, {1});
  Operand address = r.address_at(24, r.signed_field(40, has_result ? 23 : 24));
  r.expect(bit, 1, {1});
  r.expect(91, 1, {1});
  address.wide = true;
  address.bank = r.uniform_index(64);
  return address;
}

// From sm_100 on, the register of the descriptor has these bits.
void result_at(Reader& r, std::uint64_t value) {
  if (r.architecture() < 80)
    r.ignore(70, 2);
  else if (r.architecture() < 100)
    r.expect(70, 1, {value});
}

}  // namespace

// The result is the old value. At generic addresses a predicate is set in the lanes whose memory
// supports the operation.
void decode_atomg(Reader& r) {
  r.suffix(".E");
  r.insn.mode = r.named(87, 4, kAtomics);
  atomic_size(r, r.insn.mode == 0);
  order_at(r);
  r.expect(84, 3, {1});
  result_at(r, r.insn.opcode == 0x38a ? 0 : 1);  // without a descriptor
  if (r.architecture() < 100) r.expect(76, 1, {0});
  r.insn.strong = true;
  r.add({r.predicate_at(81), r.general_at(16)});
  add_far(r, atomic_address(r, 76, true));
  r.add(r.general_at(32));
}

void decode_atomg_float(Reader& r) {
  r.suffix(".E");
  r.expect(87, 3, {0});
  if (r.architecture() < 100) r.expect(90, 1, {0});
  float_sum(r);
  order_at(r);
  r.expect(84, 3, {1});
  result_at(r, 1);
  r.add({r.predicate_at(81), r.general_at(16)});
  add_far(r, atomic_address(r, 90, true));
  r.add(r.general_at(32));
}

static void reduction_operands(Reader& r) {
  order_at(r);
  r.expect(84, 3, {1});
  r.expect(81, 3, {0, 7, r.architecture() >= 100 ? 1u : 0u});
  result_at(r, 0);
  r.unused(16);
  add_far(r, atomic_address(r, 81, false));
  r.add(r.general_at(32));
}

void decode_red(Reader& r) {
  r.suffix(".E");
  r.insn.mode = r.named(87, 3, kAtomics);
  atomic_size(r, r.insn.mode == 0);
  r.expect(76, 1, {0});
  r.ignore(90, 1);
  reduction_operands(r);
}

// Floating-point RED.
void decode_red_float(Reader& r) {
  r.suffix(".E");
  r.expect(87, 4, {0, 8});
  float_sum(r);
  reduction_operands(r);
}

// CAST: the result is whether the value was exchanged.
void decode_atomg_cas(Reader& r) {
  r.suffix(".E");
  r.insn.mode = r.named(87, 2, {".CAS", nullptr, nullptr, ".CAST.SPIN"}) == 0 ? 9 : 10;
  r.insn.bytes = r.named(73, 3, {"", nullptr, ".64"}) == 2 ? 8 : 4;
  order_at(r);
  r.expect(84, 3, {1});
  r.ignore(89, 2);
  r.add({r.predicate_at(81), r.general_at(16)});
  r.expect(72, 1, {1});
  r.expect(76, 1, {0});
  r.add({register_address(r, false), r.general_at(32), r.general_at(64)});
}

void decode_atoms(Reader& r) {
  const bool increments = r.insn.opcode == 0xf8c;
  if (increments) {
    r.expect(87, 4, {r.architecture() < 90 ? 10u : 11u});
    r.suffix(".POPC.INC.32");
    r.insn.mode = 11;
    r.expect(73, 3, {0});
    r.insn.bytes = 4;
  } else {
    r.insn.mode = r.named(87, 4, kAtomics);
    atomic_size(r, false);
  }
  r.add({r.general_at(16), near_address(r, 64, true)});
  if (!increments) r.add(r.general_at(32));
}

void decode_atoms_cas(Reader& r) {
  r.insn.mode = r.named(87, 2, {".CAS", ".CAST", nullptr, ".CAST.SPIN"}) == 0 ? 9 : 10;
  r.insn.bytes = r.named(73, 3, {"", nullptr, ".64"}) == 2 ? 8 : 4;
  r.add({r.general_at(16), register_address(r, true), r.general_at(32), r.general_at(64)});
}

}  // namespace vgpu::sass
