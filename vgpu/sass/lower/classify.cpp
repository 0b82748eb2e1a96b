// SPDX-License-Identifier: Apache-2.0
#include "sass/lower/classify.hpp"

#include "sass/lower/code.hpp"

namespace vgpu::sass {
namespace {

using count::Class;
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
      return {count::Operation::kFfma};
    case Op::kFadd:
      return {count::Operation::kFadd};
    case Op::kFmul:
      return {count::Operation::kFmul};
    case Op::kFmnmx:
    case Op::kFsel:
    case Op::kFset:
    case Op::kFsetp:
    case Op::kFchk:
    case Op::kMufu:
      return {count::Operation::kFloat};
    case Op::kDadd:
      return {count::Operation::kDadd};
    case Op::kDmul:
      return {count::Operation::kDmul};
    case Op::kDfma:
      return {count::Operation::kDfma};
    case Op::kDsetp:
      return {count::Operation::kDouble};
    case Op::kHfma2:
      return {is_matrix_pipe(i) ? count::Operation::kHalfTensor : count::Operation::kHalf};
    case Op::kHadd2:
    case Op::kHmul2:
    case Op::kHsetp2:
    case Op::kHset2:
    case Op::kHmnmx2:
      return {count::Operation::kHalf};
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
      return {count::Operation::kInteger};
    case Op::kPlop3:
    case Op::kBrev:
    case Op::kBmsk:
    case Op::kPrmt:
    case Op::kSel:
    case Op::kP2r:
    case Op::kR2p:
      return {count::Operation::kBit};
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
      return {count::Operation::kMisc};
    case Op::kNop:
      return {i.opcode == kAcqbulk ? count::Operation::kGridWait : count::Operation::kMisc};
    case Op::kLdgdepbar:
      return {count::Operation::kAsyncGroup};
    case Op::kI2f:
    case Op::kF2i:
    case Op::kF2f:
    case Op::kFrnd:
    case Op::kI2fp:
    case Op::kF2fp:
      return {count::Operation::kConversion};
    case Op::kShfl:
    case Op::kVote:
    case Op::kMatch:
    case Op::kRedux:
    case Op::kElect:
      return {count::Operation::kExchange};
    case Op::kLdc:
      if (i[0].kind == Kind::kUniform) return {};  // ULDC
      return {count::Operation::kLoad, Space::kConstant, i.bytes};
    case Op::kLdg:
      return {count::Operation::kLoad, Space::kGlobal, i.bytes};
    case Op::kStg:
      return {count::Operation::kStore, Space::kGlobal, i.bytes};
    case Op::kLds:
      return {count::Operation::kLoad, Space::kShared, i.bytes};
    case Op::kSts:
      return {count::Operation::kStore, Space::kShared, i.bytes};
    case Op::kLdl:
      return {count::Operation::kLoad, Space::kLocal, i.bytes};
    case Op::kStl:
      return {count::Operation::kStore, Space::kLocal, i.bytes};
    case Op::kLd:
      return {count::Operation::kLoad, Space::kGeneric, i.bytes};
    case Op::kSt:
      return {count::Operation::kStore, Space::kGeneric, i.bytes};
    case Op::kLdgsts:
      return {count::Operation::kAsyncCopy, Space::kGlobal, i.bytes};
    case Op::kUblkcp:
      return {count::Operation::kBulkLoad, Space::kGlobal, i.bytes};
    case Op::kLdsm:
      return {count::Operation::kMatrixLoad, Space::kShared, i.bytes};
    case Op::kStsm:
      return {count::Operation::kMatrixStore, Space::kShared, i.bytes};
    case Op::kAtom:
      return {count::Operation::kAtomic, Space::kGlobal, i.bytes};
    case Op::kAtomGeneric:
      return {count::Operation::kAtomic, Space::kGeneric, i.bytes};
    case Op::kAtoms:
      return {count::Operation::kAtomic, Space::kShared, i.bytes};
    case Op::kRed:
      return {count::Operation::kReduction, Space::kGlobal, i.bytes};
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
      return {count::Operation::kBranch};
    case Op::kBssy:
    case Op::kEndcollective:
    case Op::kTrap:
    case Op::kErrbar:
      return {count::Operation::kControl};
    case Op::kMembar:
    case Op::kCctl:
    case Op::kQspc:
      return {count::Operation::kMemoryControl};
    case Op::kBar:
      return {count::Operation::kBarrier};
    case Op::kSyncsInit:
    case Op::kSyncsArrive:
    case Op::kSyncsTest:
    case Op::kSyncsInvalidate:
      return {count::Operation::kMbarrier};
    case Op::kSyncsCopies:
      return {count::Operation::kAsyncGroup};
    case Op::kHmma:
      return {count::Operation::kTensorFloat};
    case Op::kDmma:
      return {count::Operation::kTensorDouble};
    default:
      return {count::Operation::kOther};
  }
}

}  // namespace

std::vector<count::Instruction> instructions(const ir::Program& program,
                                             const count::Counters& counters) {
  const Code& code = *program.machine_code;
  std::vector<count::Instruction> list;
  list.reserve(code.instructions.size());
  for (ir::u32 pc = 0; pc < program.code.size(); ++pc) {
    if (code.is_helper[pc]) continue;
    const ir::Insn& insn = program.code[pc];
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
    if (insn.site != ir::kNone) {
      static_cast<count::SiteCount&>(item.count) = counters.sites[insn.site];
      if (!counters.samples.empty()) item.sample = &counters.samples[insn.site];
    }
    item.count.executions = run.executions;
    item.count.active_lanes = item.count.lanes = run.lanes;
    if (insn.guard_site != ir::kNone) item.count.lanes = counters.guards[insn.guard_site].lanes;
    item.count.divergent = counters.divergent[pc];
    const count::Repetition& again = counters.again[pc];
    item.count.executions += again.executions;
    item.count.active_lanes += again.lanes;
    item.count.lanes += again.lanes;
    item.count.repeated_lanes = again.repeated;
  }
  return list;
}

count::Doubts doubts(const ir::Program& program, const count::Counters& counters) {
  const Code& code = *program.machine_code;
  bool polls = counters.waited, waits = false, unclassified = false;
  std::uint64_t calls = 0, returns = 0;
  for (ir::u32 pc = 0; pc < program.code.size(); ++pc) {
    if (code.is_helper[pc] || counters.runs[program.run_at[pc]].executions == 0) continue;
    const Instruction& i = code.at(pc);
    polls |= (i.op == Op::kLdg || i.op == Op::kLd) && i.strong;
    waits |= i.op == Op::kSyncsTest || i.op == Op::kNanosleep ||
             (i.op == Op::kSetmaxreg && i.mode == kTryAlloc);
    // Not measured; assumed to be an integer instruction like VIMNMX.
    unclassified |= i.op == Op::kVimnmx3;
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
