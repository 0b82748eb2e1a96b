// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, and what lanes exchange.
#include "engine/sass/families.hpp"

#include <fmt/format.h>

namespace vgpu::sass {
namespace {

// [R + offset] of shared and local memory; a uniform register is added where bit 91 says so.
Operand near_address(Reader& r, unsigned uniform_position) {
  Operand address;
  address.kind = Kind::kAddress;
  address.index = static_cast<std::uint8_t>(r.field(24, 8));
  address.value = static_cast<std::uint32_t>(r.signed_field(40, 24));
  if (r.bit(91)) {
    address.uniform = static_cast<std::uint8_t>(r.field(uniform_position, 6));
    address.shows_zero = true;
  } else {
    r.unused(uniform_position);
  }
  return address;
}

// [R.64 + offset] of global and generic memory. The descriptor in a uniform register says how the memory is cached,
// which changes nothing here.
Operand far_address(Reader& r, unsigned descriptor_position, unsigned descriptor_bit = 76) {
  Operand address;
  address.kind = Kind::kAddress;
  address.index = static_cast<std::uint8_t>(r.field(24, 8));
  address.value = static_cast<std::uint32_t>(r.signed_field(40, 24));
  if (!r.bit(72)) r.refuse("an address of 32 bits");
  if (r.bit(descriptor_bit)) {
    r.expect(91, 1, {1});
    address.wide = true;
    const std::uint64_t descriptor = r.field(descriptor_position, 6);
    address.bank = static_cast<std::uint8_t>(descriptor);
  } else if (r.bit(91)) {
    r.refuse("a uniform register in an address of 64 bits");
  } else {
    r.unused(descriptor_position);
  }
  return address;
}

void add_far(Reader& r, const Operand& address) {
  if (!address.wide) {
    r.add(address);
    return;
  }
  const std::string descriptor =
      address.bank == kZeroUniform ? "desc[URZ]" : fmt::format("desc[UR{}]", address.bank);
  r.add_prefixed(descriptor, address);
}

void size_at(Reader& r, std::initializer_list<const char*> names) {
  static constexpr std::uint8_t kBytes[] = {1, 1, 2, 2, 4, 8, 16};
  const std::uint8_t size = r.named(73, 3, names);
  r.insn.bytes = kBytes[size];
  r.insn.is_signed = size == 1 || size == 3;
}
const std::initializer_list<const char*> kSizes = {".U8", ".S8", ".U16", ".S16", "", ".64", ".128"};

void eviction_at(Reader& r) { r.named(84, 3, {".EF", "", ".EL", ".LU", ".EU", ".NA"}); }
void prefetch_at(Reader& r) { r.named(68, 2, {"", ".LTC64B", ".LTC128B", ".LTC256B"}); }

void order_at(Reader& r) {
  const std::uint8_t order = r.named(77, 4,
                                     {"", nullptr, nullptr, nullptr, ".CONSTANT", ".STRONG.SM", nullptr,
                                      ".STRONG.GPU", nullptr, nullptr, ".STRONG.SYS"});
  r.insn.strong = order >= 5;
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
  add_far(r, far_address(r, 32));
}

void decode_store_far(Reader& r) {
  r.suffix(".E");
  eviction_at(r);
  size_at(r, {".U8", ".S8", ".U16", ".S16", "", ".64", ".128"});
  order_at(r);
  r.expect(81, 3, {0, 7});
  r.ignore(87, 4);
  add_far(r, far_address(r, 64));
  r.add(r.general_at(32));
}

void decode_lds(Reader& r) {
  size_at(r, kSizes);
  r.expect(78, 2, {0});
  r.add(r.general_at(16));
  r.add(near_address(r, 32));
  r.unused(64);
}

void decode_sts(Reader& r) {
  size_at(r, kSizes);
  r.expect(78, 2, {0});
  r.add(near_address(r, 64));
  r.add(r.general_at(32));
  r.unused(16);
}

// Local memory has the cache hints of global memory.
void decode_ldl(Reader& r) {
  r.named(84, 3, {".EF", "", ".EL", ".LU", ".EU", ".NA"});
  size_at(r, kSizes);
  r.ignore(87, 4);
  r.add(r.general_at(16));
  r.add(near_address(r, 32));
}

void decode_stl(Reader& r) {
  r.named(84, 3, {".EF", "", ".EL", ".LU", ".EU", ".NA"});
  size_at(r, kSizes);
  r.ignore(87, 4);
  r.add(near_address(r, 64));
  r.add(r.general_at(32));
}

// LDC, ULDC: a constant's index may be in a register.
void decode_ldc(Reader& r) {
  size_at(r, {".U8", ".S8", ".U16", ".S16", "", ".64", nullptr});
  r.expect(78, 2, {0});
  Operand source;
  source.kind = Kind::kConstant;
  source.index = kZeroRegister;
  source.bank = static_cast<std::uint8_t>(r.field(54, 5));
  source.value = static_cast<std::uint32_t>(r.field(38, 16));
  const bool uniform = r.insn.opcode != 0xb82;
  if (!uniform) {
    source.index = static_cast<std::uint8_t>(r.field(24, 8));
    source.shows_zero = true;
  } else if (r.insn.opcode == 0xabb) {
    source.uniform = static_cast<std::uint8_t>(r.field(24, 6));
  } else {
    r.unused(24);
  }
  r.add(uniform ? r.uniform_at(16) : r.general_at(16));
  r.add(source);
  r.ignore(91, 1);
}

// [shared address], [global address], and a predicate without which zeros are written.
void decode_ldgsts(Reader& r) {
  r.suffix(".E");
  r.expect(70, 1, {1});
  r.suffix_if(!r.bit(81), ".BYPASS");
  r.expect(82, 2, {0});
  eviction_at(r);
  r.named(71, 2, {"", ".LTC64B", ".LTC128B", ".LTC256B"});
  static constexpr std::uint8_t kBytes[] = {4, 8, 16};
  const std::uint8_t size = r.named(73, 3, {nullptr, nullptr, nullptr, nullptr, "", ".64", ".128"});
  r.insn.bytes = kBytes[size - 4];
  r.expect(77, 4, {0});
  if (!r.bit(76)) r.refuse("an address without a descriptor");
  r.expect(91, 1, {1});
  Operand to;
  to.kind = Kind::kAddress;
  to.index = static_cast<std::uint8_t>(r.field(16, 8));
  to.value = static_cast<std::uint32_t>(r.signed_field(44, 20));
  r.add(to);
  Operand from;
  from.kind = Kind::kAddress;
  from.index = static_cast<std::uint8_t>(r.field(24, 8));
  from.value = static_cast<std::uint32_t>(r.signed_field(32, 12));
  from.wide = true;
  from.bank = static_cast<std::uint8_t>(r.field(64, 6));
  add_far(r, from);
  const Operand p = r.predicate_at(87, 90);
  if (p.index != kTrue || p.negated)
    r.add(p);
  else
    r.insn.operands[r.insn.count++] = p;
}

void decode_shfl(Reader& r) {
  r.insn.mode = r.named(58, 2, {".IDX", ".UP", ".DOWN", ".BFLY"});
  r.add(r.predicate_at(81));
  r.add(r.general_at(16));
  r.add(r.general_at(24));
  const unsigned opcode = r.insn.opcode;
  const bool fixed_lane = opcode == 0xf89 || opcode == 0x989,
             fixed_clamp = opcode == 0xf89 || opcode == 0x589;
  r.add(fixed_lane ? Reader::immediate(r.field(53, 5)) : r.general_at(32));
  r.add(fixed_clamp ? Reader::immediate(r.field(40, 13)) : r.general_at(64));
}

// VOTE, VOTEU: the lanes whose predicate is true, as a mask; and whether all, any or an equal are.
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
    r.insn.high = true;  // only the predicate
  r.add(p);
  r.add(r.predicate_at(87, 90));
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
  r.add(r.general_at(16));
  r.add(r.general_at(24));
}

void decode_redux(Reader& r) {
  r.insn.mode = r.named(78, 3, {"", ".OR", ".XOR", ".SUM", ".MIN", ".MAX"});
  r.insn.is_signed = r.suffix_if(r.bit(73), ".S32");
  r.add(r.uniform_at(16));
  r.add(r.general_at(24));
}

void decode_elect(Reader& r) {
  Operand p = r.predicate_at(81);
  r.add(p);
  r.add(r.uniform_at(16));
  r.add(r.predicate_at(87, 90));
}

void decode_qspc(Reader& r) {
  r.suffix(".E");
  r.insn.mode = r.named(72, 4, {nullptr, ".G", nullptr, ".L", nullptr, ".S", nullptr, ".D"});
  r.add(r.predicate_at(81));
  r.add(r.general_at(16));
  Operand address;
  address.kind = Kind::kAddress;
  address.index = static_cast<std::uint8_t>(r.field(24, 8));
  address.value = static_cast<std::uint32_t>(r.signed_field(40, 24));
  r.add(address);
}

namespace {

const std::initializer_list<const char*> kAtomics = {".ADD", ".MIN", ".MAX", ".INC", ".DEC",
                                                     ".AND", ".OR",  ".XOR", ".EXCH"};

void atomic_size(Reader& r) {
  r.insn.type = r.named(73, 3, {"", ".S32", ".64", ".S64"});
  r.insn.is_signed = r.insn.type == 1 || r.insn.type == 3;
  r.insn.bytes = r.insn.type >= 2 ? 8 : 4;
}

}  // namespace

// ATOMG: what was in memory before.
void decode_atomg(Reader& r) {
  r.suffix(".E");
  r.insn.mode = r.named(87, 4, kAtomics);
  atomic_size(r);
  order_at(r);
  r.expect(84, 3, {1});
  r.expect(70, 1, {1});
  r.expect(76, 1, {0});
  r.insn.strong = true;
  r.add(r.predicate_at(81));
  r.add(r.general_at(16));
  add_far(r, far_address(r, 64, 71));
  r.add(r.general_at(32));
}

void decode_red(Reader& r) {
  r.suffix(".E");
  r.insn.mode = r.named(87, 3, kAtomics);
  atomic_size(r);
  order_at(r);
  r.expect(84, 3, {1});
  r.expect(81, 3, {0, 7});
  r.expect(70, 1, {0});
  r.expect(76, 1, {0});
  r.ignore(90, 1);
  r.unused(16);
  add_far(r, far_address(r, 64, 71));
  r.add(r.general_at(32));
}

// RED of floating point.
void decode_red_float(Reader& r) {
  r.suffix(".E.ADD");
  r.expect(87, 4, {0, 8});
  r.insn.type =
      r.named(73, 3, {nullptr, ".F32.FTZ.RN", nullptr, nullptr, nullptr, nullptr, nullptr, ".F64.RN"});
  r.insn.bytes = r.insn.type == 7 ? 8 : 4;
  order_at(r);
  r.expect(84, 3, {1});
  r.expect(81, 3, {0, 7});
  r.expect(70, 1, {0});
  r.expect(76, 1, {1});
  r.unused(16);
  add_far(r, far_address(r, 64, 71));
  r.add(r.general_at(32));
}

void decode_atomg_cas(Reader& r) {
  r.suffix(".E");
  r.named(87, 2, {".CAS"});
  r.insn.mode = 9;
  r.insn.bytes = r.named(73, 3, {"", nullptr, ".64"}) == 2 ? 8 : 4;
  order_at(r);
  r.expect(84, 3, {1});
  r.ignore(89, 2);
  r.add(r.predicate_at(81));
  r.add(r.general_at(16));
  Operand address;
  address.kind = Kind::kAddress;
  address.index = static_cast<std::uint8_t>(r.field(24, 8));
  address.value = static_cast<std::uint32_t>(r.signed_field(40, 24));
  r.expect(72, 1, {1});
  r.expect(76, 1, {0});
  r.add(address);
  r.add(r.general_at(32));
  r.add(r.general_at(64));
}

void decode_atoms(Reader& r) {
  const bool increments = r.insn.opcode == 0xf8c;
  if (increments) {
    r.expect(87, 4, {11});
    r.suffix(".POPC.INC.32");
    r.insn.mode = 11;
    r.expect(73, 3, {0});
    r.insn.bytes = 4;
  } else {
    r.insn.mode = r.named(87, 4, kAtomics);
    atomic_size(r);
  }
  r.expect(78, 2, {0});
  r.add(r.general_at(16));
  Operand address = near_address(r, 64);
  r.add(address);
  if (!increments) r.add(r.general_at(32));
}

// CAST: the result says whether the value was exchanged.
void decode_atoms_cas(Reader& r) {
  r.insn.mode = r.named(87, 2, {".CAS", ".CAST", nullptr, ".CAST.SPIN"}) == 0 ? 9 : 10;
  r.insn.bytes = r.named(73, 3, {"", nullptr, ".64"}) == 2 ? 8 : 4;
  r.expect(78, 2, {0});
  r.add(r.general_at(16));
  Operand address;
  address.kind = Kind::kAddress;
  address.index = static_cast<std::uint8_t>(r.field(24, 8));
  address.value = static_cast<std::uint32_t>(r.signed_field(40, 24));
  r.add(address);
  r.add(r.general_at(32));
  r.add(r.general_at(64));
}

}  // namespace vgpu::sass
