// SPDX-License-Identifier: Apache-2.0
// Allocates slots to virtual registers. PTX has one register per value, and a window with one slot
// for each would be far larger than a cache. Registers that are never alive at the same time share
// a slot. They must have the same size: lanes of a warp may be at different instructions, and slots
// of one size keep the lanes' values apart.
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

// `uses` and `flow` are in order of pc; flow[0] is the entry.
RegisterAllocation allocate(std::span<const RegisterClass> classes,
                            std::span<const RegisterUse> uses, std::span<const Flow> flow);

}  // namespace vgpu::ptx
