// SPDX-License-Identifier: Apache-2.0
// Source lines of a kernel from the cubin's .debug_line section (DWARF line program; nvcc -lineinfo
// makes it).
#pragma once
#include "engine/sass/code.hpp"
#include "engine/sass/cubin.hpp"

namespace vgpu::sass {

// Empty where the cubin has no lines for the kernel, or in a form that is not known: lines are a
// help, no more.
LineTable read_lines(const Cubin& cubin, const KernelInfo& kernel);

}  // namespace vgpu::sass
