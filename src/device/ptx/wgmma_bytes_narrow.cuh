// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async for 8-bit types with few columns of B.
#pragma once
#include "device/ptx/wgmma_bytes.cuh"
#include "device/ptx/wgmma_registers.cuh"

namespace ladder::ptx {

template <class In>
__device__ __forceinline__ void wgmma_bytes(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                            bool add) {
  LADDER_WGMMA("m64n64k32.f32.%35.%35", 32, 34, "%32, %33, p, 1, 1", "l"(a), "l"(b),
               "r"(static_cast<int>(add)), "C"(kMmaType<In>));
}

}  // namespace ladder::ptx
