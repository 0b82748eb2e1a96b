// SPDX-License-Identifier: Apache-2.0
// Errors: what the engine does not implement, and what kernels do wrong.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "ir/kernel.hpp"

namespace vgpu {

// An instruction, modifier or directive that the engine does not implement. what() names it, with
// its line in the PTX and in the source. The engine never guesses.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FaultKind {
  kOutOfBounds,   // an access outside every live allocation, or outside shared or local memory
  kUseAfterFree,  // an access to freed memory
  kMisaligned,    // an address that is not a multiple of the access's size
  // a barrier that some threads of the block can no longer reach, or that they reach at another
  // instruction
  kBarrierDivergence,
  kDeadlock,       // every warp waits, and nothing can release any of them
  kTimeout,        // the launch runs longer than allowed (LaunchConfig::deadline)
  kAssert,         // a failed device-side assert()
  kTrap,           // trap, or a call through a bad function pointer
  kStackOverflow,  // calls nested too deeply for the thread's local memory
  // (check "race") two threads or asynchronous copies access one word of shared memory, or two
  // blocks one word of global memory; at least one of them writes, and no synchronisation orders
  // them
  kRace,
  // (check "init") a load of memory that was never written; of shared memory only if the value
  // affects the result
  kUninitialized,
  kMbarrier,    // an mbarrier not initialised, overwritten, or used against its rules
  kBadOperand,  // an operand outside the range that its instruction allows
  kIllegal,     // the same where hardware reports an illegal instruction
  // a setmaxnreg that not all warps of a warpgroup execute, or one in the wrong direction
  kRegisters,
  kClusterExit,  // access to shared memory of a cluster's block that has exited
};
const char* to_string(FaultKind kind);  // "out of bounds", ...

// An error in the kernel. what() is the full report, several lines: what happened, kernel, block,
// thread, address, the PTX instruction with its line, and the source file and line if the PTX has
// them (.loc).
struct Fault : std::runtime_error {
  Fault(FaultKind what_kind, const std::string& report)
      : std::runtime_error(report), kind(what_kind) {}
  FaultKind kind;
  std::string kernel;       // demangled where possible
  Dim3 block, thread;       // indices, not extents
  std::string instruction;  // the PTX text
  int ptx_line = 0;
  std::string file;  // "" where unknown
  int line = 0;
  // What, in which kernel, where, and where the other access is: equal for reports that differ only
  // in blocks, threads and addresses, or in the copies that a compiler made of one source line.
  std::string identity;
};

}  // namespace vgpu
