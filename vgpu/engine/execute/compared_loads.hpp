// SPDX-License-Identifier: Apache-2.0
// Loops of load, compute, compare and exchange, as programs and CUDA's headers write them for
// atomic operations that PTX or its target lacks. The load is no access of its own, since the
// exchange at the same address compares what it found; it races with no atomic.
// (sass/compared_loads.hpp: the same in machine code.)
#pragma once
#include "engine/execute/ir.hpp"

namespace vgpu::execute {

// Sets kFlagCompared on such loads of the code from `begin` on: the register that is compared is
// the one that was loaded, from the same register's address, with no barrier, call or jump that is
// always taken between.
void mark_compared_loads(Program& program, u32 begin);

}  // namespace vgpu::execute
