// SPDX-License-Identifier: Apache-2.0
// Joins a program's instructions with what the machine counted.
#include <algorithm>

#include "count/instruction.hpp"

namespace vgpu::count {

using ir::u32;

namespace {

bool multiplies(ir::Counted operation) {
  return operation >= ir::Counted::kTensorFloat &&
         operation <= ir::Counted::kTensorWarpgroupInteger;
}

// Divides instructions that either half of the FMA pipe can execute: in a sequence of them, every
// second one finds the lighter half busy. Measured shares of kernels that do little else are within
// 3% of this.
void share_fma_pipe(std::vector<Instruction>& list) {
  bool busy = false;
  for (Instruction& item : list) {
    item.lighter = is_for_either_half(item.what) && !busy;
    busy = item.lighter;
  }
}

}  // namespace

std::vector<Instruction> instructions(const ir::Program& program,
                                      const observer::Counters& counters) {
  std::vector<Instruction> list;
  list.reserve(program.code.size());
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    const ir::Origin& origin = program.origin[pc];
    if (origin.statement == ir::kNone || (origin.helper && program.machine_code)) continue;
    const ir::Insn& insn = program.code[pc];
    const ir::Statement& statement = program.statements[origin.statement];
    Instruction& item = list.emplace_back();
    item.what = origin.what;
    item.text = statement.text;
    item.place = statement.place;
    item.file = statement.file;
    item.line = statement.line;
    if (multiplies(origin.what.operation)) item.tensor = tensor_work(insn);
    InstructionCount& count = item.count;
    if (insn.site != ir::kNone) {
      static_cast<observer::SiteCount&>(count) = counters.sites[insn.site];
      if (!counters.samples.empty()) item.sample = &counters.samples[insn.site];
    }
    if (origin.helper) continue;  // added by lowering: only its memory accesses count
    const observer::RunCount& run = counters.runs[program.run_at[pc]];
    count.executions = run.executions;
    count.active_lanes = count.lanes = run.lanes;
    if (insn.guard_site != ir::kNone) count.lanes = counters.guards[insn.guard_site].lanes;
    count.divergent = counters.divergent[pc];
    if (counters.again.empty()) continue;
    const observer::Repetition& again = counters.again[pc];
    count.executions += again.executions;
    count.active_lanes += again.lanes;
    count.lanes += again.lanes;
    count.repeated_lanes = again.repeated;
    count.refused_lanes = again.refused;
  }
  share_fma_pipe(list);
  return list;
}

// Arithmetic and loads that fewer lanes may execute than PTX says.
static Doubts moved(const ir::Program& program, const observer::Counters& counters) {
  const auto lanes = [&](u32 pc) {
    const u32 guard = program.code[pc].guard_site;
    const bool guarded =
        guard != ir::kNone && program.origin[pc].what.operation != ir::Counted::kBranch;
    return guarded ? counters.guards[guard].lanes : counters.runs[program.run_at[pc]].lanes;
  };
  Doubts doubts = kNever;
  for (const ir::Sinkable& item : program.sinkable) {
    std::uint64_t used = 0;
    for (u32 place : item.places) used += lanes(place);
    if (used >= lanes(item.pc)) continue;
    const ir::Counted operation = program.origin[item.pc].what.operation;
    doubts |= operation == ir::Counted::kLoad ? kLooseLoads : sunk(operation);
  }
  return doubts;
}

// Accesses by some lanes of a warp, in a kernel whose lanes diverged in a loop.
static Doubts accesses_apart(const ir::Program& program, const observer::Counters& counters) {
  const u32 entry = program.functions[0].entry;  // each warp executes it once
  const std::uint64_t warps = counters.runs[program.run_at[entry]].executions;
  bool diverged = false;
  Doubts apart = kNever;
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    const observer::RunCount& run = counters.runs[program.run_at[pc]];
    diverged |= counters.divergent[pc] != 0 && run.executions > warps;
    if (run.lanes == run.executions * 32) continue;
    const ir::Counted operation = program.origin[pc].what.operation;
    if (operation == ir::Counted::kStore) apart |= kStoresApart;
    if (operation == ir::Counted::kLoad || operation == ir::Counted::kAsyncCopy)
      apart |= kLoadsApart;
  }
  return diverged ? apart : kNever;
}

Doubts doubts(const ir::Program& program, const observer::Counters& counters) {
  u32 traits = 0;
  if (counters.waited) traits |= ir::kPollsMemory;
  std::uint64_t calls = 0, returns = 0;
  bool generic_polls = false, uneven = false, uneven_stores = false, either = false,
       grid_waits = false, of_registers = false;
  for (u32 pc = 0; pc < program.code.size(); ++pc) {
    const ir::Origin& origin = program.origin[pc];
    const std::uint64_t executions = counters.runs[program.run_at[pc]].executions;
    if (origin.statement == ir::kNone || (origin.helper && program.machine_code) || executions == 0)
      continue;
    const u32 has = program.statements[origin.statement].traits;
    traits |= has;
    grid_waits |= origin.what.operation == ir::Counted::kGridWait;
    either |= is_for_either_half(origin.what);
    of_registers |= multiplies(origin.what.operation) && tensor_work(program.code[pc]).registers;
    if (const u32 site = program.code[pc].site; site != ir::kNone) {
      const bool odd = counters.sites[site].uneven_boxes != 0;
      (origin.what.operation == ir::Counted::kBulkLoad ? uneven : uneven_stores) |= odd;
    }
    generic_polls |= (has & ir::kPollsMemory) != 0 && origin.what.space == ir::Space::kGeneric;
    if ((has & ir::kCalls) != 0) calls += executions;
    if ((has & ir::kReturns) != 0) returns += executions;
  }
  const auto any = [&](u32 trait) { return (traits & trait) != 0; };
  const bool torn =
      std::ranges::any_of(counters.sites, [](const auto& site) { return site.torn_copies != 0; });
  const bool retried = program.machine_code && (counters.retried || counters.exchanges.contended());
  const bool apart =
      std::ranges::any_of(counters.sites, [](const auto& site) { return site.remote_apart != 0; });
  Doubts doubts = (torn ? kTornCopies : kNever) | (uneven ? kUnevenBoxes : kNever);
  if (grid_waits) doubts |= kGridWaits;
  if (apart) doubts |= kRemoteApart;
  if (uneven_stores) doubts |= kUnevenStores;
  if (either) doubts |= kEitherHalf;
  if (of_registers) doubts |= kProductsOfRegisters;
  if (any(ir::kPipeNotMeasured)) doubts |= kUnknownPipe;
  // selp between constants may let ptxas save a multiplication or an addition.
  // Divisions and roots in double precision have single-precision arithmetic, too.
  if (any(ir::kExpands | 2 * ir::kExpands) ||
      (any(ir::kLooseProduct) && (any(ir::kLooseSum) || any(ir::kSelects))))
    doubts |= kSinglePrecision;
  if (any(2 * ir::kExpands) || (any(2 * ir::kLooseProduct) && any(2 * ir::kLooseSum)))
    doubts |= kDoublePrecision;
  if (any(ir::kPollsMemory) || retried) doubts |= kPolls;
  if (any(ir::kPollsMemory | ir::kWaits) || retried) doubts |= kWaits;
  if (retried) doubts |= kRetries;
  if (any(ir::kDecidesBranches)) doubts |= kOrderOfWarps;
  if (any(ir::kDecidesAddresses)) doubts |= kDecidedAddresses;
  if (any(ir::kDecidesArithmetic)) doubts |= kPolledArithmetic;
  if (generic_polls) doubts |= kGenericPolls;
  if (any(ir::kLooseLoad)) doubts |= kLooseLoads;
  if (any(ir::kMovesFragment)) doubts |= kFragments;
  if (any(ir::kNotMeasured)) doubts |= kUnclassified;
  if (!program.machine_code) doubts |= accesses_apart(program, counters) | moved(program, counters);
  if (counters.broke) doubts |= kBroke;
  if (counters.scattered_atomics) doubts |= kScatteredAtomics;
  if (counters.called_driver) doubts |= kCalledDriver;
  if (counters.parted || returns > calls) doubts |= kParted;
  return doubts;
}

}  // namespace vgpu::count
