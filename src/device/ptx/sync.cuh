// SPDX-License-Identifier: Apache-2.0
// What the warps of a block share: named barriers and registers. One function per instruction; PTX
// ISA, "Parallel Synchronization and Communication Instructions: barrier" and "setmaxnreg".
#pragma once

namespace ladder::ptx {

// barrier.sync: `threads` threads synchronise at barrier `id`, 1 to 15; __syncthreads() uses 0.
__device__ __forceinline__ void barrier_sync(int id, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// setmaxnreg.dec: this warpgroup keeps kRegisters per thread; the rest goes to the block's pool.
template <int kRegisters>
__device__ __forceinline__ void release_registers() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0, "PTX's range");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// setmaxnreg.inc: waits until the pool has them.
template <int kRegisters>
__device__ __forceinline__ void claim_registers() {
  static_assert(kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0, "PTX's range");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace ladder::ptx
