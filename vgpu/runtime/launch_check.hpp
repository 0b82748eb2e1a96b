// SPDX-License-Identifier: Apache-2.0
// The rules that a launch's grid, blocks, clusters and shared memory keep, and the errors that an
// H200 returns where they do not.
#pragma once
#include "runtime/launch.hpp"

namespace vgpu::runtime {

// The cluster size of a launch: that of the request, or the kernel's own.
Dim3 cluster_of(const KernelAttributes& attributes, const Request& request);

// Throws Failure, which names the rule and what breaks it, where a real device refuses the launch.
void require_launchable(Runtime& runtime, Function& function, const KernelAttributes& attributes,
                        const Request& request);

}  // namespace vgpu::runtime
