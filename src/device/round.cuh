// SPDX-License-Identifier: Apache-2.0
// Rounds a float to the nearest number of a type, or two floats to two packed 16-bit numbers. Ties
// go to even.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace ladder {

__device__ __forceinline__ float from_float(float x, float) { return x; }
__device__ __forceinline__ __nv_bfloat16 from_float(float x, __nv_bfloat16) {
  return __float2bfloat16_rn(x);
}
__device__ __forceinline__ __half from_float(float x, __half) { return __float2half_rn(x); }

// x is in the lower half.
__device__ __forceinline__ std::uint32_t pack_two(float x, float y, __nv_bfloat16) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(x, y);
  return *reinterpret_cast<const std::uint32_t*>(&two);
}
__device__ __forceinline__ std::uint32_t pack_two(float x, float y, __half) {
  const __half2 two = __floats2half2_rn(x, y);
  return *reinterpret_cast<const std::uint32_t*>(&two);
}
__device__ __forceinline__ float2 unpack_two(std::uint32_t words, __nv_bfloat16) {
  return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&words));
}
__device__ __forceinline__ float2 unpack_two(std::uint32_t words, __half) {
  return __half22float2(*reinterpret_cast<const __half2*>(&words));
}

}  // namespace ladder
