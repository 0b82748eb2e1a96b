// SPDX-License-Identifier: Apache-2.0
#include "sass/lower/lower.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "ir/driver_constants.hpp"
#include "sass/decode/decode.hpp"
#include "sass/lower/operands.hpp"

namespace vgpu::sass {
namespace {

constexpr u32 kTrueSlot = 4 * kTrue, kUniformPredicates = 32, kPredicateBytes = 28;

}  // namespace

Lowering::Lowering(Program& program, std::vector<Instruction>& instructions,
                   std::span<const std::byte> text, const std::vector<u32>& jump_targets)
    : program_(program),
      machine_code_(*program.machine_code),
      instructions_(instructions),
      text_(text),
      jump_targets_(jump_targets) {
  constants_.resize(kConstantsAt);
  const u32 yes = ~u32{0};
  std::memcpy(constants_.data() + kTrueSlot, &yes, 4);
  std::memcpy(constants_.data() + kUniformPredicates + kTrueSlot, &yes, 4);
  zero_ = constant_pair(0, 0);
  known_constants_[0] = zero_;
}

void Lowering::refuse(const std::string& why) const {
  throw UnknownInstruction(fmt::format("machine code at 0x{:x}: {} (opcode 0x{:03x}): {}",
                                       current_->address, current_->text, current_->opcode, why));
}

void Lowering::run() {
  const std::size_t count = text_.size() / 16;
  u32 most = 0, most_uniform = 0, used_barriers = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const u32 address = static_cast<u32>(n * 16);
    instructions_.push_back(decode({read64(text_, address), read64(text_, address + 8)}, address,
                                   program_.attributes.target));
    for (const Operand& o : instructions_.back().operands) {
      const bool general =
          o.kind == Kind::kRegister || o.kind == Kind::kAddress || o.kind == Kind::kConstant;
      if (general && o.index != kZeroRegister) most = std::max<u32>(most, o.index);
      if (o.kind == Kind::kUniform && o.index != kZeroUniform)
        most_uniform = std::max<u32>(most_uniform, o.index);
      if (o.uniform != kZeroUniform) most_uniform = std::max<u32>(most_uniform, o.uniform);
      if (o.kind == Kind::kBarrier) used_barriers = std::max<u32>(used_barriers, o.index + 1);
    }
  }
  mark_compared_loads(instructions_);
  mark_dead_words(instructions_);
  const OrderTraits order(instructions_);
  const bool calls = std::ranges::any_of(
      instructions_, [](const Instruction& i) { return i.op == Op::kCallAbsolute; });
  if (calls)
    most = std::max<u32>(most, 12);  // argument registers, even if the code does not set them
  uniforms_ = std::min<u32>(most + 4, 255);
  reduction_ = uniforms_ + std::min<u32>(most_uniform + 4, 63);
  barriers_ = reduction_ + 1;
  // Every other row is written by the instruction that reads it, or never read.
  undefined_rows_ = barriers_ + used_barriers;
  trash_ = barriers_ + 16;
  scratch_ = trash_ + 4;
  rows_ = scratch_ + 12;
  for (const Instruction& i : instructions_) {
    current_ = &i;
    program_.statements.push_back({i.text, i.address, "", 0, traits_of(i) | order.of(i)});
    machine_code_.control.push_back(i.control);
    machine_code_.ways.push_back(ways_of(i));
    machine_code_.pc_at.push_back(static_cast<u32>(program_.code.size()));
    compute_address(i);
    lower(i);
  }
  if (count == 0) throw UnknownInstruction("there is no code");
  take_plain_operations();
  finish();
  make_runs();
}

u32 Lowering::emit(std::string_view operation, bool helper, bool guarded) {
  const auto op = find_operation(operation);
  if (!op) refuse(fmt::format("there is no operation {}", operation));
  Insn insn;
  insn.op = *op;
  const Operand& guard = current_->guard;
  if (guarded && (guard.index != kTrue || guard.negated)) {
    insn.guard = predicate(guard);
    insn.guard_negated = guard.negated;
    insn.guard_site = program_.guard_sites++;
  }
  program_.code.push_back(insn);
  program_.origin.push_back(
      {static_cast<u32>(program_.statements.size() - 1), 0, helper, class_of(*current_)});
  return static_cast<u32>(program_.code.size()) - 1;
}

Insn& Lowering::emit_alu(std::string_view operation, u32 d, std::initializer_list<u32> sources,
                         u64 modifiers) {
  return fill(emit(operation), d, sources, modifiers);
}

Insn& Lowering::emit_alu(std::string_view operation, const std::array<u32, 2>& results,
                         std::initializer_list<u32> sources, u64 modifiers) {
  Insn& insn = emit_alu(operation, results[0], sources, modifiers);
  insn.list = results[1];
  return insn;
}

Insn& Lowering::emit_row(std::string_view operation, const Instruction& i, u32 count,
                         u64 modifiers) {
  Insn& insn = emit_alu(operation, destination(i[0]), {}, modifiers);
  for (u32 n = 0; n < count; ++n) insn.s[n] = source(i[1 + n]);
  return insn;
}

u32 Lowering::helper(std::string_view operation, u32 d, std::initializer_list<u32> sources,
                     u64 modifiers) {
  fill(emit(operation, true, false), d, sources, modifiers);
  return d;
}

void Lowering::emit_uncounted(std::string_view operation, u32 d,
                              std::initializer_list<u32> sources) {
  fill(emit(operation, true), d, sources, 0);
}

void Lowering::unpack(u32 d, u32 from) {
  emit_uncounted("unpack.64.32.0", d, {from});
  emit_uncounted("unpack.64.32.1", d + 128, {from});
}

Insn& Lowering::fill(u32 pc, u32 d, std::initializer_list<u32> sources, u64 modifiers) {
  Insn& insn = at(pc);
  insn.d = d;
  std::ranges::copy(sources, insn.s);
  insn.imm = static_cast<i64>(modifiers);
  return insn;
}

std::string Lowering::twin(const char* name) const {
  return current_->uniform ? std::string("u.") + name : std::string(name);
}

// The value in each lane.
void Lowering::append_constant(u32 value) {
  const auto* const raw = reinterpret_cast<const std::byte*>(&value);
  for (u32 lane = 0; lane < kLanes; ++lane) constants_.insert(constants_.end(), raw, raw + 4);
}

u32 Lowering::constant(u32 value) {
  const auto [known, added] =
      known_constants_.try_emplace(value, static_cast<u32>(constants_.size()));
  if (added) append_constant(value);
  return known->second;
}

u32 Lowering::constant_pair(u32 low, u32 high) {
  const auto [known, added] =
      known_pairs_.try_emplace(low | u64{high} << 32, static_cast<u32>(constants_.size()));
  if (added) {
    append_constant(low);
    append_constant(high);
  }
  return known->second;
}

u32 Lowering::bank_constant(const Operand& o, u32 words) {
  if (o.bank != 0 && o.bank != 2 && o.bank != 3 && o.bank != 4) refuse("another constant bank");
  if (o.index != kZeroRegister || o.uniform != kZeroUniform || o.value % 4 != 0)
    refuse("a constant by index");
  if (o.bank == 0 && o.value < machine_code_.param_base) {
    const ir::DriverConstants places = ir::driver_constants(program_.attributes.target);
    for (u32 word = 0; word < words; ++word) {
      const u32 at = o.value + 4 * word;
      if (!places.holds(at) && at < machine_code_.param_base)
        refuse(fmt::format("the driver's constant at 0x{:x}", at));
    }
  }
  const u64 key = u64{o.bank} << 40 | u64{words} << 32 | o.value;
  const auto [known, added] = known_bank_.try_emplace(key, static_cast<u32>(constants_.size()));
  if (added) {
    for (u32 w = 0; w < words; ++w) {
      program_.bank_constants.push_back(
          {static_cast<u32>(constants_.size()), o.bank, o.value + 4 * w});
      constants_.resize(constants_.size() + 4 * kLanes);
    }
  }
  return known->second;
}

u32 Lowering::source(const Operand& o) {
  switch (o.kind) {
    case Kind::kRegister: return o.index == kZeroRegister ? zero_ : row(o.index);
    case Kind::kUniform: return o.index == kZeroUniform ? zero_ : row(uniforms_ + o.index);
    case Kind::kImmediate: return constant(o.value);
    case Kind::kConstant: return bank_constant(o, 1);
    case Kind::kBarrier: return row(barriers_ + o.index);
    default: refuse("an operand of another kind");
  }
}

// A 64-bit operand. An immediate is the upper half of an FP64 value.
u32 Lowering::source_pair(const Operand& o) {
  if (o.kind == Kind::kImmediate) return constant_pair(0, o.value);
  if (o.kind == Kind::kConstant) return bank_constant(o, 2);
  return source(o);
}

u32 Lowering::destination(const Operand& o) const {
  if (o.kind == Kind::kRegister) return o.index == kZeroRegister ? row(trash_) : row(o.index);
  return o.index == kZeroUniform ? row(trash_) : row(uniforms_ + o.index);
}

u32 Lowering::predicate(const Operand& o) const {
  return 4 * o.index + (o.kind == Kind::kUniformPredicate ? kUniformPredicates : 0);
}
u32 Lowering::predicate_out(const Operand& o) const {
  return o.index == kTrue ? kNone : predicate(o);
}

// Converts register slots, which follow the constants, to their final positions.
void Lowering::finish() {
  const u32 base = static_cast<u32>(constants_.size());
  const auto fix = [&](u32& slot) {
    if (slot != kNone && (slot & kMark) != 0) slot = (slot & ~kMark) + base;
  };
  for (Insn& insn : program_.code) {
    fix(insn.d);
    for (u32& s : insn.s) fix(s);
    fix(insn.list);
  }
  for (u32& slot : program_.lists) fix(slot);
  for (Call& call : program_.calls) {
    for (ParamPlace& place : call.args) fix(place.slot);
    for (ParamPlace& place : call.returns) fix(place.slot);
  }
  FunctionCode& function = program_.functions[0];
  function.window_bytes = base + rows_ * 128;
  function.undefined = {
      {0, kPredicateBytes}, {kUniformPredicates, kPredicateBytes}, {base, undefined_rows_ * 128}};
  function.constants = std::move(constants_);
  for (Insn& insn : program_.code) {
    const std::string& name = operations()[insn.op].name;
    const bool jumps = name == "sass.bra" || name == "sass.bra.div" || name == "sass.call";
    if (!jumps) continue;
    const u32 index = insn.target / 16;
    const auto pc = static_cast<std::size_t>(&insn - program_.code.data());
    current_ = &instructions_[program_.origin[pc].statement];
    if (insn.target % 16 != 0 || index >= machine_code_.pc_at.size())
      refuse("a jump out of the code");
    insn.target = machine_code_.pc_at[index];
  }
}

void Lowering::make_runs() {
  const std::vector<Operation>& operations = ir::operations();
  std::vector<bool> leads(program_.code.size() + 1);
  leads[0] = true;
  for (u32 pc = 0; pc < program_.code.size(); ++pc) {
    const Operation& operation = operations[program_.code[pc].op];
    if (!operation.control) continue;
    leads[pc + 1] = true;
    // Executed again, alone: by lanes with a different address, or by a warp that had to wait for
    // other lanes or warps.
    if (operation.name == "sass.jump" || operation.name == "sass.call.absolute" ||
        !operation.name.starts_with("sass."))
      leads[pc] = true;
    const bool jumps = operation.name == "sass.bra" || operation.name == "sass.bra.div" ||
                       operation.name == "sass.call";
    if (jumps) leads[program_.code[pc].target] = true;
  }
  for (const u32 address : jump_targets_) {
    if (address % 16 == 0 && address / 16 < machine_code_.pc_at.size())
      leads[machine_code_.pc_at[address / 16]] = true;
  }
  static const u16 kBranch = *find_operation("sass.bra"), kExitIf = *find_operation("sass.exit.if");
  for (u32 pc = 0; pc < program_.code.size(); ++pc) {
    if (leads[pc]) program_.runs.push_back({pc, pc, false, false, 0});
    Run& run = program_.runs.back();
    run.last = pc;
    run.control = operations[program_.code[pc].op].control;
    run.branch = program_.code[pc].op == kBranch || program_.code[pc].op == kExitIf;
    run.counted += program_.origin[pc].helper ? 0 : 1;
    program_.run_at.push_back(static_cast<u32>(program_.runs.size()) - 1);
  }
}

}  // namespace vgpu::sass
