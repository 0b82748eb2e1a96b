// SPDX-License-Identifier: Apache-2.0
// Words in device memory that other blocks store or load meanwhile. One function per instruction;
// PTX ISA, "ld", "st". A vector's words are accesses of their own.
#pragma once
#include <cuda_runtime.h>

namespace ladder::ptx {

// ld.relaxed.gpu: sees the value that another block has stored, and nothing else that it did.
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

// st.relaxed.gpu, of a word and of four.
__device__ __forceinline__ void send_relaxed(unsigned* to, unsigned x) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(x) : "memory");
}
__device__ __forceinline__ void send_relaxed(uint4* to, uint4 x) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(x.x), "r"(x.y),
               "r"(x.z), "r"(x.w)
               : "memory");
}

}  // namespace ladder::ptx
