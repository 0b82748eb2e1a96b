// SPDX-License-Identifier: Apache-2.0
// Packing: copies an operand to an array whose slow index is k and whose rows are a multiple of
// four elements, which permits 128-bit accesses. Packing pays if each element is then read often.
#pragma once
#include "device/extents.cuh"
#include "device/launch_dependent.cuh"
#include "gemm/simt/copy_tile.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

constexpr std::int64_t packed_ld(std::int64_t size) { return ceil_div(size, 4) * 4; }

namespace pack_detail {

constexpr int kTile = 64, kThreads = 256;

template <bool kAlongK>
__global__ void __launch_bounds__(kThreads)
    pack(const __grid_constant__ Source x, int depth, float* __restrict__ gY, std::int64_t ld_y) {
  const int lane = static_cast<int>(threadIdx.x) % kTile,
            line = static_cast<int>(threadIdx.x) / kTile;
  const int i0 = static_cast<int>(blockIdx.x) * kTile;
  constexpr int kLines = kThreads / kTile;
  for (int k0 = static_cast<int>(blockIdx.y) * kTile; k0 < depth;
       k0 += static_cast<int>(gridDim.y) * kTile) {
    float r[kTile / kLines];  // all loads are issued before the first use
    if constexpr (kAlongK) {
      __shared__ float s[kTile][kTile + 1];  // padded: no bank conflicts in columns
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) {
        const int row = i0 + line + i * kLines;
        r[i] = row < x.size && k0 + lane < depth ? __ldg(x.g + row * x.ld + k0 + lane) : 0.0F;
      }
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) s[line + i * kLines][lane] = r[i];
      __syncthreads();
#pragma unroll
      for (int k = line; k < kTile; k += kLines) {
        if (k0 + k < depth && i0 + lane < ld_y) gY[(k0 + k) * ld_y + i0 + lane] = s[lane][k];
      }
      __syncthreads();
    } else {
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) {
        const int k = k0 + line + i * kLines;
        r[i] = k < depth && i0 + lane < x.size ? __ldg(x.g + k * x.ld + i0 + lane) : 0.0F;
      }
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) {
        const int k = k0 + line + i * kLines;
        if (k < depth && i0 + lane < ld_y) gY[k * ld_y + i0 + lane] = r[i];
      }
    }
  }
}

}  // namespace pack_detail

// Enqueues the copy of x, `depth` steps of k, to gY of depth * packed_ld(x.size) elements.
// x becomes the packed operand. Errors: kLaunchFailed.
inline Status pack(Source& x, int depth, float* gY, cudaStream_t stream) {
  using namespace pack_detail;
  const std::int64_t ld = packed_ld(x.size);
  const dim3 grid(
      static_cast<unsigned>(ceil_div(x.size, kTile)),
      static_cast<unsigned>(std::min<std::int64_t>(ceil_div(depth, kTile), kMaxGridYZ)));
  const auto kernel = x.along_k ? pack_detail::pack<true> : pack_detail::pack<false>;
  const Status status =
      launch_kernel("packing", kernel, grid, kThreads, 0, stream, x, depth, gY, ld);
  x = {gY, ld, static_cast<int>(ld), false};
  return status;
}

}  // namespace ladder
