// SPDX-License-Identifier: Apache-2.0
// Source lines of a kernel from the cubin's .debug_line section, a DWARF line program that
// nvcc -lineinfo generates.
#pragma once
#include "sass/elf/cubin.hpp"
#include "sass/lower/code.hpp"

namespace vgpu::sass {

// Returns an empty table if the cubin has no lines for the kernel or if their format is unknown.
LineTable read_lines(const Cubin& cubin, const KernelInfo& kernel);

}  // namespace vgpu::sass
