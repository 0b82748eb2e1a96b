// SPDX-License-Identifier: Apache-2.0
// Passes over a function whose instructions still have virtual registers.
#pragma once
#include <span>
#include <vector>

#include "ir/program.hpp"

namespace vgpu::ptx {

using namespace ir;

enum class RegisterClass : u8 { kPredicate, k16, k32, k64 };
inline constexpr u32 kRegisterClasses = 4;
constexpr u32 slot_bytes(RegisterClass c) {
  constexpr u32 kBytes[] = {4, 64, 128, 256};
  return kBytes[static_cast<int>(c)];
}
constexpr u32 register_bytes(RegisterClass c) {  // per lane; 0 for a predicate
  constexpr u32 kBytes[] = {0, 2, 4, 8};
  return kBytes[static_cast<int>(c)];
}

struct RegisterUse {
  u32 pc = 0;
  u32 reg = 0;
  bool writes = false;
  bool always = false;  // the instruction has no guard: it writes all lanes that execute it
};

struct Flow {
  u32 first = 0, last = 0;  // first and last instruction of a run
  std::vector<u32> next;    // possible successor runs
};

struct RegisterAllocation {
  std::vector<u32> slot;              // by register: slot number within its class
  u32 counts[kRegisterClasses] = {};  // slots of each class
  std::vector<u32> undefined;         // registers that may be read before they are written
};

// Allocates slots to virtual registers. PTX has one register per value, and a window with one slot
// for each would be far larger than a cache. Registers that are never alive at the same time share
// a slot. They must have the same size: lanes of a warp may be at different instructions, and slots
// of one size keep the lanes' values apart. `uses` and `flow` are in order of pc; flow[0] is the
// entry.
RegisterAllocation allocate(std::span<const RegisterClass> classes,
                            std::span<const RegisterUse> uses, std::span<const Flow> flow);

// Finds instructions whose results only some of the ways from them use. ptxas may move them behind
// the branch, where fewer lanes execute them than PTX says (Knoop, Rüthing and Steffen, "Partial
// dead code elimination", 1994). Adds to program.sinkable the arithmetic in floating point and the
// loads from global memory of the function that starts at `begin`. `uses` and `flow` as for
// allocate().
void find_sinkable(Program& program, u32 begin, std::span<const RegisterClass> classes,
                   std::span<const RegisterUse> uses, std::span<const Flow> flow);

// Marks the loads of compare-and-exchange loops, with which programs and CUDA's headers implement
// atomic operations that PTX or its target lacks. The race check does not treat such a load as an
// access of its own, because the exchange at the same address compares the loaded value; it races
// with no atomic. (sass/lower/passes.cpp does the same for machine code.) Sets
// kFlagCompared on these loads in the code from `begin` on. The exchange must compare the loaded
// register and use the same address register, with no barrier, call or unconditional branch in
// between.
void mark_compared_loads(Program& program, u32 begin);

}  // namespace vgpu::ptx
