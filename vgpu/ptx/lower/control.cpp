// SPDX-License-Identifier: Apache-2.0
// Branches, calls, barriers and the instructions between lanes.
#include <fmt/format.h>

#include "ir/address.hpp"
#include "ir/provided.hpp"
#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {

void FunctionLowering::bra() {
  if (operand(0).kind != Kind::kLabel) refuse();
  const u32 pc = emit("bra");
  // An index into the body; replaced when the function is complete.
  at(pc).target = operand(0).target;
}

void FunctionLowering::brx() {
  if (operand_count() < 2 || operand(1).kind != Kind::kBranchTable) refuse();
  const Value index = source(operand(0), RegisterClass::k32);
  const u32 pc = emit("brx.idx", {index});
  at(pc).target = static_cast<u32>(program_.branch_tables.size());
  tables_.push_back(at(pc).target);
  program_.branch_tables.push_back({function_.branch_tables[operand(1).target].targets});
}

void FunctionLowering::call_arguments(const Operand& list, std::vector<ParamPlace>& into) {
  for (const Operand& argument : list.elements) {
    const bool place =
        argument.kind == Kind::kSymbol && (argument.symbol.kind == ptx::Symbol::Kind::kBody ||
                                           argument.symbol.kind == ptx::Symbol::Kind::kParam ||
                                           argument.symbol.kind == ptx::Symbol::Kind::kReturn);
    if (!place) refuse("an argument that is no .param variable");
    into.push_back(places_[place_of(argument)]);
  }
}

void FunctionLowering::call_device_runtime(Call& what, u32 function) {
  what.kind = Call::Kind::kDevice;
  what.callee = function;
  for (u32 i = 0; i < module_.functions.size(); ++i) {
    const ptx::Function& kernel = module_.functions[i];
    if (kernel.is_entry && !kernel.is_declaration) {
      program_.launchable[function_address(i)] = {std::string(kernel.name),
                                                  static_cast<u32>(kernel.param_bytes)};
    }
  }
}

// call (results), function, (arguments), prototype or table;
void FunctionLowering::call() {
  Call what;
  std::size_t next = 0;
  if (operand(0).kind == Kind::kList) call_arguments(operand(next++), what.returns);
  const Operand& target = operand(next++);
  if (next < operand_count() && operand(next).kind == Kind::kList)
    call_arguments(operand(next), what.args);
  const u32 pc = emit("call");
  if (target.kind == Kind::kRegister) {
    what.kind = Call::Kind::kIndirect;
    const Value pointer = named(target);
    if (pointer.type != RegisterClass::k64) refuse("32-bit addresses");
    read(pc, Field::kS0, pointer);
  } else if (target.kind == Kind::kSymbol && target.symbol.kind == ptx::Symbol::Kind::kFunction) {
    const u32 function = resolve_alias(module_, target.symbol.index);
    const std::string_view name = module_.functions[function].name;
    what.callee = layout_.member_of[function];
    if (what.callee == kNone) {
      if (name == "vprintf" && what.args.size() == 2)
        what.kind = Call::Kind::kPrint;
      else if (name == "__assertfail" && what.args.size() == 5)
        what.kind = Call::Kind::kAssert;
      else if (name == "malloc" && what.args.size() == 1)
        what.kind = Call::Kind::kAllocate;
      else if (name == "free" && what.args.size() == 1)
        what.kind = Call::Kind::kFree;
      else if (const auto function_of_runtime = ir::device_function(name))
        call_device_runtime(what, static_cast<u32>(*function_of_runtime));
      else
        refuse(fmt::format("function {} has no body here", name));
      program_.prints |= what.kind == Call::Kind::kPrint || what.kind == Call::Kind::kAssert;
      // The addresses that malloc returns depend on the order of blocks.
      if (what.kind == Call::Kind::kAllocate || what.kind == Call::Kind::kFree ||
          what.kind == Call::Kind::kDevice)
        program_.heap = program_.ordered = true;
    }
  } else {
    refuse();
  }
  at(pc).target = static_cast<u32>(program_.calls.size());
  calls_.push_back(at(pc).target);
  program_.calls.push_back(std::move(what));
}

void FunctionLowering::ret() { emit("ret"); }
void FunctionLowering::exit() { emit("exit"); }
void FunctionLowering::trap() { emit("trap"); }
void FunctionLowering::nanosleep() { emit("nanosleep"); }

// Instructions that only order memory or control caches. All accesses go directly to one memory
// without caches.
void FunctionLowering::nothing() { emit("nop"); }

// d, d|p, p|q: to Insn::d and Insn::list; kNone for an unused one.
void FunctionLowering::results(u32 pc, const Operand& what) {
  at(pc).d = kNone;
  if (what.kind != Kind::kPair) {
    if (!is_sink(what)) write(pc, Field::kD, named(what));
    return;
  }
  if (!is_sink(what.elements[0])) write(pc, Field::kD, named(what.elements[0]));
  if (!is_sink(what.elements[1])) write(pc, Field::kList, named(what.elements[1]));
}

// bar and barrier: {.cta}.sync|arrive|red, and bar.warp.sync.
void FunctionLowering::barrier() {
  if (opcode().has("cluster")) return cluster_barrier();
  if (opcode().has("warp"))
    return void(emit("bar.warp.sync", {source(operand(0), RegisterClass::k32)}));
  const bool reduces = opcode().has("red");
  std::size_t next = reduces ? 1 : 0;
  const Value number = source(operand(next++), RegisterClass::k32);
  const bool counted = operand_count() > next + (reduces ? 1 : 0);
  const Value threads =
      counted ? source(operand(next++), RegisterClass::k32) : constant(0, RegisterClass::k32);
  const u32 pc = emit("bar", {number, threads});
  at(pc).s[2] = kNone;
  if (opcode().base() == "bar" || opcode().has("aligned")) at(pc).flags |= kFlagAligned;
  BarrierKind kind = BarrierKind::kSync;
  if (opcode().has("arrive"))
    kind = BarrierKind::kArrive;
  else if (opcode().has("popc"))
    kind = BarrierKind::kReducePopulation;
  else if (opcode().has("and"))
    kind = BarrierKind::kReduceAnd;
  else if (opcode().has("or"))
    kind = BarrierKind::kReduceOr;
  else if (!opcode().has("sync"))
    refuse();
  at(pc).sub = static_cast<u8>(kind);
  if (!reduces) return;
  read_predicate(pc, operand(next));
  destination(
      pc, operand(0),
      kind == BarrierKind::kReducePopulation ? RegisterClass::k32 : RegisterClass::kPredicate);
}

// vote.sync.ballot.b32 or vote.ballot.sync.b32: "ballot".
std::string_view FunctionLowering::beside_sync() const {
  const auto parts = opcode().parts;
  if (!opcode().has("sync") || parts.size() < 4) refuse("without .sync");
  return parts[1] == "sync" ? parts[2] : parts[1];
}

void FunctionLowering::vote() {
  const std::string_view how = beside_sync();
  const VoteMode mode = how == "all"   ? VoteMode::kAll
                        : how == "any" ? VoteMode::kAny
                        : how == "uni" ? VoteMode::kUniform
                                       : VoteMode::kBallot;
  if (mode == VoteMode::kBallot && how != "ballot") refuse();
  Operand predicate = operand(1);
  const bool negated = predicate.negated;
  predicate.negated = false;
  const Value vote = source(predicate, RegisterClass::kPredicate);
  const Value members = source(operand(2), RegisterClass::k32);
  const u32 pc = emit("vote.sync", {vote, members});
  at(pc).sub = static_cast<u8>(mode);
  if (negated) at(pc).flags |= kFlagNegate;
  destination(pc, operand(0),
              mode == VoteMode::kBallot ? RegisterClass::k32 : RegisterClass::kPredicate);
}

void FunctionLowering::shfl() {
  const std::string_view how = beside_sync();
  const ShuffleMode mode = how == "up"     ? ShuffleMode::kUp
                           : how == "down" ? ShuffleMode::kDown
                           : how == "bfly" ? ShuffleMode::kButterfly
                                           : ShuffleMode::kIndex;
  if (mode == ShuffleMode::kIndex && how != "idx") refuse();
  const u32 pc = emit("shfl.sync", sources(1, 4, RegisterClass::k32));
  at(pc).sub = static_cast<u8>(mode);
  results(pc, operand(0));
}

void FunctionLowering::match() {
  const bool wide = opcode().parts.back() == "b64";
  const Value value = source(operand(1), wide ? RegisterClass::k64 : RegisterClass::k32);
  const Value members = source(operand(2), RegisterClass::k32);
  const std::string name = fmt::format("match.{}.sync.{}", beside_sync(), opcode().parts.back());
  results(emit(name, {value, members}), operand(0));
}

void FunctionLowering::redux() {
  const std::string name = fmt::format("redux.sync.{}.{}", beside_sync(), opcode().parts.back());
  destination(emit(name, sources(1, 2, RegisterClass::k32)), operand(0), RegisterClass::k32);
}

void FunctionLowering::elect() {
  results(emit("elect.sync", sources(1, 1, RegisterClass::k32)), operand(0));
}

void FunctionLowering::activemask() {
  destination(emit("activemask.b32"), operand(0), RegisterClass::k32);
}

// barrier.cluster.arrive{.release|.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}
void FunctionLowering::cluster_barrier() {
  const auto parts = opcode().parts;
  if (parts.size() < 3 || operand_count() != 0) refuse();
  const bool arrives = parts[2] == "arrive";
  if (!arrives && parts[2] != "wait") refuse();
  bool relaxed = false;
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if (parts[i] == "relaxed" && arrives)
      relaxed = true;
    else if (parts[i] != "aligned" && parts[i] != (arrives ? "release" : "acquire"))
      refuse(fmt::format("modifier .{}", parts[i]));
  }
  const u32 pc = emit(arrives ? "barrier.cluster.arrive" : "barrier.cluster.wait");
  at(pc).sub = relaxed ? 1 : 0;
  if (opcode().has("aligned")) at(pc).flags |= kFlagAligned;
}

// mapa{.shared::cluster}.u32|u64 d, a, rank; without a space the addresses are generic.
void FunctionLowering::map_address() {
  const Value to = named(operand(0));
  const Value from = source(operand(1), to.type);
  const Value rank = source(operand(2), RegisterClass::k32);
  const u32 pc = emit(to.type == RegisterClass::k64 ? "mapa.64" : "mapa.32", {from, rank});
  if (!opcode().has("shared::cluster")) at(pc).flags |= kFlagGeneric;
  write(pc, Field::kD, to);
}

// getctarank{.shared::cluster}.u32|u64 d, a; d has 32 bits
void FunctionLowering::cluster_rank() {
  const bool wide = opcode().parts.back() == "u64";
  const Value from = source(operand(1), wide ? RegisterClass::k64 : RegisterClass::k32);
  const u32 pc = emit(wide ? "getctarank.64" : "getctarank.32", {from});
  if (!opcode().has("shared::cluster")) at(pc).flags |= kFlagGeneric;
  destination(pc, operand(0), RegisterClass::k32);
}

}  // namespace vgpu::ptx
