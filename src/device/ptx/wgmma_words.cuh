// SPDX-License-Identifier: Apache-2.0
// What wgmma_registers of 16-bit types (wgmma_operands.cuh) goes with. With g = lane / 4, t = lane % 4, its words a[q] hold
// rows 16 (warp % 4) + g + 8 (q % 2), k = 2 t + 8 (q / 2) and the one behind it, the lower k in the lower half. PTX ISA,
// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions: wgmma.mma_async".
#pragma once
#include "device/ptx/wgmma_operands.cuh"

namespace ladder::ptx {

// max.NaN: the larger one, and NaN where either is. PTX ISA, "Floating Point Instructions: max".
__device__ __forceinline__ float max_nan(float x, float y) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
  return r;
}

// The descriptor of a matrix so many bytes further, within shared memory.
__device__ __forceinline__ std::uint64_t moved(std::uint64_t descriptor, int bytes) {
  return (descriptor & 0xFFFFFFFF00000000U) |
         (static_cast<std::uint32_t>(descriptor) + static_cast<std::uint32_t>(bytes >> 4));
}

}  // namespace ladder::ptx
