// SPDX-License-Identifier: Apache-2.0
// Classes of instructions that Nsight Compute's counters distinguish, and the pipes that they use.
#pragma once
#include <cstdint>

namespace vgpu::ir {

enum class Counted : std::uint8_t {
#define COUNTED(name, text, pipes) name,
#include "ir/counter_class.def"
};
inline constexpr int kCounted = static_cast<int>(Counted::kGridWait) + 1;

// The state space that the instruction names. For generic accesses the memory counts (SiteCount)
// still distinguish global, shared and local memory.
enum class Space : std::uint8_t { kNone, kGlobal, kShared, kLocal, kGeneric, kConstant };
inline constexpr int kSpaces = static_cast<int>(Space::kConstant) + 1;

// Pipes of a multiprocessor, by Nsight Compute's names. An instruction may count for several.
// kPipeFma without a half: for either of them.
enum Pipe : std::uint16_t {
  kNoPipe = 0,
  kPipeAdu = 1,
  kPipeAlu = 2,
  kPipeCbu = 4,
  kPipeFma = 8,
  kPipeFmaHeavy = 16,
  kPipeFmaLite = 32,
  kPipeFp64 = 64,
  kPipeLsu = 128,
  kPipeTma = 256,
  kPipeUniform = 512,
  kPipeXu = 1024,
  kPipeTex = 2048,
};
using Pipes = std::uint16_t;  // bits of Pipe

// The pipes of most instructions of a class.
constexpr Pipes pipes_of(Counted operation, Space space) {
  constexpr Pipes kPipes[] = {
#define COUNTED(name, text, pipes) pipes,
#include "ir/counter_class.def"
  };
  return space == Space::kConstant ? Pipes{kPipeAdu} : kPipes[static_cast<int>(operation)];
}

struct Class {
  Counted operation = Counted::kOther;
  Space space = Space::kNone;
  std::uint8_t bytes = 0;  // memory: bytes per lane
  Pipes pipes = kNoPipe;
};

// Properties of an instruction that may make counts inexact.
enum Trait : std::uint32_t {
  kPollsMemory = 1,  // may wait for another thread's write
  kWaits = 2,        // repeats an unknown number of times
  kNotMeasured = 4,  // its class was not measured on hardware
  kCalls = 8,
  kReturns = 16,
  // PTX, which ptxas changes. Those of sums, products and expansion: for f32; for f64 the next bit.
  kMovesFragment = 32,
  kSelects = 64,  // between floating-point values
  kLooseSum = 128,
  kLooseProduct = 512,
  kExpands = 2048,    // into a sequence of arithmetic
  kLooseLoad = 8192,  // ptxas merges it with an earlier one, or drops elements that are not used
  kPipeNotMeasured = 16384,
  // Machine code: the results of atomics decide branches or guards, or addresses; or those of
  // strong loads are operands of floating-point arithmetic.
  kDecidesBranches = 1 << 15,
  kDecidesAddresses = 1 << 16,
  kDecidesArithmetic = 1 << 17,
};

}  // namespace vgpu::ir
