// SPDX-License-Identifier: Apache-2.0
// Lowering of memory instructions to PTX operations with machine-code addresses and consecutive
// rows.
#include <fmt/format.h>

#include "ir/address.hpp"
#include "ir/modifiers.hpp"
#include "ir/operations.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu::sass {

void Lowering::compute_address(const Instruction& i) {
  for (const Operand& o : i.operands) {
    if (o.kind != Kind::kAddress) continue;
    const u32 given = o.index == kZeroRegister ? zero_ : row(o.index);
    if (o.scale != 0) helper("shl.b32", address_rows(), {given, constant(o.scale)});
    if ((i.op == Op::kLdl || i.op == Op::kStl) && o.uniform != kZeroUniform) {
      helper("add.u32", address_rows(),
             {o.scale != 0 ? address_rows() : given, row(uniforms_ + o.uniform)});
    }
    if (!o.wide && !o.narrow) continue;
    if (o.uniform == kZeroUniform) continue;
    const u32 a = wide_scratch(0), b = uniform_pair(o.uniform, 1);
    if (o.narrow || o.index == kZeroRegister)
      helper("cvt.u64.u32", a, {given});
    else
      helper("pack.32x2", a, {given, given + 128});
    helper("add.u64", a, {a, b});
    helper("unpack.64.32.0", address_rows(), {a});
    helper("unpack.64.32.1", address_rows() + 128, {a});
  }
}

void Lowering::address(u32 pc, const Operand& o, bool far) {
  Insn& insn = at(pc);
  const bool computed = o.scale != 0 || ((o.wide || o.narrow) && o.uniform != kZeroUniform);
  insn.s[0] = computed ? address_rows() : o.index == kZeroRegister ? zero_ : row(o.index);
  insn.imm = static_cast<std::int32_t>(o.value);
  insn.flags |= kFlagMachine;
  if (far) return;
  insn.flags |= kFlagAddress32;
  insn.s[3] = o.uniform == kZeroUniform ? zero_ : row(uniforms_ + o.uniform);
}

// Sets the registers that an access loads or stores.
void Lowering::vector(u32 pc, const Operand& first, u32 words, bool is_store) {
  const bool none = first.index == kZeroRegister;
  const auto slot = [&](u32 word) {
    return none ? (is_store ? zero_ : kNone) : row(first.index + word);
  };
  Insn& insn = at(pc);
  insn.vector = static_cast<u8>(words);
  if (words == 1) {
    insn.d = slot(0);
    return;
  }
  insn.list = static_cast<u32>(program_.lists.size());
  for (u32 w = 0; w < words; ++w) program_.lists.push_back(slot(w));
}

void Lowering::lower_memory(const Instruction& i) {
  const char* space = nullptr;
  switch (i.op) {
    case Op::kLdg:
    case Op::kStg: space = "global"; break;
    case Op::kLds:
    case Op::kSts: space = "shared"; break;
    case Op::kLdl:
    case Op::kStl: space = "local"; break;
    default: space = "generic";
  }
  const bool is_store = i.op == Op::kStg || i.op == Op::kSts || i.op == Op::kStl || i.op == Op::kSt;
  const bool near = i.op == Op::kLds || i.op == Op::kSts || i.op == Op::kLdl || i.op == Op::kStl;
  const bool local = i.op == Op::kLdl || i.op == Op::kStl;
  const u32 words = i.bytes < 4 ? 1 : i.bytes / 4u, bytes = i.bytes < 4 ? i.bytes : 4u;
  const char* const verb = is_store ? "st" : "ld";
  std::string name = fmt::format("{}.{}", verb, space);
  if (!local) name += i.dead != 0 ? ".part" : bytes < 4 ? ".any" : fmt::format(".4x{}", words);
  const u32 pc = emit(name);
  Insn& insn = at(pc);
  insn.site = program_.sites++;
  insn.bytes = static_cast<u8>(bytes);
  insn.width = 4;
  if (is_store) insn.flags |= kFlagStore;
  if (i.strong) insn.flags |= kFlagStrong;
  if (i.compared) insn.flags |= kFlagCompared;
  if (i.half) insn.flags |= kFlagHalf;
  if (i.is_signed) insn.flags |= kFlagSigned;
  const Operand &data = i[is_store ? 1 : 0], &where = i[is_store ? 0 : 1];
  vector(pc, data, words, is_store);
  for (u32 w = 0; w < words; ++w) {
    if ((i.dead >> w & 1) != 0) program_.lists[at(pc).list + w] = kNone;
  }
  address(pc, where, !near);
  if (local && where.uniform != kZeroUniform) at(pc).s[0] = address_rows();
  // Strong loads may poll for other blocks' stores, except in shared memory.
  if (i.strong && !is_store && !near) program_.ordered = true;
}

void Lowering::lower_constant(const Instruction& i) {
  const Operand& from = i[1];
  const bool uniform = i[0].kind == Kind::kUniform;
  const bool fixed = from.index == kZeroRegister && from.uniform == kZeroUniform;
  const std::string prefix = uniform ? "u." : "";
  if (fixed && i.bytes >= 4 && from.value % 4 == 0) {
    const u32 words = i.bytes / 4u;
    const u32 constants = bank_constant(from, words);
    emit_alu(prefix + (words == 1 ? "sass.mov" : "sass.mov64"), destination(i[0]), {constants});
    if (words < 4) return;
    emit_uncounted(prefix + "sass.mov64", destination(i[0]) + 2 * 128, {constants + 2 * 128});
    return;
  }
  if (from.bank != 0 && from.bank != 2 && from.bank != 3 && from.bank != 4)
    refuse("another constant bank");
  if (i.bytes > 8) refuse("16 bytes by index");
  if (fixed && from.bank == 0 && from.value < machine_code_.param_base)
    refuse("a part of a driver's constant");
  indexes_addresses_ |= from.bank == 4;
  const u32 index = from.uniform != kZeroUniform  ? row(uniforms_ + from.uniform)
                    : from.index != kZeroRegister ? row(from.index)
                                                  : zero_;
  Insn& insn = emit_alu(prefix + "sass.ldc", destination(i[0]), {index}, from.value);
  insn.sub = from.bank;
  insn.bytes = i.bytes;
  if (i.is_signed) insn.flags |= kFlagSigned;
}

void Lowering::lower_exchange(const Instruction& i) {
  switch (i.op) {
    case Op::kShfl:
      emit_alu("sass.shfl", {destination(i[1]), predicate_out(i[0])},
               {source(i[2]), source(i[3]), source(i[4])})
          .sub = i.mode;
      return;
    case Op::kVote: {
      u32 n = 0;
      const bool uniform = i.opcode == 0x886;
      const u32 d = i.high ? kNone : destination(i[n++]);
      const Operand &out = i[n], &in = i[n + 1];
      emit_alu(uniform ? "u.sass.vote" : "sass.vote", {d, predicate_out(out)},
               {zero_, zero_, zero_, predicate(in)}, in.negated ? kNegateP : 0)
          .sub = i.mode;
      return;
    }
    case Op::kMatch: {
      const u32 n = i.high ? 1 : 0;
      emit_alu("sass.match", {destination(i[n]), i.high ? predicate_out(i[0]) : kNone},
               {source(i[n + 1])}, i.high ? kHigh : 0)
          .bytes = i.bytes;
      return;
    }
    case Op::kRedux:
      emit_alu("sass.redux", destination(i[0]), {source(i[1])}, i.is_signed ? kSigned : 0).sub =
          i.mode;
      return;
    case Op::kElect:
      if (i[2].index != kTrue || i[2].negated) refuse("a condition");
      emit_alu("sass.elect", {destination(i[1]), predicate_out(i[0])}, {});
      return;
    default: {  // QSPC
      if (i[1].index != kZeroRegister) refuse("a result in a register");
      const u32 pc = emit("sass.qspc");
      address(pc, i[2], true);
      at(pc).list = predicate_out(i[0]);
      const AddressSpace space = i.mode == 1   ? AddressSpace::kGlobal
                                 : i.mode == 3 ? AddressSpace::kLocal
                                 : i.mode == 5 ? AddressSpace::kShared
                                               : AddressSpace::kCluster;
      at(pc).sub = static_cast<u8>(space);
      if (at(pc).list == kNone) refuse("no result");
    }
  }
}

// Moves and special registers.

// The ir::Special that is read.
u8 Lowering::special_of(const Instruction& i) const {
  constexpr unsigned kClockLow = 0x50, kGlobaltimerLow = 0x52;
  Special special{};
  switch (i.mode) {
#define UNREAD(number, name)
#define SPECIAL(number, name, value) \
  case number:                       \
    special = Special::value;        \
    break;
#include "sass/special_registers.def"
    default: refuse("the special register");
  }
  if (i.bytes == 8 && i.mode == kClockLow) special = Special::kClock64;
  if (i.bytes == 8 && i.mode == kGlobaltimerLow) special = Special::kGlobaltimer;
  return static_cast<u8>(special);
}

void Lowering::lower_move(const Instruction& i) {
  switch (i.op) {
    case Op::kMov: emit_alu(twin("sass.mov"), destination(i[0]), {source(i[1])}); return;
    case Op::kP2r:
    case Op::kR2p: {
      const bool reads = i.op == Op::kP2r;
      Operand first;  // of the predicates
      first.kind = i.uniform ? Kind::kUniformPredicate : Kind::kPredicate;
      const u32 all = predicate(first);
      Insn& insn = reads ? emit_alu(twin("sass.p2r"), destination(i[0]), {source(i[1]), all})
                         : emit_alu(twin("sass.r2p"), kNone, {source(i[0]), all});
      insn.target = i[reads ? 2 : 1].value;
      insn.sub = i.mode;
      return;
    }
    case Op::kR2ur:
      emit_alu("sass.r2ur", {destination(i[i.mode]), i.mode != 0 ? predicate_out(i[0]) : kNone},
               {source(i[i.mode + 1u])})
          .sub = i.combine == Combine::kOr ? 1 : 0;
      return;
    default: break;
  }
  // S2R, S2UR, CS2R.
  if (i.op == Op::kCs2r && i.mode == 0xff) {
    emit_alu(i.bytes == 8 ? "sass.mov64" : "sass.mov", destination(i[0]), {zero_});
    return;
  }
  const u8 special = special_of(i);
  const bool wide = i.op == Op::kCs2r && i.bytes == 8, uniform = i[0].kind == Kind::kUniform;
  if (!wide && !uniform) {
    emit_alu("special.32", destination(i[0]), {}).sub = special;
    return;
  }
  if (uniform) {
    helper("special.32", scratch(), {});
    program_.code.back().sub = special;
    emit_alu("sass.r2ur", destination(i[0]), {scratch()});
    return;
  }
  emit_alu("special.64", wide_scratch(0), {}).sub = special;
  unpack(destination(i[0]), wide_scratch(0));
}

}  // namespace vgpu::sass
