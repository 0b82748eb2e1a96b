// SPDX-License-Identifier: Apache-2.0
// Loads, additions and stores of float4.
#pragma once
#include <cuda_runtime.h>

namespace ladder {

__device__ __forceinline__ float4 operator+(float4 x, float4 y) {
  return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
__device__ __forceinline__ float4 float4_of(const float* r) {
  return make_float4(r[0], r[1], r[2], r[3]);
}
__device__ __forceinline__ void set4(float* r, float4 four) {
  r[0] = four.x, r[1] = four.y, r[2] = four.z, r[3] = four.w;
}
__device__ __forceinline__ void add4(float* r, float4 four) {
  r[0] += four.x, r[1] += four.y, r[2] += four.z, r[3] += four.w;
}

}  // namespace ladder
