// SPDX-License-Identifier: Apache-2.0
#include "sass/lower/classify.hpp"

namespace vgpu::sass {
namespace {

using ir::Counted;
using ir::Space;

constexpr unsigned kAcqbulk = 0x82e;
constexpr unsigned kTryAlloc = 2;  // USETMAXREG

// HFMA2.MMA.
bool is_matrix_pipe(const Instruction& i) { return (i.opcode & 0x1ff) == 0x35; }

}  // namespace

// Classes of Nsight Compute's counters, measured on an H200 (tests/golden/h200.csv). Instructions
// of the uniform datapath have no class, except reads of special registers (S2UR).
ir::Class class_of(const Instruction& i) {
  if (i.uniform && i.op != Op::kS2r) return {};
  switch (i.op) {
    case Op::kFfma:
      return {Counted::kFfma};
    case Op::kFadd:
      return {Counted::kFadd};
    case Op::kFmul:
      return {Counted::kFmul};
    case Op::kFmnmx:
    case Op::kFsel:
    case Op::kFset:
    case Op::kFsetp:
    case Op::kFchk:
    case Op::kMufu:
      return {Counted::kFloat};
    case Op::kDadd:
      return {Counted::kDadd};
    case Op::kDmul:
      return {Counted::kDmul};
    case Op::kDfma:
      return {Counted::kDfma};
    case Op::kDsetp:
      return {Counted::kDouble};
    case Op::kHfma2:
      return {is_matrix_pipe(i) ? Counted::kHalfTensor : Counted::kHalf};
    case Op::kHadd2:
    case Op::kHmul2:
    case Op::kHsetp2:
    case Op::kHset2:
    case Op::kHmnmx2:
      return {Counted::kHalf};
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
      return {Counted::kInteger};
    case Op::kPlop3:
    case Op::kBrev:
    case Op::kBmsk:
    case Op::kPrmt:
    case Op::kSel:
    case Op::kP2r:
    case Op::kR2p:
      return {Counted::kBit};
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
      return {Counted::kMisc};
    case Op::kNop:
      return {i.opcode == kAcqbulk ? Counted::kGridWait : Counted::kMisc};
    case Op::kLdgdepbar:
      return {Counted::kAsyncGroup};
    case Op::kI2f:
    case Op::kF2i:
    case Op::kF2f:
    case Op::kFrnd:
    case Op::kI2fp:
    case Op::kF2fp:
      return {Counted::kConversion};
    case Op::kShfl:
    case Op::kVote:
    case Op::kMatch:
    case Op::kRedux:
    case Op::kElect:
      return {Counted::kExchange};
    case Op::kLdc:
      if (i[0].kind == Kind::kUniform) return {};  // ULDC
      return {Counted::kLoad, Space::kConstant, i.bytes};
    case Op::kLdg:
      return {Counted::kLoad, Space::kGlobal, i.bytes};
    case Op::kStg:
      return {Counted::kStore, Space::kGlobal, i.bytes};
    case Op::kLds:
      return {Counted::kLoad, Space::kShared, i.bytes};
    case Op::kSts:
      return {Counted::kStore, Space::kShared, i.bytes};
    case Op::kLdl:
      return {Counted::kLoad, Space::kLocal, i.bytes};
    case Op::kStl:
      return {Counted::kStore, Space::kLocal, i.bytes};
    case Op::kLd:
      return {Counted::kLoad, Space::kGeneric, i.bytes};
    case Op::kSt:
      return {Counted::kStore, Space::kGeneric, i.bytes};
    case Op::kLdgsts:
      return {Counted::kAsyncCopy, Space::kGlobal, i.bytes};
    case Op::kUblkcp:
      return {Counted::kBulkLoad, Space::kGlobal, i.bytes};
    case Op::kLdsm:
      return {Counted::kMatrixLoad, Space::kShared, i.bytes};
    case Op::kStsm:
      return {Counted::kMatrixStore, Space::kShared, i.bytes};
    case Op::kAtom:
      return {Counted::kAtomic, Space::kGlobal, i.bytes};
    case Op::kAtomGeneric:
      return {Counted::kAtomic, Space::kGeneric, i.bytes};
    case Op::kAtoms:
      return {Counted::kAtomic, Space::kShared, i.bytes};
    case Op::kRed:
      return {Counted::kReduction, Space::kGlobal, i.bytes};
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
      return {Counted::kBranch};
    case Op::kBssy:
    case Op::kEndcollective:
    case Op::kTrap:
    case Op::kErrbar:
      return {Counted::kControl};
    case Op::kMembar:
    case Op::kCctl:
    case Op::kQspc:
      return {Counted::kMemoryControl};
    case Op::kBar:
      return {Counted::kBarrier};
    case Op::kSyncsInit:
    case Op::kSyncsArrive:
    case Op::kSyncsTest:
    case Op::kSyncsInvalidate:
      return {Counted::kMbarrier};
    case Op::kSyncsCopies:
      return {Counted::kAsyncGroup};
    case Op::kHmma:
      return {Counted::kTensorFloat};
    case Op::kDmma:
      return {Counted::kTensorDouble};
    default:
      return {Counted::kOther};
  }
}

ir::u16 traits_of(const Instruction& i) {
  unsigned traits = 0;
  if ((i.op == Op::kLdg || i.op == Op::kLd) && i.strong) traits |= ir::kPollsMemory;
  if (i.op == Op::kSyncsTest || i.op == Op::kNanosleep ||
      (i.op == Op::kSetmaxreg && i.mode == kTryAlloc))
    traits |= ir::kWaits;
  // Not measured; assumed to be an integer instruction like VIMNMX.
  if (i.op == Op::kVimnmx3) traits |= ir::kNotMeasured;
  if (i.op == Op::kCall || i.op == Op::kCallAbsolute) traits |= ir::kCalls;
  if (i.op == Op::kRet) traits |= ir::kReturns;
  return static_cast<ir::u16>(traits);
}

}  // namespace vgpu::sass
