// SPDX-License-Identifier: Apache-2.0
// Atomics on vectors (sm_90).

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

extern "C" __global__ void add_misaligned(float* at) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(at + 2), "f"(1.0f) : "memory");
}
