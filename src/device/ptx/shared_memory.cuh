// SPDX-License-Identifier: Apache-2.0
// Shared memory by shared address. One function per instruction; PTX ISA, "Data Movement: ld, st".
#pragma once
#include <cstdint>

namespace ladder::ptx {

// st.shared to a shared address.
__device__ __forceinline__ void store_shared(std::uint32_t s, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(s), "f"(value) : "memory");
}

// ld.shared.v4 from a shared address.
__device__ __forceinline__ void load_shared4(float* r, std::uint32_t s) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(r[0]), "=f"(r[1]), "=f"(r[2]), "=f"(r[3])
               : "r"(s));
}

// st.shared.v2 to a shared address.
__device__ __forceinline__ void store_shared2(std::uint32_t s, std::uint32_t x, std::uint32_t y) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(s), "r"(x), "r"(y) : "memory");
}

// st.shared.v4 to a shared address.
__device__ __forceinline__ void store_shared4(std::uint32_t s, float x, float y, float z, float w) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(s), "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
}

}  // namespace ladder::ptx
