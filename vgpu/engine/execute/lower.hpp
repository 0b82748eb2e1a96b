// SPDX-License-Identifier: Apache-2.0
// From the syntax tree to a program.
#pragma once
#include "engine/execute/layout.hpp"

namespace vgpu::execute {

// Everything `layout` says belongs to the kernel. What the engine does not have is named in
// Program::unsupported.
Program lower(const ptx::Module& module, const Layout& layout, const Placement& placement,
              KernelAttributes attributes);

}  // namespace vgpu::execute
