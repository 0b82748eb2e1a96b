// SPDX-License-Identifier: Apache-2.0
// The functions that kernels call and the driver provides: printf, the failure of assert, malloc
// and free.
#pragma once
#include "engine/execute/machine.hpp"

namespace vgpu::execute {

void print(Warp& warp, const Insn& insn, const Call& what);
void allocate(Warp& warp, const Call& what);
void free(Warp& warp, const Insn& insn, const Call& what);
[[noreturn]] void report_assertion(Warp& warp, const Insn& insn, const Call& what);

}  // namespace vgpu::execute
