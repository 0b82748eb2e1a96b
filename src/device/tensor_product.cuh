// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit operands on Hopper's tensor cores, as r14 to r17 compute them: the call's
// tensor maps, the stage that they fill, a warpgroup's wgmma over a stage, and the way of its sums
// to C.
#pragma once
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/tma.cuh"
#include "device/ptx/wgmma.cuh"
#include "device/runtime.cuh"
#include "device/tensor_map.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <ladder/kernel.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ladder::product {

constexpr int kWarpgroup = 128;      // threads
constexpr int kMaxShared = 232'448;  // bytes of a block's shared memory on compute capability 9.0

// What TMA copies and wgmma reads per step of k: rows of 128 bytes in the 128-byte swizzle. A is
// K-major, B is N-major.
template <class In, int BM, int BN>
struct Stage {
  static constexpr int BK = 128 / sizeof(In), kBoxes = BN / BK, kBytes = (BM + BN) * 128;
  alignas(1024) In a[BM][BK];          // (BM,BK)
  alignas(1024) In b[kBoxes][BK][BK];  // (BN/BK,BK,BK)
};

// A call, passed to kernels by value: tensor maps must be in parameter, constant or global memory.
template <class Out>
struct Call {
  CUtensorMap a, b, out;  // out: of C in boxes of 64 x 64, where by_map
  Out* gC;                // (m,n)
  std::int64_t ldc;
  int m, n, tiles_m, tiles_n, steps;  // steps of BK along k
  float alpha, beta;
  bool by_map;  // beta = 0, and a tensor map takes C
  bool pairs;   // stores of two neighbours, the first in an even column, are aligned
};

// A warpgroup starts the product of 64 rows of A, from `row` on, and B. The sums are (64,BN);
// ptx/wgmma.cuh says which of them a thread holds. With add = false they are overwritten.
template <class In, int BM, int BN>
__device__ __forceinline__ void multiply(float (&sums)[BN / 2], const Stage<In, BM, BN>& s, int row,
                                         bool add) {
  ptx::wgmma_fence();
#pragma unroll
  for (int k = 0; k < s.BK; k += 16) {
    const auto a = ptx::matrix_descriptor(ptx::shared_address(&s.a[row][k]), 8 * 128);
    const auto b = ptx::matrix_descriptor(ptx::shared_address(s.b[0][k]), 8 * 128, sizeof(s.b[0]));
    ptx::wgmma_shared<In, true>(sums, a, b, add || k > 0);
  }
  ptx::wgmma_commit();
}

// Waits until the sums are there.
template <int kSums>
__device__ __forceinline__ void wait(float (&sums)[kSums]) {
  ptx::wgmma_wait<0>();
#pragma unroll
  for (float& sum : sums) ptx::changed(sum);
}

// Two neighbours in a row of C, rounded to nearest.
__device__ __forceinline__ float2 pair_of(float x, float y, float) { return {x, y}; }
__device__ __forceinline__ __half2 pair_of(float x, float y, __half) {
  return __floats2half2_rn(x, y);
}
__device__ __forceinline__ __nv_bfloat162 pair_of(float x, float y, __nv_bfloat16) {
  return __floats2bfloat162_rn(x, y);
}

// Stores alpha sums + beta C to 64 rows of C from `row` on, columns from `col` on. beta = 0 does
// not read C.
template <class Out, int kSums>
__device__ __forceinline__ void store(const Call<Out>& c, const float (&sums)[kSums], int row,
                                      int col) {
  const int tid = static_cast<int>(threadIdx.x) % kWarpgroup;
  row += tid / 32 * 16 + tid % 32 / 4, col += tid % 4 * 2;
#pragma unroll
  for (int i = 0; i < kSums; i += 2) {
    const int r = row + i / 2 % 2 * 8, k = col + i / 4 * 8;
    if (r >= c.m || k >= c.n) continue;
    Out* const gC = c.gC + r * c.ldc + k;
    const bool two = k + 1 < c.n;
    float x = c.alpha * sums[i], y = c.alpha * sums[i + 1];
    if (c.beta != 0.0F) x += c.beta * static_cast<float>(gC[0]);
    if (c.beta != 0.0F && two) y += c.beta * static_cast<float>(gC[1]);
    const auto pair = pair_of(x, y, Out{});
    if (c.pairs && two) {
      *reinterpret_cast<decltype(pair_of(x, y, Out{}))*>(gC) = pair;
    } else {
      gC[0] = pair.x;
      if (two) gC[1] = pair.y;
    }
    asm volatile("" ::: "memory");  // in order: all loads of C at once would not fit into registers
  }
}

// C = beta C, where K or alpha is 0.
template <class Out>
__global__ void scale(const __grid_constant__ Call<Out> c) {
  const std::int64_t all = std::int64_t{c.m} * c.n, stride = std::int64_t{gridDim.x} * blockDim.x;
  for (auto i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += stride) {
    Out& x = c.gC[i / c.n * c.ldc + i % c.n];
    x = static_cast<Out>(c.beta == 0.0F ? 0.0F : c.beta * static_cast<float>(x));
  }
}

// Hopper, row-major operands without transposition, sizes that fit an int, rows that fit a tensor
// map.
inline Status accept(const Problem& p, const Device& device) {
  if (device.cc / 10 != 9) {
    return {Code::kUnsupportedDevice,
            "needs Hopper's wgmma (compute capability 9.0), " + device.name + " has none"};
  }
  if (p.layout != Layout::kRowMajor || p.op_a != Op::kNone || p.op_b != Op::kNone) {
    return {Code::kUnsupportedProblem,
            "takes row-major operands without transposition, not " + to_string(p)};
  }
  const bool fits = std::max({p.m, p.n, p.k}) <= 1 << 30 && std::max(p.lda, p.ldb) < std::int64_t{1}
                                                                                         << 38;
  if (fits) return Status::ok();
  return {Code::kUnsupportedProblem,
          "takes sizes of at most 2^30 and leading dimensions below 2^38, not " + to_string(p)};
}

// Describes a call in tiles of BM x BN. Operands that no tensor map takes are copied to rows of
// whole 16 bytes in `memory`, behind `scratch` bytes for the caller; `flags` zeros come with them.
// Where c.steps is 0 it has enqueued all that there is to do. Errors: kLaunchFailed.
template <class In, int BM, int BN, class Out>
Status describe(const Problem& p, const Operands& o, cudaStream_t stream, CallMemory& memory,
                Call<Out>& c, std::int64_t scratch = 0, std::int64_t flags = 0) {
  constexpr std::int64_t BK = Stage<In, BM, BN>::BK, kSize = sizeof(In);
  constexpr Type kType = std::is_same_v<In, __half> ? Type::kF16 : Type::kBf16;
  const auto tiles = [](std::int64_t size, auto tile) {
    return static_cast<int>((size + tile - 1) / tile);
  };
  c.gC = o.c_as<Out>(), c.ldc = p.ldc, c.m = static_cast<int>(p.m), c.n = static_cast<int>(p.n);
  c.tiles_m = tiles(p.m, BM), c.tiles_n = tiles(p.n, BN),
  c.steps = reads_ab(p) ? tiles(p.k, BK) : 0;
  c.alpha = c.steps > 0 ? p.alpha : 0.0F, c.beta = p.beta;
  c.pairs = p.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(c.gC) % (2 * sizeof(Out)) == 0;
  constexpr std::int64_t kOutSize = sizeof(Out);
  c.by_map =
      c.steps > 0 && kOutSize == kSize && p.beta == 0.0F && p.n * kOutSize % 16 == 0 &&
      tensor_map_takes(c.gC, p.ldc * kOutSize);  // a row's stores end at multiples of 16 bytes
  struct Matrix {
    CUtensorMap& map;
    const void* g;
    std::int64_t rows, cols, ld, box_rows;
  } matrices[] = {{c.a, o.a, p.m, p.k, p.lda, BM}, {c.b, o.b, p.k, p.n, p.ldb, BK}};
  const auto copied_bytes = [&](const Matrix& x) {
    const bool copied = !tensor_map_takes(x.g, x.ld * kSize);
    return copied ? x.rows * tiles(x.cols, BK) * BK * kSize : 0;
  };
  const std::int64_t bytes = scratch + copied_bytes(matrices[0]) + copied_bytes(matrices[1]);
  if (c.steps == 0 || p.m == 0 || p.n == 0) {
    c.steps = 0;
    const std::int64_t blocks = std::min<std::int64_t>((p.m * p.n + 255) / 256, 4096);
    if (blocks > 0) scale<<<static_cast<unsigned>(blocks), 256, 0, stream>>>(c);
    return launched("scale");
  }
  if (Status s = memory.take(stream, bytes, flags); !s) return s;
  char* gFree = memory.scratch() + scratch;
  for (Matrix& x : matrices) {
    if (const std::int64_t copied = copied_bytes(x); copied > 0) {
      const std::int64_t row = copied / x.rows;
      if (cudaError_t e = cudaMemcpy2DAsync(gFree, row, x.g, x.ld * kSize, x.cols * kSize, x.rows,
                                            cudaMemcpyDeviceToDevice, stream)) {
        return cuda_failure("cudaMemcpy2DAsync", e);
      }
      x.g = gFree, x.ld = row / kSize, gFree += copied;
    }
    if (Status s = make_tensor_map(x.map, kType, x.g, x.rows, x.cols, x.ld, x.box_rows, BK); !s)
      return s;
  }
  return c.by_map ? make_tensor_map(c.out, kType, c.gC, p.m, p.n, p.ldc, 64, 64) : Status::ok();
}

// The registry's row of a kernel for operands of In and results of Out.
template <class In, class Out>
constexpr KernelInfo info(std::string_view id, std::string_view rung, std::string_view idea,
                          Status (*launch)(const Problem&, const Operands&, Stream)) {
  constexpr bool kHalf = std::is_same_v<In, __half>;
  constexpr Type kIn = kHalf ? Type::kF16 : Type::kBf16;
  return {.id = id,
          .rung = rung,
          .idea = idea,
          .precision = kHalf ? Precision::kFp16 : Precision::kBf16,
          .min_cc = 90,
          .in = kIn,
          .out = std::is_same_v<Out, float> ? Type::kF32 : kIn,
          .accepts = accept,
          .launch = launch};
}

}  // namespace ladder::product
