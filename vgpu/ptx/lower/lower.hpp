// SPDX-License-Identifier: Apache-2.0
// Lowers the syntax tree to a program.
#pragma once
#include "ptx/lower/layout.hpp"

namespace vgpu::ptx {

// Lowers all functions of `layout`. Names what the engine does not support in Program::unsupported.
Program lower(const ptx::Module& module, const Layout& layout, const Placement& placement,
              KernelAttributes attributes);

}  // namespace vgpu::ptx
