// SPDX-License-Identifier: Apache-2.0
// Finds instructions whose results only some of the ways from them use. ptxas may move them behind
// the branch, where fewer lanes execute them than PTX says (Knoop, Rüthing and Steffen, "Partial
// dead code elimination", 1994).
#pragma once
#include <span>

#include "ptx/lower/allocate.hpp"

namespace vgpu::ptx {

// Adds to program.sinkable the arithmetic in floating point and the loads from global memory of the
// function that starts at `begin`. `uses` and `flow` as for allocate().
void find_sinkable(Program& program, u32 begin, std::span<const RegisterClass> classes,
                   std::span<const RegisterUse> uses, std::span<const Flow> flow);

}  // namespace vgpu::ptx
