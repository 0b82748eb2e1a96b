// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch: a kernel overlaps the preceding one of its stream. One function
// per instruction; PTX ISA, "Parallel Synchronization and Communication Instructions:
// griddepcontrol".
#pragma once

namespace ladder::ptx {

// griddepcontrol.launch_dependents: the dependent kernel may start once all blocks of this kernel
// have executed this instruction or exited.
__device__ __forceinline__ void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// griddepcontrol.wait: waits until the preceding kernels have ended and their stores are visible.
// Returns at once if this kernel was not launched to overlap them.
__device__ __forceinline__ void wait_for_prerequisites() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace ladder::ptx
