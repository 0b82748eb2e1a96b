// SPDX-License-Identifier: Apache-2.0
// Accesses to global memory with cache operators, and relaxed ones of values that blocks exchange.
// One function per instruction; PTX ISA, "ld", "ld.global.nc", "st". Each element of a vector is a
// separate access.
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

// ld.relaxed.gpu: may return what another block stored, and orders no other access.
__device__ __forceinline__ unsigned load_relaxed(const unsigned* word) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ __forceinline__ uint4 load_relaxed(const uint4* words) {
  uint4 x;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(words)
               : "memory");
  return x;
}

// st.relaxed.gpu. cluster.cuh has the scalar one.
__device__ __forceinline__ void store_relaxed(uint4* to, uint4 x) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x.x), "r"(x.y),
               "r"(x.z), "r"(x.w)
               : "memory");
}

}  // namespace ladder::ptx
