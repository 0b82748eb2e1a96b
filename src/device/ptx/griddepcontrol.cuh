// SPDX-License-Identifier: Apache-2.0
// A kernel starts before the one ahead of it in its stream has ended, where its launch allows that. PTX ISA, "Parallel
// Synchronization and Communication Instructions: griddepcontrol".
#pragma once
#include <cuda_runtime.h>

namespace ladder::ptx {

// griddepcontrol.wait: until the kernels ahead have ended and what they wrote is seen. Nothing of theirs may be touched
// before.
__device__ __forceinline__ void wait_for_kernels_ahead() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// griddepcontrol.launch_dependents: once all blocks have said so or ended, the kernel behind may start.
__device__ __forceinline__ void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace ladder::ptx
