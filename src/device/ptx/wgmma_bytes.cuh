// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async for 8-bit types: 32 elements of k. Both operands are K-major.
#pragma once
#include "device/ptx/wgmma.cuh"

#include <cuda_fp8.h>

namespace ladder::ptx {

template <>
constexpr char kMmaType<__nv_fp8_e4m3>[5] = "e4m3";
template <>
constexpr char kMmaType<__nv_fp8_e5m2>[5] = "e5m2";

template <class In>
__device__ __forceinline__ void wgmma_bytes(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                            bool add) {
  LADDER_WGMMA("m64n128k32.f32.%67.%67", 64, 66, "%64, %65, p, 1, 1", "l"(a), "l"(b),
               "r"(static_cast<int>(add)), "C"(kMmaType<In>));
}

}  // namespace ladder::ptx
