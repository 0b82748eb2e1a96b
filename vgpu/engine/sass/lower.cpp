// SPDX-License-Identifier: Apache-2.0
#include "engine/sass/lower.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "engine/execute/address.hpp"
#include "engine/sass/compared_loads.hpp"
#include "engine/sass/decode.hpp"
#include "engine/sass/modifiers.hpp"

namespace vgpu::sass {
namespace {

constexpr u32 kTrueSlot = 4 * kTrue, kUniformPredicates = 32, kPredicateBytes = 28;

}  // namespace

Lowering::Lowering(execute::Program& program, Code& code, std::span<const std::byte> text,
                   const std::vector<u32>& jump_targets)
    : program_(program), code_(code), text_(text), jump_targets_(jump_targets) {
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
  u32 most = 0, most_uniform = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const u32 address = static_cast<u32>(n * 16);
    code_.instructions.push_back(
        decode({read64(text_, address), read64(text_, address + 8)}, address));
    for (const Operand& o : code_.instructions.back().operands) {
      const bool general =
          o.kind == Kind::kRegister || o.kind == Kind::kAddress || o.kind == Kind::kConstant;
      if (general && o.index != kZeroRegister) most = std::max<u32>(most, o.index);
      if (o.kind == Kind::kUniform && o.index != kZeroUniform)
        most_uniform = std::max<u32>(most_uniform, o.index);
      if (o.uniform != kZeroUniform) most_uniform = std::max<u32>(most_uniform, o.uniform);
    }
  }
  mark_compared_loads(code_.instructions);
  const bool calls = std::any_of(code_.instructions.begin(), code_.instructions.end(),
                                 [](const Instruction& i) { return i.op == Op::kCallAbsolute; });
  if (calls)
    most = std::max<u32>(most, 11);  // argument registers, even if the code does not set them
  uniforms_ = std::min<u32>(most + 4, 255);
  barriers_ = uniforms_ + std::min<u32>(most_uniform + 4, 63);
  trash_ = barriers_ + 16;
  scratch_ = trash_ + 4;
  rows_ = scratch_ + 10;
  for (const Instruction& i : code_.instructions) {
    current_ = &i;
    code_.pc_at.push_back(static_cast<u32>(program_.code.size()));
    lower(i);
  }
  if (count == 0) throw UnknownInstruction("there is no code");
  finish();
  make_runs();
}

u32 Lowering::emit(std::string_view operation, bool helper, bool guarded) {
  const auto op = execute::find_operation(operation);
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
  program_.origin.push_back({nullptr, 0, helper});
  code_.instruction_at.push_back(static_cast<u32>(current_ - code_.instructions.data()));
  code_.is_helper.push_back(helper);
  return static_cast<u32>(program_.code.size()) - 1;
}

u32 Lowering::emit_alu(std::string_view operation, u32 d, std::initializer_list<u32> sources,
                       u64 modifiers) {
  const u32 pc = emit(operation);
  Insn& insn = at(pc);
  insn.d = d;
  u32 n = 0;
  for (const u32 s : sources) insn.s[n++] = s;
  insn.imm = static_cast<execute::i64>(modifiers);
  return pc;
}

std::string Lowering::twin(const char* name) const {
  return current_->uniform ? std::string("u.") + name : std::string(name);
}

u32 Lowering::constant(u32 value) {
  const auto [known, added] =
      known_constants_.try_emplace(value, static_cast<u32>(constants_.size()));
  if (added) {
    for (u32 lane = 0; lane < execute::kLanes; ++lane) {
      const auto* const raw = reinterpret_cast<const std::byte*>(&value);
      constants_.insert(constants_.end(), raw, raw + 4);
    }
  }
  return known->second;
}

u32 Lowering::constant_pair(u32 low, u32 high) {
  const auto [known, added] =
      known_pairs_.try_emplace(low | u64{high} << 32, static_cast<u32>(constants_.size()));
  if (added) {
    for (const u32 value : {low, high}) {
      for (u32 lane = 0; lane < execute::kLanes; ++lane) {
        const auto* const raw = reinterpret_cast<const std::byte*>(&value);
        constants_.insert(constants_.end(), raw, raw + 4);
      }
    }
  }
  return known->second;
}

u32 Lowering::bank_constant(const Operand& o, u32 words) {
  if (o.bank != 0 && o.bank != 2 && o.bank != 3 && o.bank != 4) refuse("another constant bank");
  if (o.index != kZeroRegister || o.uniform != kZeroUniform || o.value % 4 != 0)
    refuse("a constant by index");
  if (o.bank == 0 && o.value < code_.param_base) {
    // Block and grid dimensions, the local-memory window, the stack; clusters; their size; the
    // address of the parameters; a global-memory descriptor.
    const u32 at = o.value;
    const bool known = at < 0x18 || (at >= 0x20 && at < 0x2c) || (at >= 0x140 && at < 0x168) ||
                       at == 0x188 || (at >= 0x198 && at < 0x1a0) || (at >= 0x208 && at < 0x210);
    if (!known) refuse(fmt::format("the driver's constant at 0x{:x}", o.value));
  }
  const u64 key = u64{o.bank} << 40 | u64{words} << 32 | o.value;
  const auto [known, added] = known_bank_.try_emplace(key, static_cast<u32>(constants_.size()));
  if (added) {
    for (u32 w = 0; w < words; ++w) {
      program_.bank_constants.push_back(
          {static_cast<u32>(constants_.size()), o.bank, o.value + 4 * w});
      constants_.resize(constants_.size() + 4 * execute::kLanes);
    }
  }
  return known->second;
}

u32 Lowering::source(const Operand& o) {
  switch (o.kind) {
    case Kind::kRegister:
      return o.index == kZeroRegister ? zero_ : row(o.index);
    case Kind::kUniform:
      return o.index == kZeroUniform ? zero_ : row(uniforms_ + o.index);
    case Kind::kImmediate:
      return constant(o.value);
    case Kind::kConstant:
      return bank_constant(o, 1);
    case Kind::kBarrier:
      return row(barriers_ + o.index);
    default:
      refuse("an operand of another kind");
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
  for (execute::Call& call : program_.calls) {
    for (execute::ParamPlace& place : call.args) fix(place.slot);
    for (execute::ParamPlace& place : call.returns) fix(place.slot);
  }
  execute::FunctionCode& function = program_.functions[0];
  function.window_bytes = base + rows_ * 128;
  function.undefined = {
      {0, kPredicateBytes}, {kUniformPredicates, kPredicateBytes}, {base, rows_ * 128}};
  function.constants = std::move(constants_);
  for (Insn& insn : program_.code) {
    const std::string& name = execute::operations()[insn.op].name;
    const bool jumps = name == "sass.bra" || name == "sass.bra.div" || name == "sass.call";
    if (!jumps) continue;
    const u32 index = insn.target / 16;
    current_ =
        &code_.instructions[code_.instruction_at[static_cast<u32>(&insn - program_.code.data())]];
    if (insn.target % 16 != 0 || index >= code_.pc_at.size()) refuse("a jump out of the code");
    insn.target = code_.pc_at[index];
  }
}

void Lowering::make_runs() {
  const std::vector<execute::Operation>& operations = execute::operations();
  std::vector<bool> leads(program_.code.size() + 1);
  leads[0] = true;
  for (u32 pc = 0; pc < program_.code.size(); ++pc) {
    const execute::Operation& operation = operations[program_.code[pc].op];
    if (!operation.control) continue;
    leads[pc + 1] = true;
    // Lanes with a different address execute the instruction again.
    if (operation.name == "sass.jump" || operation.name == "sass.call.absolute") leads[pc] = true;
    const bool jumps = operation.name == "sass.bra" || operation.name == "sass.bra.div" ||
                       operation.name == "sass.call";
    if (jumps) leads[program_.code[pc].target] = true;
  }
  for (const u32 address : jump_targets_) {
    if (address % 16 == 0 && address / 16 < code_.pc_at.size())
      leads[code_.pc_at[address / 16]] = true;
  }
  static const execute::u16 kBranch = *execute::find_operation("sass.bra");
  for (u32 pc = 0; pc < program_.code.size(); ++pc) {
    if (leads[pc]) program_.runs.push_back({pc, pc, false, false, 0});
    execute::Run& run = program_.runs.back();
    run.last = pc;
    run.control = operations[program_.code[pc].op].control;
    run.branch = program_.code[pc].op == kBranch;
    run.counted += code_.is_helper[pc] ? 0 : 1;
    program_.run_at.push_back(static_cast<u32>(program_.runs.size()) - 1);
  }
}

std::array<std::vector<std::byte>, kBanks> make_banks(const Code& code, const LaunchConfig& config,
                                                      const std::vector<std::byte>& params) {
  std::array<std::vector<std::byte>, kBanks> banks;
  std::vector<std::byte>& launch = banks[0];
  launch.resize(code.param_base + params.size());
  const auto put = [&](std::size_t offset, const auto& value) {
    if (offset + sizeof(value) <= launch.size())
      std::memcpy(launch.data() + offset, &value, sizeof(value));
  };
  const u32 extents[] = {config.block.x, config.block.y, config.block.z,
                         config.grid.x,  config.grid.y,  config.grid.z};
  put(0, extents);
  put(0x20, execute::windows().local);
  put(0x28, code.stack_bytes);
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  // Code divides by a cluster's extents: the product with the reciprocal, rounded to zero.
  const auto reciprocal = [](u32 extent) {
    const float nearest = 1.0F / static_cast<float>(extent);
    const bool exact = (extent & (extent - 1)) == 0;
    return exact ? nearest : std::nextafterf(nearest, 1.0F);
  };
  put(0x140, u32{cluster.count() > 1 ? 1u : 0u});
  const u32 extents_of_cluster[] = {cluster.x, cluster.y, cluster.z};
  const float reciprocals[] = {reciprocal(cluster.x), reciprocal(cluster.y), reciprocal(cluster.z)};
  const u32 clusters[] = {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
  put(0x144, extents_of_cluster);
  put(0x150, reciprocals);
  put(0x15c, clusters);
  put(0x188, static_cast<u32>(cluster.count()));
  put(0x198, execute::windows().param + code.param_base);
  std::copy(params.begin(), params.end(), launch.begin() + code.param_base);
  banks[2] = code.bank2;
  if (code.bank3 != nullptr) banks[3].assign(code.bank3, code.bank3 + code.bank3_bytes);
  banks[4] = code.bank4;
  return banks;
}

const LineEntry* LineTable::find(std::uint32_t address) const {
  const auto after =
      std::upper_bound(entries.begin(), entries.end(), address,
                       [](std::uint32_t a, const LineEntry& e) { return a < e.address; });
  if (after == entries.begin() || (after - 1)->line == 0) return nullptr;
  return &*(after - 1);
}

}  // namespace vgpu::sass
