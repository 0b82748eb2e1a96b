// SPDX-License-Identifier: Apache-2.0
// Kernels that overlap with the one before them in a stream. One function an instruction; PTX ISA,
// "Parallel Synchronization and Communication Instructions: griddepcontrol".
#pragma once
#include <cuda_runtime.h>

namespace ladder::ptx {

// griddepcontrol.launch_dependents: once all blocks have said so or ended, the next kernel's blocks
// may start.
__device__ __forceinline__ void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// griddepcontrol.wait: until the kernels before have ended and their stores are seen; at once where
// this kernel was not launched to overlap.
__device__ __forceinline__ void wait_for_prerequisites() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace ladder::ptx
