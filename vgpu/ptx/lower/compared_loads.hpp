// SPDX-License-Identifier: Apache-2.0
// Marks the loads of compare-and-exchange loops, with which programs and CUDA's headers implement
// atomic operations that PTX or its target lacks. The race check does not treat such a load as an
// access of its own, because the exchange at the same address compares the loaded value; it races
// with no atomic. (sass/compared_loads.hpp does the same for machine code.)
#pragma once
#include "ir/program.hpp"

namespace vgpu::ptx {

using namespace ir;

// Sets kFlagCompared on these loads in the code from `begin` on. The exchange must compare the
// loaded register and use the same address register, with no barrier, call or unconditional branch
// in between.
void mark_compared_loads(Program& program, u32 begin);

}  // namespace vgpu::ptx
