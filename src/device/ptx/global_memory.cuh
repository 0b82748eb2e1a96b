// SPDX-License-Identifier: Apache-2.0
// Loads from global memory with cache operators. One function per instruction; PTX ISA,
// "ld.global.nc".
#pragma once

namespace ladder::ptx {

// ld.global.nc.L1::no_allocate: four elements that no thread of the SM reads again. The kernel does
// not write them. `g` is 16-byte aligned.
__device__ __forceinline__ float4 load_streaming4(const float* g) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(g));
  return v;
}

}  // namespace ladder::ptx
