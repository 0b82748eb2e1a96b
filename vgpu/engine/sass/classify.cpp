// SPDX-License-Identifier: Apache-2.0
#include "engine/sass/classify.hpp"

#include "engine/sass/code.hpp"

namespace vgpu::sass {
namespace {

using count::Class;
using count::Operation;
using count::Space;

constexpr unsigned kAcqbulk = 0x82e;
constexpr unsigned kTryAlloc = 2;  // USETMAXREG

// HFMA2.MMA.
bool is_matrix_pipe(const Instruction& i) { return (i.opcode & 0x1ff) == 0x35; }

// Classes of Nsight Compute's counters, measured on an H200 (tests/golden/h200.csv). Instructions
// of the uniform datapath have no class, except reads of special registers (S2UR).
Class class_of(const Instruction& i) {
  if (i.uniform && i.op != Op::kS2r) return {};
  switch (i.op) {
    case Op::kFfma:
      return {Operation::kFfma};
    case Op::kFadd:
      return {Operation::kFadd};
    case Op::kFmul:
      return {Operation::kFmul};
    case Op::kFmnmx:
    case Op::kFsel:
    case Op::kFset:
    case Op::kFsetp:
    case Op::kFchk:
    case Op::kMufu:
      return {Operation::kFloat};
    case Op::kDadd:
      return {Operation::kDadd};
    case Op::kDmul:
      return {Operation::kDmul};
    case Op::kDfma:
      return {Operation::kDfma};
    case Op::kDsetp:
      return {Operation::kDouble};
    case Op::kHfma2:
      return {is_matrix_pipe(i) ? Operation::kHalfTensor : Operation::kHalf};
    case Op::kHadd2:
    case Op::kHmul2:
    case Op::kHsetp2:
    case Op::kHset2:
    case Op::kHmnmx2:
      return {Operation::kHalf};
    case Op::kIadd3:
    case Op::kImad:
    case Op::kImadWide:
    case Op::kImadHi:
    case Op::kLea:
    case Op::kIsetp:
    case Op::kVimnmx:
    case Op::kVimnmx3:
    case Op::kViaddmnmx:
    case Op::kViadd:
    case Op::kIabs:
    case Op::kIdp:
    case Op::kLop3:
    case Op::kShf:
    case Op::kPopc:
    case Op::kFlo:
    case Op::kSgxt:
      return {Operation::kInteger};
    case Op::kPlop3:
    case Op::kBrev:
    case Op::kBmsk:
    case Op::kPrmt:
    case Op::kSel:
    case Op::kP2r:
    case Op::kR2p:
      return {Operation::kBit};
    case Op::kMov:
    case Op::kS2r:
    case Op::kCs2r:
    case Op::kDepbar:
    case Op::kB2r:
    case Op::kR2ur:
    case Op::kBmov:
    case Op::kMovm:
    case Op::kSetmaxreg:
    case Op::kFence:
      return {Operation::kMisc};
    case Op::kNop:
      return {i.opcode == kAcqbulk ? Operation::kGridWait : Operation::kMisc};
    case Op::kLdgdepbar:
      return {Operation::kAsyncGroup};
    case Op::kI2f:
    case Op::kF2i:
    case Op::kF2f:
    case Op::kFrnd:
    case Op::kI2fp:
    case Op::kF2fp:
      return {Operation::kConversion};
    case Op::kShfl:
    case Op::kVote:
    case Op::kMatch:
    case Op::kRedux:
    case Op::kElect:
      return {Operation::kExchange};
    case Op::kLdc:
      if (i[0].kind == Kind::kUniform) return {};  // ULDC
      return {Operation::kLoad, Space::kConstant, i.bytes};
    case Op::kLdg:
      return {Operation::kLoad, Space::kGlobal, i.bytes};
    case Op::kStg:
      return {Operation::kStore, Space::kGlobal, i.bytes};
    case Op::kLds:
      return {Operation::kLoad, Space::kShared, i.bytes};
    case Op::kSts:
      return {Operation::kStore, Space::kShared, i.bytes};
    case Op::kLdl:
      return {Operation::kLoad, Space::kLocal, i.bytes};
    case Op::kStl:
      return {Operation::kStore, Space::kLocal, i.bytes};
    case Op::kLd:
      return {Operation::kLoad, Space::kGeneric, i.bytes};
    case Op::kSt:
      return {Operation::kStore, Space::kGeneric, i.bytes};
    case Op::kLdgsts:
      return {Operation::kAsyncCopy, Space::kGlobal, i.bytes};
    case Op::kUtmaLoad:
      return {Operation::kBulkLoad, Space::kGlobal};
    case Op::kUtmaStore:
    case Op::kUtmaReduce:
      return {Operation::kBulkStore, Space::kGlobal};
    case Op::kUblkcp:
    case Op::kUblkReduce: {
      enum { kStore = 2 };  // Instruction::type; else to shared memory
      return {i.type == kStore ? Operation::kBulkStore : Operation::kBulkLoad, Space::kGlobal};
    }
    case Op::kGmma:
      return {Operation::kTensorWarpgroup};
    case Op::kLdsm:
      return {Operation::kMatrixLoad, Space::kShared, i.bytes};
    case Op::kStsm:
      return {Operation::kMatrixStore, Space::kShared, i.bytes};
    case Op::kAtom:
      return {Operation::kAtomic, Space::kGlobal, i.bytes};
    case Op::kAtomGeneric:
      return {Operation::kAtomic, Space::kGeneric, i.bytes};
    case Op::kAtoms:
      return {Operation::kAtomic, Space::kShared, i.bytes};
    case Op::kRed:
      return {Operation::kReduction, Space::kGlobal, i.bytes};
    // smsp__inst_executed_op_branch counts these, but not BSSY.
    case Op::kBra:
    case Op::kBrx:
    case Op::kCall:
    case Op::kCallAbsolute:
    case Op::kRet:
    case Op::kExit:
    case Op::kBsync:
    case Op::kBreak:
    case Op::kWarpsync:
    case Op::kNanosleep:
    case Op::kYield:
      return {Operation::kBranch};
    case Op::kBssy:
    case Op::kEndcollective:
    case Op::kTrap:
    case Op::kErrbar:
      return {Operation::kControl};
    case Op::kMembar:
    case Op::kCctl:
    case Op::kQspc:
      return {Operation::kMemoryControl};
    case Op::kBar:
      return {Operation::kBarrier};
    case Op::kSyncsInit:
    case Op::kSyncsArrive:
    case Op::kSyncsTest:
    case Op::kSyncsInvalidate:
      return {Operation::kMbarrier};
    case Op::kSyncsCopies:
      return {Operation::kAsyncGroup};
    case Op::kHmma:
      return {Operation::kTensorFloat};
    case Op::kDmma:
      return {Operation::kTensorDouble};
    default:
      return {Operation::kOther};
  }
}

}  // namespace

std::vector<count::Instruction> instructions(const execute::Program& program,
                                             const count::Counters& counters) {
  const Code& code = *program.machine_code;
  std::vector<count::Instruction> list;
  list.reserve(code.instructions.size());
  for (execute::u32 pc = 0; pc < program.code.size(); ++pc) {
    if (code.is_helper[pc]) continue;
    const execute::Insn& insn = program.code[pc];
    const Instruction& instruction = code.at(pc);
    const count::RunCount& run = counters.runs[program.run_at[pc]];
    count::Instruction& item = list.emplace_back();
    item.what = class_of(instruction);
    item.text = instruction.text;
    item.place = instruction.address;
    if (const LineEntry* const line = code.lines.find(instruction.address); line != nullptr) {
      item.file = code.lines.files[line->file];
      item.line = line->line;
    }
    if (insn.site != execute::kNone) {
      static_cast<count::SiteCount&>(item.count) = counters.sites[insn.site];
      if (!counters.samples.empty()) item.sample = &counters.samples[insn.site];
    }
    item.count.executions = run.executions;
    item.count.active_lanes = item.count.lanes = run.lanes;
    if (insn.guard_site != execute::kNone)
      item.count.lanes = counters.guards[insn.guard_site].lanes;
    item.count.divergent = counters.divergent[pc];
    const count::Repetition& again = counters.again[pc];
    item.count.executions += again.executions;
    item.count.active_lanes += again.lanes;
    item.count.lanes += again.lanes;
    item.count.repeated_lanes = again.repeated;
  }
  return list;
}

count::Doubts doubts(const execute::Program& program, const count::Counters& counters) {
  const Code& code = *program.machine_code;
  bool polls = counters.waited, waits = false, unclassified = false;
  std::uint64_t calls = 0, returns = 0;
  for (execute::u32 pc = 0; pc < program.code.size(); ++pc) {
    if (code.is_helper[pc] || counters.runs[program.run_at[pc]].executions == 0) continue;
    const Instruction& i = code.at(pc);
    polls |= (i.op == Op::kLdg || i.op == Op::kLd) && i.strong;
    waits |= i.op == Op::kSyncsTest || i.op == Op::kNanosleep ||
             (i.op == Op::kSetmaxreg && i.mode == kTryAlloc);
    // Not measured. VIMNMX3 is assumed to be an integer instruction like VIMNMX.
    unclassified |= i.op == Op::kVimnmx3 || (i.op >= Op::kUblkReduce && i.op <= Op::kWarpgroup);
    const std::uint64_t executions = counters.runs[program.run_at[pc]].executions;
    if (i.op == Op::kCall || i.op == Op::kCallAbsolute) calls += executions;
    if (i.op == Op::kRet) returns += executions;
  }
  count::Doubts doubts = count::torn_copies(counters);
  if (polls) doubts |= count::kPolls;
  if (polls || waits) doubts |= count::kWaits;
  if (unclassified) doubts |= count::kUnclassified;
  if (counters.called_driver) doubts |= count::kCalledDriver;
  if (counters.parted || returns > calls) doubts |= count::kParted;
  if (counters.retried) doubts |= count::kPolls | count::kWaits | count::kRetries;
  return doubts;
}

}  // namespace vgpu::sass
