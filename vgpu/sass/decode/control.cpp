// SPDX-License-Identifier: Apache-2.0
// Control flow and synchronisation.
#include "sass/decode/families.hpp"

#include <fmt/format.h>

namespace vgpu::sass {
namespace {

// Distances are in units of 4 bytes. From sm_90 on, the upper bits begin at bit 34 and the lowest 8
// bits are at bit 16; before, all begin at bit 34.
std::int64_t split_distance(Reader& r) {
  const std::int64_t distance = r.signed_field(34, 48) * 4;
  return r.architecture() >= 90 ? distance << 8 | static_cast<std::int64_t>(r.field(16, 8)) << 2
                                : distance;
}
// A place at such a distance from the next instruction.
std::uint32_t split_target(Reader& r) {
  return static_cast<std::uint32_t>(r.insn.address + kInstructionBytes + split_distance(r));
}

void add_target(Reader& r, std::uint32_t target) {
  r.insn.target = target;
  r.add_text(fmt::format("0x{:x}", target));
}

void add_distance(Reader& r, std::uint32_t distance) {
  const auto from = static_cast<std::int32_t>(distance);
  r.add_behind(fmt::format(" {}0x{:x}", from < 0 ? "-" : "", magnitude(from)));
}
// Indirect targets: a register plus this offset from the beginning of the code.
void add_relative(Reader& r, std::uint32_t target) {
  r.insn.target = target;
  add_distance(r, target);
}

}  // namespace

// operands[0]: the condition. BRA.DIV branches if lanes of the mask in a uniform register, or
// (before sm_80) of the warp, are not in the executing group; BRA.CONV if all are.
void decode_bra(Reader& r) {
  const std::uint64_t kind = r.field(32, 2);
  const bool any = r.bit(84);
  r.expect(85, 2, {0});
  r.expect(82, 2, {0, 3});
  r.insn.mode = static_cast<std::uint8_t>(kind);
  r.suffix_if(kind == 1, ".U");
  r.suffix_if(kind == 2, ".DIV");
  r.suffix_if(kind == 3, ".CONV");
  r.suffix_if(any, ".ANY");
  Operand p = r.predicate_at(87, 90);
  if (kind == 1) p.kind = Kind::kUniformPredicate;
  if (kind >= 2) {
    if (!is_true(p)) r.refuse("a condition");
    Operand lanes = r.uniform_at(24);
    if (r.architecture() < 80) {
      r.unused(24);
      r.expect(91, 1, {0});
      lanes.index = kZeroUniform;
      lanes.negated = true;
      r.add_silently(lanes);
    } else {
      r.expect(91, 1, {1});
      r.bitwise = true;
      if (r.architecture() < 90) lanes.negated = r.bit(30);
      r.add(lanes);
    }
  } else {
    if (kind == 1) r.ignore(91, 1);
    r.add_unless_true(p);
    r.unused(24);
  }
  add_target(r, split_target(r));
}

// BRA.U with a uniform predicate at bit 24.
void decode_bra_uniform(Reader& r) {
  r.suffix(".U");
  r.expect(32, 2, {1});
  r.expect(82, 2, {0, 3});
  r.expect(84, 3, {0});
  r.expect(87, 4, {7});
  r.expect(91, 1, {1});
  Operand p = r.predicate_at(24, 27);
  p.kind = Kind::kUniformPredicate;
  r.add(p);
  add_target(r, split_target(r));
}

void decode_brx(Reader& r) {
  r.expect(85, 2, {0});
  r.expect(87, 4, {7});
  r.expect(32, 2, {0});
  r.add(r.general_at(24));
  r.insn.target = split_target(r);
  add_distance(r, r.insn.target - r.insn.address - kInstructionBytes);
}

void decode_call(Reader& r) {
  r.expect(86, 1, {1});
  r.expect(87, 4, {7});
  r.expect(32, 2, {0});
  r.suffix(".REL.NOINC");
  if (r.insn.opcode == 0x944) {
    r.unused(24);
    add_target(r, split_target(r));
  } else {
    r.add(r.general_at(24));
    add_relative(r, split_target(r));
  }
}

// Calls a 64-bit address, in a register pair or set by a relocation.
void decode_call_absolute(Reader& r) {
  r.expect(85, 2, {2});
  r.expect(87, 4, {7});
  r.suffix(".ABS.NOINC");
  if (r.insn.opcode == 0x343) {
    r.add(r.general_at(24));
    r.unused(32);
    return;
  }
  const std::uint64_t upper = r.field(34, 30);
  r.insn.target = static_cast<std::uint32_t>(
      r.architecture() >= 90 ? upper << 10 | r.field(16, 8) << 2 : upper << 2);
  r.ignore(64, 18);
  r.unused(24);
  r.add(Reader::immediate(r.insn.target));
}

// Writes the address of this instruction to a pair of registers.
void decode_lepc_here(Reader& r) {
  r.add(r.general_at(16));
  r.insn.target = r.insn.address;
}

// Writes the address of an instruction to a pair of registers.
void decode_lepc(Reader& r) {
  r.add(r.general_at(16));
  const std::int64_t distance = r.signed_field(24, 58);
  add_target(r, static_cast<std::uint32_t>(r.insn.address + kInstructionBytes + distance));
}

void decode_ret(Reader& r) {
  r.expect(86, 1, {1});
  r.expect(87, 4, {7});
  r.expect(32, 2, {0});
  const bool absolute = r.bit(85);
  r.suffix(absolute ? ".ABS.NODEC" : ".REL.NODEC");
  r.add(r.general_at(24));
  add_relative(r, absolute ? static_cast<std::uint32_t>(split_distance(r)) : split_target(r));
}

void decode_exit(Reader& r) {
  r.expect(84, 3, {0});
  const Operand p = r.predicate_at(87, 90);
  if (!is_true(p)) r.add(p);
}

// How lanes wait is the same for all in this model.
static void reconvergence_at(Reader& r) {
  if (r.architecture() >= 100) r.named(72, 2, {"", ".RELIABLE", ".RECONVERGENT"});
}

void decode_bssy(Reader& r) {
  reconvergence_at(r);
  r.add(Reader::barrier(r.field(16, 4)));
  r.no_condition();
  const std::int64_t distance = r.signed_field(34, 30) * 4;
  add_target(r, static_cast<std::uint32_t>(r.insn.address + kInstructionBytes + distance));
}

void decode_bsync(Reader& r) {
  reconvergence_at(r);
  r.add(Reader::barrier(r.field(16, 4)));
  r.no_condition();
}

// operands[0]: the condition.
void decode_break(Reader& r) {
  reconvergence_at(r);
  r.add_unless_true(r.predicate_at(87, 90));
  r.add(Reader::barrier(r.field(16, 4)));
}

// Moves a convergence barrier to a register, or a register to a barrier.
void decode_bmov(Reader& r) {
  if (r.insn.opcode == 0x355) {
    r.insn.high = r.named(84, 1, {".32", ".32.CLEAR"}) != 0;
    r.add({r.general_at(16), Reader::barrier(r.field(24, 4))});
  } else {
    r.suffix(".32");
    r.expect(84, 1, {0});
    r.add({Reader::barrier(r.field(24, 4)), r.general_at(32)});
  }
}

// WARPSYNC with a mask of lanes, before sm_90.
void decode_warpsync_mask(Reader& r) {
  r.expect(87, 4, {7});
  r.unused(24);
  r.add(Reader::immediate(r.field(32, 32)));
}

// WARPSYNC mask, WARPSYNC.ALL. WARPSYNC.EXCLUSIVE mask: the lanes of each mask go on apart from the
// others (mode 1). WARPSYNC.COLLECTIVE mask, target: the lanes execute the following code together.
void decode_warpsync(Reader& r) {
  r.insn.mode = r.suffix_if(r.bit(85), ".EXCLUSIVE") ? 1 : 0;
  r.insn.high = r.suffix_if(r.bit(86), ".COLLECTIVE");
  r.expect(87, 4, {7});
  if (r.insn.opcode == 0x948) {
    r.suffix(".ALL");
    r.unused(24);
  } else {
    r.add(r.general_at(r.architecture() >= 90 ? 24 : 32));
  }
  if (r.architecture() < 90) {
    r.expect(85, 2, {0});
    return r.unused(24);
  }
  const std::uint32_t target = split_target(r);
  r.ignore(82, 3);
  r.ignore(32, 2);
  if (r.insn.high) add_target(r, target);
}

void decode_nanosleep(Reader& r) {
  r.no_condition();
  if (r.architecture() < 90)
    r.suffix_if(r.bit(85), ".WARP");
  else
    r.suffix_if(r.bit(84), ".SYNCS");
  r.ignore(72, 12);
  r.ignore(85, 2);
  r.add(r.insn.opcode == 0x95d ? Reader::immediate(r.field(32, 32)) : r.general_at(32));
}

// An event for a profiler's counters.
void decode_pmtrig(Reader& r) {
  r.expect(87, 4, {kTrue});
  r.add(Reader::immediate(r.field(32, 32)));
}

// Instructions without an effect in this model: their other bits are hints.
void decode_nothing(Reader& r) {
  r.ignore(16, 48);
  r.ignore(64, 41);
}

// Caches are not modelled: IVALL invalidates the whole L1 cache; PF1 and PF2 prefetch a line; PML2
// and RML2 change the line's priority in L2; DML2 discards it, after which its contents are
// undefined until it is written.
void decode_cctl(Reader& r) {
  r.suffix_if(r.bit(72), ".E");
  const std::uint8_t what = r.named(87, 4,
                                    {".PF1", ".PF2", nullptr, nullptr, ".IVALL", nullptr, nullptr,
                                     nullptr, nullptr, ".PML2", ".DML2", ".RML2"});
  r.unused(64);
  if (what == 4) {
    r.unused(24);
    r.unused(32);
    return;
  }
  r.add(r.address_at(24, r.signed_field(32, 32)));
}

void decode_fence(Reader& r) { r.named(72, 2, {".S", ".G"}); }

void decode_membar(Reader& r) {
  r.insn.mode = r.named(79, 2, {".SC", ".ALL", nullptr, nullptr});
  r.named(76, 3, {".CTA", nullptr, ".GPU", ".SYS", nullptr, ".VC"});
  r.ignore(72, 4);
  r.ignore(81, 10);
}

void decode_bar(Reader& r) {
  r.insn.mode = r.named(77, 2, {".SYNC", ".ARV", ".RED"});
  if (r.insn.mode == 2)
    r.insn.type = r.named(74, 2, {".POPC", ".AND", ".OR"});
  else
    r.expect(74, 2, {0});
  r.suffix_if(r.bit(80), ".DEFER_BLOCKING");
  // Barrier number and thread count: each is an immediate or in a register. Opcode 0x31d has both
  // in one register.
  const unsigned opcode = r.insn.opcode;
  const bool number_given = opcode == 0xb1d || opcode == 0x91d,
             count_given = opcode == 0xb1d || opcode == 0x51d;
  r.add(number_given ? Reader::immediate(r.field(54, 4)) : r.general_at(32));
  const std::uint64_t count = count_given ? r.field(42, 12) : 0;
  if (!count_given)
    r.add(r.general_at(32));
  else if (count != 0)
    r.add(Reader::immediate(count));
  const Operand p = r.predicate_at(87, 90);
  if (r.insn.mode == 2) r.add(p);
  r.insn.target = static_cast<std::uint32_t>(count);
}

// Reads the result of BAR.RED.
void decode_b2r(Reader& r) {
  r.suffix(".RESULT");
  r.expect(77, 3, {2});
  r.add(r.general_at(16));
  r.add_written(r.predicate_at(81));
}

void decode_trap(Reader& r) {
  r.suffix(".TRAP");
  r.ignore(84, 4);
  r.add(Reader::immediate(r.field(34, 20)));
}

}  // namespace vgpu::sass
