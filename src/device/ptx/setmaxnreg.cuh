// SPDX-License-Identifier: Apache-2.0
// Registers change hands between the warpgroups of a block. PTX ISA, "Miscellaneous Instructions:
// setmaxnreg".
#pragma once
#include <cuda_runtime.h>

namespace ladder::ptx {

// setmaxnreg.dec: this warpgroup keeps kRegisters a thread and gives the rest to the block's pool.
template <int kRegisters>
__device__ __forceinline__ void release_registers() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0,
                "what setmaxnreg takes");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// setmaxnreg.inc: waits until the pool has them.
template <int kRegisters>
__device__ __forceinline__ void claim_registers() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0,
                "what setmaxnreg takes");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace ladder::ptx
