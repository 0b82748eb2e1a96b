// SPDX-License-Identifier: Apache-2.0
// Packing: copies operands to arrays whose slow index is k and whose rows are a multiple of
// four elements, which permits 128-bit accesses. Packing pays if each element is then read often.
#pragma once
#include "device/extents.cuh"
#include "device/launch_dependent.cuh"
#include "device/ptx/dependent.cuh"
#include "gemm/simt/copy_tile.cuh"

#include <cstdint>

namespace ladder {

constexpr std::int64_t packed_ld(std::int64_t size) { return ceil_div(size, 4) * 4; }

namespace pack_detail {

constexpr int kTile = 64, kThreads = 256;

// One operand's copy: `depth` rows of ld_y elements. ld_y = 0: none.
struct Packing {
  Source x;
  int depth;
  float* gY;
  std::int64_t ld_y;
};

// The blocks of one z copy one operand, in tiles.
template <bool kAlongK>
__device__ __forceinline__ void copy_tiles(const Packing& p) {
  const Source& x = p.x;
  const int lane = static_cast<int>(threadIdx.x) % kTile,
            line = static_cast<int>(threadIdx.x) / kTile;
  const int i0 = static_cast<int>(blockIdx.x) * kTile;
  constexpr int kLines = kThreads / kTile;
  for (int k0 = static_cast<int>(blockIdx.y) * kTile; k0 < p.depth;
       k0 += static_cast<int>(gridDim.y) * kTile) {
    float r[kTile / kLines];  // all loads are issued before the first use
    if constexpr (kAlongK) {
      __shared__ float s[kTile][kTile + 1];  // padded: no bank conflicts in columns
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) {
        const int row = i0 + line + i * kLines;
        r[i] = row < x.size && k0 + lane < p.depth ? __ldg(x.g + row * x.ld + k0 + lane) : 0.0F;
      }
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) s[line + i * kLines][lane] = r[i];
      __syncthreads();
#pragma unroll
      for (int k = line; k < kTile; k += kLines) {
        if (k0 + k < p.depth && i0 + lane < p.ld_y)
          p.gY[(k0 + k) * p.ld_y + i0 + lane] = s[lane][k];
      }
      __syncthreads();
    } else {
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) {
        const int k = k0 + line + i * kLines;
        r[i] = k < p.depth && i0 + lane < x.size ? __ldg(x.g + k * x.ld + i0 + lane) : 0.0F;
      }
#pragma unroll
      for (int i = 0; i < kTile / kLines; ++i) {
        const int k = k0 + line + i * kLines;
        if (k < p.depth && i0 + lane < p.ld_y) p.gY[k * p.ld_y + i0 + lane] = r[i];
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    pack(const __grid_constant__ Packing a, const __grid_constant__ Packing b) {
  ptx::wait_for_prerequisites();
  const Packing& p = blockIdx.z == 0 ? a : b;
  if (static_cast<int>(blockIdx.x) * kTile >= p.ld_y) return;
  if (p.x.along_k) {
    copy_tiles<true>(p);
  } else {
    copy_tiles<false>(p);
  }
}

}  // namespace pack_detail

// Elements of the packed operand.
inline std::int64_t packed_elements(const Source& x, int depth) {
  return depth * packed_ld(x.size);
}

// Enqueues the copies, `depth` steps of k, of those operands for which gA or gB is not null. They
// become the packed ones. Errors: kLaunchFailed.
inline Status pack(Source& a, float* gA, Source& b, float* gB, int depth, cudaStream_t stream) {
  using namespace pack_detail;
  const auto packing = [&](const Source& x, float* g) {
    return Packing{x, depth, g, g == nullptr ? 0 : packed_ld(x.size)};
  };
  const Packing of_a = packing(a, gA), of_b = packing(b, gB);
  if (gA == nullptr && gB == nullptr) return Status::ok();
  const Grid grid(ceil_div(std::max(of_a.ld_y, of_b.ld_y), kTile),
                  std::min<std::int64_t>(ceil_div(depth, kTile), kMaxGridYZ), 2);
  for (Source* const x : {&a, &b}) {
    const Packing& p = x == &a ? of_a : of_b;
    if (p.ld_y > 0) *x = {p.gY, p.ld_y, static_cast<int>(p.ld_y), false, true};
  }
  return launch_dependent("packing", pack_detail::pack, grid, 1, kThreads, 0, stream, of_a, of_b);
}

}  // namespace ladder
