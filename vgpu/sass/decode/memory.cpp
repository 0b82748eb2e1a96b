// SPDX-License-Identifier: Apache-2.0
// Loads and stores, and the addresses that all memory instructions share.
#include <fmt/format.h>

#include "sass/decode/families.hpp"

namespace vgpu::sass {

Operand register_address(Reader& r, bool scaled) {
  static constexpr std::uint8_t kScales[] = {0, 2, 3, 4};
  Operand address = r.address_at(24, r.signed_field(40, 24));
  if (scaled) address.scale = kScales[r.field(78, 2)];
  return address;
}

Operand near_address(Reader& r, unsigned uniform_position, bool scaled) {
  Operand address = register_address(r, scaled);
  if (r.bit(91)) {
    address.uniform = r.uniform_index(uniform_position);
    address.shows_zero = true;
  } else {
    r.unused(uniform_position);
  }
  return address;
}

Operand far_address(Reader& r, unsigned descriptor_position, unsigned descriptor_bit) {
  Operand address = register_address(r, false);
  if (!r.bit(72)) r.refuse("an address of 32 bits");
  if (r.architecture() < 80) {
    if (!r.bit(91)) {
      r.unused(descriptor_position);
      return address;
    }
    address.uniform = r.uniform_index(descriptor_position);
    address.wide = r.bit(90);
    address.narrow = !address.wide;
  } else if (r.bit(descriptor_bit)) {
    r.expect(91, 1, {1});
    address.wide = true;
    address.bank = r.uniform_index(descriptor_position);
  } else if (r.bit(91)) {
    if (r.bit(90)) r.refuse("a uniform register and a pair of registers");
    address.uniform = r.uniform_index(descriptor_position);
    if (address.uniform == kZeroUniform) r.refuse("an address of 32 bits");
    address.narrow = address.shows_zero = true;
  } else {
    r.unused(descriptor_position);
  }
  return address;
}

void add_far(Reader& r, const Operand& address) {
  if (!address.wide || r.architecture() < 80) return r.add(address);
  // The disassembler shows the descriptor only where bit 101 is set.
  if (r.architecture() < 90 && !r.bit(101)) return r.add(address);
  const std::string descriptor =
      address.bank == kZeroUniform ? "desc[URZ]" : fmt::format("desc[UR{}]", address.bank);
  r.add_prefixed(descriptor, address);
}

void eviction_at(Reader& r) { r.named(84, 3, {".EF", "", ".EL", ".LU", ".EU", ".NA"}); }
void order_at(Reader& r) {
  if (r.architecture() < 80) {
    r.insn.strong =
        r.named(77, 4,
                {nullptr, nullptr, nullptr, ".CONSTANT.SYS", nullptr, nullptr, nullptr, ".SYS",
                 ".STRONG.CTA", ".STRONG.SM", ".STRONG.GPU", ".STRONG.SYS"}) >= 8;
    return;
  }
  const std::uint8_t order = r.named(77, 4,
                                     {"", nullptr, nullptr, nullptr, ".CONSTANT", ".STRONG.SM",
                                      nullptr, ".STRONG.GPU", nullptr, nullptr, ".STRONG.SYS"});
  r.insn.strong = order >= 5;
}

namespace {

void size_at(Reader& r, std::initializer_list<const char*> names) {
  static constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 8, 16};
  const std::uint8_t size = r.named(73, 3, names);
  r.insn.bytes = kBytes[size];
  r.insn.is_signed = size == 1 || size == 3;
}
const std::initializer_list<const char*> kSizes = {".U8", ".S8", ".U16", ".S16", "", ".64", ".128"};

void prefetch_at(Reader& r) { r.named(68, 2, {"", ".LTC64B", ".LTC128B", ".LTC256B"}); }

// Instructions without a descriptor have a 32-bit offset; the register to store follows it.
// Before sm_80 only LD and ST have them.
bool plain(Reader& r) {
  if (r.architecture() >= 80) return !r.bit(76) && !r.bit(91);
  return (r.insn.op == Op::kLd || r.insn.op == Op::kSt) && !r.bit(91);
}
Operand plain_address(Reader& r) {
  r.expect(72, 1, {1});
  return r.address_at(24, r.signed_field(32, 32));
}

}  // namespace

// LDG, LD.
void decode_load_far(Reader& r) {
  r.suffix(".E");
  eviction_at(r);
  prefetch_at(r);
  size_at(r, kSizes);
  order_at(r);
  r.expect(81, 3, {0, 7});
  r.expect(64, 4, {0});
  r.expect(70, 2, {0});
  r.ignore(87, 4);
  r.add(r.general_at(16));
  add_far(r, plain(r) ? plain_address(r) : far_address(r, 32));
}

void decode_store_far(Reader& r) {
  r.suffix(".E");
  eviction_at(r);
  size_at(r, kSizes);
  order_at(r);
  r.expect(81, 3, {0, 7});
  r.ignore(87, 4);
  const bool is_plain = plain(r);
  add_far(r, is_plain ? plain_address(r) : far_address(r, 64));
  r.add(r.general_at(is_plain ? 64 : 32));
}

void decode_lds(Reader& r) {
  if (r.architecture() < 80) r.suffix_if(r.bit(76), ".U");
  size_at(r, kSizes);
  r.add({r.general_at(16), near_address(r, 32, true)});
  r.unused(64);
}

void decode_sts(Reader& r) {
  size_at(r, kSizes);
  r.add({near_address(r, 64, true), r.general_at(32)});
  r.unused(16);
}

// Local memory accesses have the same cache hints as global ones.
void decode_ldl(Reader& r) {
  eviction_at(r);
  size_at(r, kSizes);
  r.ignore(87, 4);
  r.add({r.general_at(16), near_address(r, 32)});
}

void decode_stl(Reader& r) {
  eviction_at(r);
  size_at(r, kSizes);
  r.ignore(87, 4);
  r.add({near_address(r, 64), r.general_at(32)});
}

// LDC, ULDC: a constant's index may be in a register.
void decode_ldc(Reader& r) {
  const bool late = r.insn.opcode == 0x7ac;  // LDCU
  size_at(r, {".U8", ".S8", ".U16", ".S16", "", ".64", late ? ".128" : nullptr});
  r.expect(78, 2, {0});
  Operand source;
  source.kind = Kind::kConstant;
  source.index = kZeroRegister;
  source.bank = static_cast<std::uint8_t>(r.field(54, 5));
  source.value = static_cast<std::uint32_t>(late ? r.field(37, 17) : r.field(38, 16));
  // With a register the offset has a sign.
  const auto offset =
      static_cast<std::uint32_t>(late ? r.signed_field(37, 17) : r.signed_field(38, 16));
  const bool uniform = r.insn.opcode != 0xb82;
  if (!uniform) {
    source.index = static_cast<std::uint8_t>(r.field(24, 8));
    source.shows_zero = true;
    if (source.index != kZeroRegister) source.value = offset;
  } else if (r.insn.opcode == 0xabb || late) {
    source.uniform = r.uniform_index(24);
    source.shows_zero = source.wide = late;
    if (source.uniform != kZeroUniform) source.value = offset;
  } else {
    r.unused(24);
  }
  r.add({uniform ? r.uniform_at(16) : r.general_at(16), source});
  r.expect(91, 1, {r.insn.opcode == 0xabb || late ? 1u : 0u});
}

}  // namespace vgpu::sass
