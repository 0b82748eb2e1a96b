// SPDX-License-Identifier: Apache-2.0
#include "ptx/lower/lowering.hpp"

#include <algorithm>

#include "ir/fault.hpp"

#include <fmt/format.h>

namespace vgpu::ptx {

FunctionLowering::FunctionLowering(Program& program, const Module& module, const Layout& layout,
                                   const Placement& placement, u32 member)
    : program_(program),
      layout_(layout),
      placement_(placement),
      module_(module),
      function_(module.functions[layout.members[member].function]),
      member_(layout.members[member]),
      member_index_(member) {
  for (ptx::Type type : function_.register_types) classes_.push_back(class_of(type));
  mentions_.resize(classes_.size());
  for (const ptx::Instruction& i : function_.body) {
    count_mentions(i.operands);
    if (i.guard != ptx::kNone) ++mentions_[i.guard];
  }
}

void FunctionLowering::count_mentions(std::span<const Operand> operands) {
  for (const Operand& o : operands) {
    if (o.kind == Kind::kRegister) ++mentions_[o.reg];
    count_mentions(o.elements);
  }
}

const std::unordered_map<std::string_view, FunctionLowering::Method>& FunctionLowering::methods() {
  static const auto* const kMethods = new std::unordered_map<std::string_view, Method>{
#define PTX(name, lowering, what) {name, &FunctionLowering::lowering},
#include "ptx/opcodes.def"
  };
  return *kMethods;
}

void FunctionLowering::run() {
  FunctionCode& code = program_.functions[member_index_];
  const u32 begin = static_cast<u32>(program_.code.size());
  code.entry = begin;
  for (const ptx::Parameter& p : function_.params) {
    if (p.space == ptx::Space::kReg) {
      throw LoweringError(
          fmt::format("unsupported: register parameters of function {}", function_.name));
    }
  }
  copy_params();
  for (const ptx::Instruction& i : function_.body) {
    pc_of_.push_back(static_cast<u32>(program_.code.size()));
    instruction(i);
  }
  pc_of_.push_back(static_cast<u32>(program_.code.size()));
  current_ = nullptr;
  statement_ = kNone;
  emit("ret", true);
  for (u32 pc = begin; pc < program_.code.size(); ++pc) {
    Insn& insn = at(pc);
    static const u16 kBranch = *find_operation("bra");
    if (insn.op == kBranch) insn.target = pc_of_[insn.target];
  }
  for (u32 table : tables_) {
    for (u32& target : program_.branch_tables[table].targets) target = pc_of_[target];
  }
  for (u32 pc = begin; pc < program_.code.size(); ++pc) {
    const Opcode* const opcode = opcodes_[pc - begin];
    if (opcode != nullptr) program_.origin[pc].what = ptx::class_of(*opcode, at(pc));
  }
  make_runs(begin);
  finish();
  mark_compared_loads(program_, begin);
}

void FunctionLowering::instruction(const ptx::Instruction& instruction) {
  current_ = &instruction;
  statement_ = static_cast<u32>(program_.statements.size());
  Statement& statement = program_.statements.emplace_back();
  statement.text = instruction.text;
  statement.place = static_cast<u32>(instruction.line);
  statement.traits = traits_of(opcode());
  if (repeats_load()) statement.traits |= kLooseLoad;
  if (instruction.location != ptx::kNone) {
    const Location& location = module_.locations[instruction.location];
    statement.file = module_.file_name(location.file);
    statement.line = location.line;
  }
  const auto method = methods().find(opcode().base());
  if (method == methods().end()) refuse();
  (this->*method->second)();
}

// Whether this is a load of global memory like an earlier one, at the same register and offset, and
// nothing between the two, in the order of the text, writes the register or may write the memory.
bool FunctionLowering::repeats_load() {
  const Opcode& op = opcode();
  const std::string_view base = op.base();
  const bool near = op.has("local") || op.has("shared") || op.has("shared::cta");
  if ((is_any_of(base, {"st", "atom", "red"}) && !near) ||
      is_any_of(base, {"bar", "barrier", "call", "cp", "fence", "mbarrier", "membar"}))
    loads_.clear();
  const bool plain = base == "ld" && op.has("global") && !op.has("volatile") &&
                     !op.has("relaxed") && !op.has("acquire") && current_->guard == ptx::kNone;
  bool repeats = false;
  if (plain && operand_count() == 2 && operand(1).kind == Kind::kAddress &&
      !operand(1).elements.empty() && operand(1).elements[0].kind == Kind::kRegister) {
    const Access what = access();
    const i64 begin = operand(1).offset;
    const Loaded load{operand(1).elements[0].reg, begin,
                      begin + i64{ptx::size_of(what.type)} * what.vector};
    repeats = std::ranges::any_of(loads_, [&](const Loaded& other) {
      return other.reg == load.reg && other.begin < load.end && load.begin < other.end;
    });
    loads_.push_back(load);
  }
  if (current_->operands.empty() || base == "st") return repeats;
  const auto forget = [this](const Operand& o) {
    if (o.kind == Kind::kRegister)
      std::erase_if(loads_, [&](const Loaded& load) { return load.reg == o.reg; });
  };
  forget(operand(0));
  for (const Operand& o : operand(0).elements) forget(o);
  return repeats;
}

// Lowers instructions whose operands are a destination and sources according to their shape.
void FunctionLowering::generic() {
  if (opcode().has("cc")) return carry();
  // CUDA's headers write max.s32.relu.
  std::string name(opcode().text);
  constexpr std::string_view kRelu = ".relu";
  if (name.ends_with(kRelu)) {
    name.resize(name.size() - kRelu.size());
    name.insert(opcode().base().size(), kRelu);
  }
  const auto operation = find_operation(name);
  if (!operation || operations()[*operation].shape.dest == Arg::kAbsent) refuse();
  emit_shaped(name);
}

u32 FunctionLowering::emit_shaped(std::string_view operation) {
  const auto op = find_operation(operation);
  if (!op) refuse();
  const Shape& shape = operations()[*op].shape;
  Value sources[4];  // computed first, because a source may need a preceding instruction
  std::size_t count = 0;
  for (; count < 4 && shape.sources[count] != Arg::kAbsent; ++count) {
    sources[count] = source(operand(1 + count), class_of(shape.sources[count]));
  }
  if (1 + count != operand_count()) refuse("it has too many operands");
  const u32 pc = emit(operation, std::span(sources).first(count));
  destination(pc, operand(0), class_of(shape.dest));
  return pc;
}

void FunctionLowering::destination(u32 pc, const Operand& operand, RegisterClass type) {
  const Value to = is_sink(operand) ? temporary(type) : named(operand);
  if (to.type != type) refuse("its destination has another size");
  write(pc, Field::kD, to);
}

void FunctionLowering::refuse(const std::string& why) const {
  std::string where = fmt::format("PTX line {}", current_->line);
  if (current_->location != ptx::kNone) {
    const ptx::Location& location = module_.locations[current_->location];
    where += fmt::format("; {}:{}", module_.file_name(location.file), location.line);
  }
  throw LoweringError(fmt::format("unsupported instruction {}{} ({}): {}", opcode().text,
                                  why.empty() ? "" : ", " + why, where, one_line(current_->text)));
}

const ptx::Operand& FunctionLowering::operand(std::size_t i) const {
  if (i >= current_->operands.size()) refuse("it has too few operands");
  return current_->operands[i];
}

u32 FunctionLowering::emit(std::string_view operation, bool helper) {
  const auto op = find_operation(operation);
  if (!op) refuse();
  const u32 pc = static_cast<u32>(program_.code.size());
  Insn insn;
  insn.op = *op;
  program_.code.push_back(insn);
  program_.origin.push_back({statement_, member_index_, helper, {}});
  opcodes_.push_back(current_ == nullptr ? nullptr : &opcode());
  if (current_ != nullptr && current_->guard != ptx::kNone) {
    Insn& made = at(pc);
    made.guard_negated = current_->guard_negated;
    made.guard_site = program_.guard_sites++;
    read(pc, Field::kGuard, Value{true, current_->guard, RegisterClass::kPredicate});
  }
  return pc;
}

u32 FunctionLowering::emit(std::string_view operation, std::span<const Value> sources,
                           bool helper) {
  constexpr Field kSources[] = {Field::kS0, Field::kS1, Field::kS2, Field::kS3};
  const u32 pc = emit(operation, helper);
  for (std::size_t i = 0; i < sources.size(); ++i) read(pc, kSources[i], sources[i]);
  return pc;
}

void FunctionLowering::read(u32 pc, Field field, const Value& value, u32 element) {
  if (value.is_register) {
    fixups_.push_back({pc, field, element, value.index});
    uses_.push_back({pc, value.index, false, false});
    return;
  }
  slot({pc, field, element, 0}) = value.index;
}

u32& FunctionLowering::slot(const Fixup& place) {
  Insn& insn = at(place.pc);
  switch (place.field) {
    case Field::kD: return insn.d;
    case Field::kList: return insn.list;
    case Field::kGuard: return insn.guard;
    case Field::kLists: return program_.lists[place.element];
    case Field::kPlace: return insn.s[0];
    default: return insn.s[static_cast<u32>(place.field) - static_cast<u32>(Field::kS0)];
  }
}

void FunctionLowering::write(u32 pc, Field field, const Value& value, u32 element) {
  fixups_.push_back({pc, field, element, value.index});
  uses_.push_back({pc, value.index, true, at(pc).guard_site == kNone});
}

// Divides the function into runs.
void FunctionLowering::make_runs(u32 begin) {
  const u32 end = static_cast<u32>(program_.code.size());
  static const u16 kBranch = *find_operation("bra");
  static const u16 kIndexed = *find_operation("brx.idx");
  std::vector<bool> leads(end - begin + 1, false);
  leads[0] = true;
  for (u32 pc = begin; pc < end; ++pc) {
    const Insn& insn = at(pc);
    const Operation& operation = operations()[insn.op];
    if (operation.control) leads[pc + 1 - begin] = true;
    // Some lanes may execute these again after other lanes have continued.
    if (operation.control && operation.name != "bra") leads[pc - begin] = true;
    if (insn.op == kBranch) leads[insn.target - begin] = true;
    if (insn.op == kIndexed) {
      for (u32 target : program_.branch_tables[insn.target].targets) leads[target - begin] = true;
    }
  }
  for (u32 pc = begin; pc < end; ++pc) {
    if (leads[pc - begin]) program_.runs.push_back({pc, pc, false, false, 0});
    Run& run = program_.runs.back();
    run.last = pc;
    run.control = operations()[at(pc).op].control;
    run.branch = at(pc).op == kBranch;
    if (!program_.origin[pc].helper) ++run.counted;
    program_.run_at.push_back(static_cast<u32>(program_.runs.size()) - 1);
  }
}

std::vector<u32> FunctionLowering::successors(u32 run, u32 first_run) const {
  const u32 last = program_.runs[run].last;
  const Insn& insn = program_.code[last];
  const std::string& name = operations()[insn.op].name;
  std::vector<u32> next;
  bool falls_through = last + 1 < program_.code.size();
  if (name == "bra") {
    next.push_back(program_.run_at[insn.target] - first_run);
    falls_through &= insn.guard_site != kNone;
  } else if (name == "brx.idx") {
    for (u32 target : program_.branch_tables[insn.target].targets) {
      next.push_back(program_.run_at[target] - first_run);
    }
    falls_through &= insn.guard_site != kNone;
  } else if (name == "ret" || name == "exit" || name == "trap") {
    falls_through &= insn.guard_site != kNone;
  }
  if (falls_through) next.push_back(run + 1 - first_run);
  return next;
}

// Allocates registers, lays out the window, and writes the slots into the instructions.
void FunctionLowering::finish() {
  FunctionCode& code = program_.functions[member_index_];
  const u32 first_run = program_.run_at[code.entry];
  std::vector<Flow> flow;
  for (u32 r = first_run; r < program_.runs.size(); ++r) {
    flow.push_back({program_.runs[r].first, program_.runs[r].last, successors(r, first_run)});
  }
  std::ranges::stable_sort(uses_, {}, &RegisterUse::pc);
  if (program_.warpgroups) {
    watch_wgmma(flow);
    std::ranges::stable_sort(uses_, {}, &RegisterUse::pc);
  }
  find_sinkable(program_, code.entry, classes_, uses_, flow);
  const RegisterAllocation allocation = allocate(classes_, uses_, flow);

  u32 top = static_cast<u32>(constant_bytes_.size());
  u32 base[kRegisterClasses];
  for (u32 c = 0; c < kRegisterClasses; ++c) {
    base[c] = top = (top + 63) / 64 * 64;
    top += allocation.counts[c] * slot_bytes(static_cast<RegisterClass>(c));
  }
  const u32 places = top = (top + 63) / 64 * 64;
  code.window_bytes = places + places_bytes_;
  code.constants = constant_bytes_;
  const auto slot_of = [&](u32 reg) {
    return base[static_cast<int>(classes_[reg])] + allocation.slot[reg] * slot_bytes(classes_[reg]);
  };
  for (u32 reg : allocation.undefined)
    code.undefined.emplace_back(slot_of(reg), slot_bytes(classes_[reg]));

  for (const Fixup& f : fixups_)
    slot(f) = f.field == Field::kPlace ? places + places_[f.reg].slot : slot_of(f.reg);
  for (u32 call : calls_) {
    for (ParamPlace& p : program_.calls[call].args) p.slot += places;
    for (ParamPlace& p : program_.calls[call].returns) p.slot += places;
  }
  if (!function_.is_entry) {
    const auto own = [&](Operand& symbol, const std::vector<ptx::Parameter>& of,
                         std::vector<ParamPlace>& into) {
      for (u32 i = 0; i < of.size(); ++i) {
        symbol.symbol.index = i;
        ParamPlace place = places_[place_of(symbol)];
        place.slot += places;
        into.push_back(place);
      }
    };
    Operand symbol;
    symbol.kind = Kind::kSymbol;
    symbol.symbol.kind = ptx::Symbol::Kind::kParam;
    own(symbol, function_.params, code.params);
    symbol.symbol.kind = ptx::Symbol::Kind::kReturn;
    own(symbol, function_.returns, code.returns);
    code.window_bytes = places + places_bytes_;
  }

  // An atomic whose old value is never read becomes a reduction.
  std::vector<bool> is_read(classes_.size(), false);
  for (const RegisterUse& use : uses_) {
    if (!use.writes) is_read[use.reg] = true;
  }
  for (u32 pc : results_) {
    const auto result =
        std::ranges::find_if(uses_, [&](const RegisterUse& u) { return u.pc == pc && u.writes; });
    if (is_read[result->reg])
      program_.ordered = true;
    else
      at(pc).flags &= static_cast<u16>(~kFlagHasResult);
  }
}

Program lower(const ptx::Module& module, const Layout& layout, const Placement& placement,
              KernelAttributes attributes) {
  Program program;
  program.storage = module.storage;
  program.attributes = std::move(attributes);
  program.shared_begin = layout.shared_begin;
  program.shared_static = layout.shared_static;
  program.shared_dynamic_alignment = layout.dynamic_alignment;
  program.address_to_function = layout.member_of;
  for (const Layout::Member& member : layout.members) {
    FunctionCode& code = program.functions.emplace_back();
    code.name = std::string(module.functions[member.function].name);
    code.local_bytes = member.local_bytes;
  }

  try {
    for (u32 member = 0; member < layout.members.size(); ++member) {
      FunctionLowering(program, module, layout, placement, member).run();
    }
  } catch (const LoweringError& error) {
    program.unsupported = error.what();
  }
  return program;
}

}  // namespace vgpu::ptx
