// SPDX-License-Identifier: Apache-2.0
// Functions that kernels call and that the CUDA driver provides: printf, assertion failure, malloc
// and free.
#pragma once
#include "machine/machine.hpp"

namespace vgpu::machine {

void print(Warp& warp, const Insn& insn, const Call& what);
void allocate(Warp& warp, const Call& what);
void free(Warp& warp, const Insn& insn, const Call& what);
[[noreturn]] void report_assertion(Warp& warp, const Insn& insn, const Call& what);

}  // namespace vgpu::machine
