// SPDX-License-Identifier: Apache-2.0
// Atomics on vectors (sm_90).

#include <cuda_fp16.h>

extern "C" __global__ void add_vectors(float* singles, unsigned* halves, float* old) {
  const float x = static_cast<float>(threadIdx.x);
  float* const at = singles + threadIdx.x % 4 * 4;
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(x), "f"(1.0f),
               "f"(-x), "f"(0.5f)
               : "memory");
  asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(at + 2), "f"(2 * x),
               "f"(0.25f)
               : "memory");
  // 1.0 and 2.0 as f16, 1.0 and 1.0 as bf16
  asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %1};" ::"l"(halves), "r"(0x40003c00)
               : "memory");
  asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, %1, %1, %1};" ::"l"(halves + 4),
               "r"(0x3f803f80)
               : "memory");
  float a = 1, b = 10;
  asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%1, %0};"
               : "+f"(a), "+f"(b)
               : "l"(singles + 16)
               : "memory");
  old[2 * threadIdx.x] = a;
  old[2 * threadIdx.x + 1] = b;
}

// Both orders of the opcode's parts. 1.0 and 2.0, x and -x as f16; old values of the smaller ones.
extern "C" __global__ void extreme_vectors(unsigned* least, unsigned* most, unsigned* old) {
  const unsigned short x = __half_as_ushort(__int2half_rn(static_cast<int>(threadIdx.x)));
  const unsigned both = x | static_cast<unsigned>(x ^ 0x8000) << 16;
  asm volatile("red.global.v2.f16x2.min.noftz [%0], {%1, %2};" ::"l"(least), "r"(both),
               "r"(0x40003c00)
               : "memory");
  unsigned first, second;
  asm volatile("atom.global.max.noftz.v2.f16x2 {%0, %1}, [%2], {%3, %4};"
               : "=r"(first), "=r"(second)
               : "l"(most), "r"(both), "r"(0x40003c00)
               : "memory");
  old[threadIdx.x] = first;
}

extern "C" __global__ void add_misaligned(float* at) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(at + 2), "f"(1.0f) : "memory");
}
