// SPDX-License-Identifier: Apache-2.0
// Loads from global memory. One function per instruction; PTX ISA, "Data Movement and Conversion
// Instructions: ld.global.nc".
#pragma once
#include <cuda_runtime.h>

namespace ladder::ptx {

// ld.global.nc.L2::256B.v4: L2 reads the 256 bytes around it from memory, of which the next loads
// take the rest.
__device__ __forceinline__ float4 load_with_neighbors(const float* g) {
  float4 v;
  asm volatile("ld.global.nc.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(g));
  return v;
}

}  // namespace ladder::ptx
