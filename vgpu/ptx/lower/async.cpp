// SPDX-License-Identifier: Apache-2.0
// cp.async, mbarrier, setmaxnreg. PTX ISA, "Data Movement and Conversion Instructions: cp.async",
// "Parallel Synchronization and Communication Instructions: mbarrier", "Miscellaneous Instructions:
// setmaxnreg".
#include <fmt/format.h>

#include <limits>

#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {
namespace {

bool is_offset(i64 value) {
  return value >= std::numeric_limits<i32>::min() && value <= std::numeric_limits<i32>::max();
}

}  // namespace

void FunctionLowering::cp() {
  const auto parts = opcode().parts;
  if (parts.size() > 3 && parts[1] == "reduce" && parts[2] == "async" && parts[3] == "bulk")
    return bulk();
  if (parts.size() < 3 || parts[1] != "async") refuse();
  if (parts[2] == "bulk") {
    if (opcode().has("commit_group")) return bulk_commit();
    return opcode().has("wait_group") ? bulk_wait() : bulk();
  }
  program_.copies = true;
  if (parts[2] == "commit_group")
    emit("cp.async.commit_group");
  else if (parts[2] == "wait_group")
    emit_wait("cp.async.wait_group");
  else if (parts[2] == "wait_all")
    at(emit("cp.async.wait_group")).sub = 1;
  else if (parts[2] == "mbarrier")
    copy_arrive();
  else
    copy();
}

// Waits until at most so many groups are incomplete.
u32 FunctionLowering::emit_wait(std::string_view operation) {
  if (operand(0).kind != Kind::kInteger || operand(0).integer() < 0)
    refuse("not a number of groups");
  const u32 pc = emit(operation);
  at(pc).imm = operand(0).integer();
  return pc;
}

void FunctionLowering::copy_arrive() {
  const auto parts = opcode().parts;
  bool counted = false, shared = false;
  if (parts.size() < 4 || parts[3] != "arrive" || parts.back() != "b64") refuse();
  for (std::size_t i = 4; i + 1 < parts.size(); ++i) {
    if (parts[i] == "noinc")
      counted = true;
    else if (is_any_of(parts[i], {"shared", "shared::cta"}))
      shared = true;
    else
      refuse(fmt::format("modifier .{}", parts[i]));
  }
  const u32 pc = emit("cp.async.mbarrier.arrive");
  at(pc).sub = counted ? 1 : 0;
  at(pc).flags |= kFlagStore;
  if (!shared) at(pc).flags |= kFlagGeneric;
  address(pc, operand(0));
}

// cp.async.ca|cg.shared.global [dst], [src], cp-size{, src-size | ignore-src}{, cache-policy};
void FunctionLowering::copy() {
  const auto parts = opcode().parts;
  const bool past_l1 = parts[2] == "cg";
  if (!past_l1 && parts[2] != "ca") refuse();
  bool policy = false;
  for (std::size_t i = 3; i < parts.size(); ++i) {
    policy |= parts[i] == "L2::cache_hint";
    if (!is_any_of(parts[i], {"shared", "shared::cta", "global"}) &&
        parts[i].substr(0, 4) != "L2::") {
      refuse(fmt::format("modifier .{}", parts[i]));
    }
  }
  const Operand& to = operand(0);
  const Operand& from = operand(1);
  for (const Operand* where : {&to, &from}) {
    base_of(*where);
    if (!is_offset(where->offset)) refuse("an offset of more than 32 bits");
  }
  const i64 bytes = operand(2).kind == Kind::kInteger ? operand(2).integer() : 0;
  if (bytes != 16 && (past_l1 || (bytes != 4 && bytes != 8))) {
    refuse(past_l1 ? ".cg copies 16 bytes" : ".ca copies 4, 8 or 16 bytes");
  }
  const std::size_t given = operand_count() - (policy ? 1 : 0);
  if (given > 4) refuse("it has too many operands");
  Value size = constant(static_cast<u64>(bytes), RegisterClass::k32);
  bool ignores = false, negated = false;
  if (given == 4) {
    Operand last = operand(3);
    ignores = last.kind == Kind::kRegister && named(last).type == RegisterClass::kPredicate;
    negated = last.negated;
    last.negated = false;
    if (negated) refuse("a negated operand");
    size = source(last, ignores ? RegisterClass::kPredicate : RegisterClass::k32);
  }
  const auto value_of = [&](const Operand& where) {
    const Operand& base = base_of(where);
    return base.kind == Kind::kRegister ? named(base) : source(base, RegisterClass::k64);
  };
  const Value shared = value_of(to), global = value_of(from);
  if (global.type != RegisterClass::k64) refuse("an address of another size");
  const u32 pc = emit("cp.async");
  at(pc).site = program_.sites++;
  at(pc).bytes = static_cast<u8>(bytes);
  at(pc).flags |= kFlagCopy;
  if (ignores) at(pc).flags |= kFlagIgnore;
  if (shared.type == RegisterClass::k32)
    at(pc).flags |= kFlagAddress32;
  else if (shared.type != RegisterClass::k64)
    refuse("an address of another size");
  at(pc).imm = static_cast<i64>(static_cast<u64>(from.offset) << 32 | static_cast<u32>(to.offset));
  read(pc, Field::kS0, shared);
  read(pc, Field::kS1, global);
  read(pc, Field::kS2, size);
}

void FunctionLowering::mbarrier() {
  const auto parts = opcode().parts;
  if (parts.size() < 3 || parts.back() != "b64") refuse();
  const std::string_view what = parts[1];
  if (what == "pending_count") {
    const Value state = source(operand(1), RegisterClass::k64);
    const u32 pc = emit("mbarrier");
    at(pc).sub = static_cast<u8>(MbarrierKind::kPending);
    read(pc, Field::kS1, state);
    destination(pc, operand(0), RegisterClass::k32);
    return;
  }
  bool shared = false, relaxed = false, parity = false, expects = false, completes = true;
  for (std::size_t i = 2; i + 1 < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (is_any_of(part, {"shared", "shared::cta", "shared::cluster"}))
      shared = true;
    else if (part == "relaxed")
      relaxed = true;
    else if (part == "parity")
      parity = true;
    else if (part == "expect_tx")
      expects = true;
    else if (part == "noComplete")
      completes = false;
    else if (!is_any_of(part, {"release", "acquire", "cta", "cluster"}))
      refuse(fmt::format("modifier .{}", part));
  }
  const bool waits = what == "test_wait" || what == "try_wait";
  const bool arrives = what == "arrive" || what == "arrive_drop";
  MbarrierKind kind;
  if (what == "init")
    kind = MbarrierKind::kInit;
  else if (what == "inval")
    kind = MbarrierKind::kInvalidate;
  else if (what == "expect_tx")
    kind = MbarrierKind::kExpect;
  else if (what == "complete_tx")
    kind = MbarrierKind::kComplete;
  else if (what == "arrive")
    kind = expects     ? MbarrierKind::kArriveExpect
           : completes ? MbarrierKind::kArrive
                       : MbarrierKind::kArriveNoComplete;
  else if (what == "arrive_drop")
    kind = expects     ? MbarrierKind::kDropExpect
           : completes ? MbarrierKind::kDrop
                       : MbarrierKind::kDropNoComplete;
  else if (waits)
    kind = parity ? MbarrierKind::kWaitParity : MbarrierKind::kWaitState;
  else
    refuse();

  // The destination of arrive may be omitted, or _.
  const bool has_result = (waits || arrives) && operand(0).kind != Kind::kAddress;
  std::size_t next = has_result ? 1 : 0;
  const Operand& where = operand(next++);
  base_of(where);
  Value count = constant(1, RegisterClass::k32), bytes = constant(0, RegisterClass::k32);
  const bool more = operand_count() > next;
  if (waits) {
    count = source(operand(next++), parity ? RegisterClass::k32 : RegisterClass::k64);
    if (operand_count() > next) ++next;  // the suspend-time hint
  } else if (expects || kind == MbarrierKind::kExpect || kind == MbarrierKind::kComplete) {
    bytes = source(operand(next++), RegisterClass::k32);
  } else if (kind == MbarrierKind::kInit || (arrives && (more || !completes))) {
    count = source(operand(next++), RegisterClass::k32);
  }
  if (operand_count() != next) refuse("it has too many operands");
  const u32 pc = emit("mbarrier");
  at(pc).sub = static_cast<u8>(kind);
  at(pc).d = kNone;
  if (waits)
    at(pc).site = program_.sites++;
  else
    at(pc).flags |= kFlagStore;
  if (!shared) at(pc).flags |= kFlagGeneric;
  if (!relaxed && (waits || arrives)) at(pc).flags |= kFlagStrong;
  address(pc, where);
  read(pc, Field::kS1, count);
  read(pc, Field::kS2, bytes);
  if (waits)
    destination(pc, operand(0), RegisterClass::kPredicate);
  else if (has_result && !is_sink(operand(0)))
    destination(pc, operand(0), RegisterClass::k64);
}

// setmaxnreg.inc|dec.sync.aligned.u32 registers;
void FunctionLowering::set_registers() {
  const bool takes = opcode().has("inc");
  if ((!takes && !opcode().has("dec")) || !opcode().has("sync") || !opcode().has("aligned"))
    refuse();
  const i64 count = operand(0).kind == Kind::kInteger ? operand(0).integer() : 0;
  if (count < 24 || count > 256 || count % 8 != 0) {
    refuse("registers must be a constant multiple of 8 from 24 to 256");
  }
  const u32 pc = emit("setmaxnreg");
  at(pc).imm = count;
  at(pc).sub = takes ? 1 : 0;
}

}  // namespace vgpu::ptx
