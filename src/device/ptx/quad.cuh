// SPDX-License-Identifier: Apache-2.0
// Four floats at once, of which some may be missing, to this block's shared memory and from that of
// others. One function an instruction; PTX ISA, "cp.async", "st", "ld".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::ptx {

// cp.async of kFloats floats, 1, 2 or 4, of which only the first `count` are read; zeros follow.
template <int kFloats>
__device__ __forceinline__ void cp_async_first(std::uint32_t s, const float* g, int count) {
  if constexpr (kFloats == 4) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(s), "l"(g), "r"(4 * count)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(s), "l"(g), "n"(4 * kFloats),
                 "r"(4 * count)
                 : "memory");
  }
}

// st.shared.v4 to a shared address.
__device__ __forceinline__ void store_shared4(std::uint32_t s, float x, float y, float z, float w) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(s), "f"(x), "f"(y), "f"(z), "f"(w)
               : "memory");
}

// ld.shared::cluster.v4.
__device__ __forceinline__ float4 load_cluster_quad(std::uint32_t remote) {
  float4 x;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(remote)
               : "memory");
  return x;
}

}  // namespace ladder::ptx
