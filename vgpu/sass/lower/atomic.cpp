// SPDX-License-Identifier: Apache-2.0
// Lowering of atomics to PTX operations with machine-code addresses.
#include <fmt/format.h>

#include "sass/lower/lower.hpp"

namespace vgpu::sass {
namespace {

// The name of the PTX operation, or "" if there is none.
std::string atomic_name(const Instruction& i) {
  static constexpr const char* kNames[] = {"add", "min", "max",  "inc", "dec", "and",
                                           "or",  "xor", "exch", "cas", "cas"};
  constexpr unsigned kInc = 3, kDec = 4, kAnd = 5, kCas = 10, kAddOne = 11;
  if (i.mode == kAddOne) return "atom.add.u32";  // each lane adds 1
  if (i.mode > kCas || ((i.mode == kInc || i.mode == kDec) && i.bytes != 4)) return "";
  const char kind = i.mode >= kAnd ? 'b' : i.is_signed && i.mode < kInc ? 's' : 'u';
  return fmt::format("atom.{}.{}{}", kNames[i.mode], kind, i.bytes == 8 ? 64 : 32);
}

const char* float_name(const Instruction& i) {
  switch (i.type) {
    case 0:
    case 1:
    case 2: return "atom.add.noftz.f16x2";
    case 3:
    case 4:
    case 5: return "atom.add.noftz.bf16x2";
    case 15: return "atom.add.f64";
    default: return "atom.add.f32";
  }
}

}  // namespace

void Lowering::lower_atomic(const Instruction& i) {
  const bool floating = i.floating;
  const std::string name = floating ? float_name(i) : atomic_name(i);
  if (name.empty()) refuse("there is no such atomic operation");
  const bool reduces = i.op == Op::kRed, shared = i.op == Op::kAtoms,
             generic = i.op == Op::kAtomGeneric;
  const bool has_predicate = i.op == Op::kAtom || generic;
  if (i.op == Op::kAtom && i[0].index != kTrue) refuse("a predicate as result");
  u32 n = has_predicate ? 1 : 0;
  const Operand* const result = reduces ? nullptr : &i.operands[n++];
  const Operand& where = i[n++];
  const bool compares = i.mode == 9 || i.mode == 10;
  const bool wanted = result != nullptr && result->index != kZeroRegister;
  // The result of these operations depends on the order of the blocks.
  const bool counts = i.mode == 3 || i.mode == 4 || i.mode == 8 || compares;
  if (!shared && (counts || wanted)) program_.ordered = true;
  if (!shared && floating) program_.sums = true;
  const u32 elements = floating ? i.shift : 1;
  // A vector: its elements are processed in order; its address must be a multiple of its size.
  if (elements > 1) {
    if (generic) refuse("a vector at a generic address");
    const u32 check = emit("check.aligned", true);
    at(check).d = wide_scratch(0);
    at(check).bytes = static_cast<u8>(i.bytes * elements);
    address(check, where, true);
  }
  for (u32 e = 0; e < elements; ++e) {
    Atomic one{name, i.bytes, 4 * e, {constant(1), zero_}, compares};
    const u32 given = i.mode == 11 ? 0 : compares ? 2 : 1;
    for (u32 k = 0; k < given; ++k) {
      one.values[k] =
          i[n + k].index == kZeroRegister || e == 0 ? source(i[n + k]) : row(i[n + k].index + e);
    }
    one.space = shared    ? AtomicSpace::kShared
                : generic ? AtomicSpace::kGeneric
                          : AtomicSpace::kGlobal;
    // The result may overwrite the address register, so vectors collect results in scratch rows.
    one.to = !wanted ? kNone : elements == 1 ? destination(*result) : row(scratch_ + e);
    one.says_success = i.mode == 10;
    one.helper = e != 0;
    // Shared memory supports no floating-point sums, and of the 64-bit operations only exchanges.
    // The code implements the others as compare-and-swap loops.
    one.served = generic ? predicate_out(i[0]) : kNone;
    one.sums = !shared && floating;
    one.only_global = floating || (i.bytes == 8 && !compares && i.mode != 8);
    lower_one_atomic(one, where);
  }
  for (u32 e = 0; wanted && elements > 1 && e < elements; ++e)
    emit_uncounted("sass.mov", destination(*result) + e * 128, {row(scratch_ + e)});
}

void Lowering::lower_one_atomic(const Atomic& one, const Operand& where) {
  const bool wide = one.bytes == 8, shared = one.space == AtomicSpace::kShared;
  u32 values[2] = {one.values[0], one.values[1]};
  for (u32 k = 0; wide && k < (one.compares ? 2u : 1u); ++k)
    values[k] = helper("pack.32x2", wide_scratch(k), {values[k], values[k] + 128});
  const u32 pc = emit(one.name, one.helper);
  Insn& insn = at(pc);
  insn.site = program_.sites++;
  insn.bytes = one.bytes;
  insn.flags |= kFlagStore | kFlagStrong;
  insn.sub = static_cast<u8>(one.space);
  if (current_->compared) insn.flags |= kFlagCompared;
  if (one.sums) insn.flags |= kFlagSum;
  if (current_->half) insn.flags |= kFlagHalf;
  address(pc, where, !shared);
  insn.imm += one.offset;
  insn.s[1] = values[0];
  insn.s[2] = one.compares ? values[1] : values[0];
  insn.d = wide ? wide_scratch(2) : scratch();
  insn.list = one.served;
  if (one.space == AtomicSpace::kGeneric && one.served != kNone && one.only_global) {
    insn.flags |= kFlagGeneric;
  }
  if (one.to == kNone) return;
  insn.flags |= kFlagHasResult;
  const u32 old = wide ? wide_scratch(2) : scratch();
  if (one.says_success) {
    emit_uncounted(wide ? "sass.equal64" : "sass.equal", one.to, {old, values[0]});
    if (wide) emit_uncounted("sass.mov", one.to + 128, {zero_});
  } else if (wide) {
    unpack(one.to, old);
  } else {
    emit_uncounted("mov.b32", one.to, {old});
  }
}

}  // namespace vgpu::sass
