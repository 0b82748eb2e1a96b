// SPDX-License-Identifier: Apache-2.0
#include "ir/fault.hpp"

namespace vgpu {

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBounds:
      return "out of bounds";
    case FaultKind::kUseAfterFree:
      return "use after free";
    case FaultKind::kMisaligned:
      return "misaligned address";
    case FaultKind::kBarrierDivergence:
      return "barrier divergence";
    case FaultKind::kDeadlock:
      return "deadlock";
    case FaultKind::kTimeout:
      return "timeout";
    case FaultKind::kAssert:
      return "assertion";
    case FaultKind::kTrap:
      return "trap";
    case FaultKind::kStackOverflow:
      return "stack overflow";
    case FaultKind::kRace:
      return "race";
    case FaultKind::kUninitialized:
      return "uninitialized read";
    case FaultKind::kMbarrier:
      return "mbarrier";
    case FaultKind::kBadOperand:
      return "bad operand";
    case FaultKind::kIllegal:
      return "illegal instruction";
    case FaultKind::kRegisters:
      return "setmaxnreg";
    case FaultKind::kClusterExit:
      return "shared memory of a block that has ended";
  }
  return "fault";
}

}  // namespace vgpu
