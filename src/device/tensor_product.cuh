// SPDX-License-Identifier: Apache-2.0
// Products of 16-bit operands on Hopper's tensor cores, for r14 to r17: the call's tensor maps, the
// stages that they fill, a warpgroup's wgmma over a stage, and the stores of its sums.
#pragma once
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/sync.cuh"
#include "device/ptx/tma.cuh"
#include "device/ptx/wgmma.cuh"
#include "device/runtime.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <ladder/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace ladder::product {

constexpr int kWarpgroup = 128;                  // threads
constexpr int kMaxShared = 232'448;              // bytes per block, compute capability 9.0
constexpr int kRowBytes = 128;                   // of a stage: the swizzle's width
constexpr int kStoreRows = 64, kStoreCols = 64;  // box of a store by tensor map

// A block's tile of C, and what TMA copies and wgmma reads per step of k: rows of 128 bytes in the
// 128-byte swizzle. A is K-major, B is N-major.
template <class In_, class Out_, int BM_, int BN_, int STAGES_>
struct TileOf {
  using In = In_;
  using Out = Out_;
  static constexpr int BM = BM_, BN = BN_, BK = kRowBytes / sizeof(In), STAGES = STAGES_;
  static constexpr int WM = 64, kSums = BN / 2;  // rows of a warpgroup, sums per thread
  static constexpr int kConsumers = BM / WM;     // warpgroups that multiply
  static constexpr int kBoxes = BN / BK, kStageBytes = (BM + BN) * kRowBytes;
  struct Stage {
    alignas(1024) In a[BM][BK];          // (BM,BK)
    alignas(1024) In b[kBoxes][BK][BK];  // (BN/BK,BK,BK)
  };
  static_assert(sizeof(In) <= 2 && BM % WM == 0 && BN % BK == 0, "whole warpgroups and boxes");
};

// A call, passed to kernels by value: tensor maps must be in parameter, constant or global memory.
struct Call {
  CUtensorMap a, b, out;  // out: of C in boxes of 64 x 64, where by_map
  void* gC;               // (m,n)
  std::int64_t ldc;
  int m, n, tiles_m, tiles_n, steps;  // steps of BK along k
  float alpha, beta;
  bool by_map;  // beta = 0, and a tensor map takes C
  bool pairs;   // stores of two neighbours, the first in an even column, are aligned
};

// One thread copies step `step` of the tile at (row, col) to a stage; `full` completes with it.
template <class T>
__device__ __forceinline__ void load(const Call& c, typename T::Stage& s, std::uint32_t full,
                                     int row, int col, int step) {
  ptx::mbarrier_arrive_expect(full, T::kStageBytes);
  ptx::tma_load(ptx::shared_address(s.a), c.a, full, step * T::BK, row);
#pragma unroll
  for (int j = 0; j < T::kBoxes; ++j)
    ptx::tma_load(ptx::shared_address(s.b[j]), c.b, full, col + j * T::BK, step * T::BK);
}

// Initialises the barriers of a block's stages: filled by one arrival with its copies, emptied by
// `readers` arrivals. The threads that use them synchronise afterwards.
template <class Shared>
__device__ __forceinline__ void init_barriers(Shared& s, int readers) {
  for (auto& full : s.full) ptx::mbarrier_init(ptx::shared_address(&full), 1);
  for (auto& empty : s.empty) ptx::mbarrier_init(ptx::shared_address(&empty), readers);
  ptx::fence_mbarrier_init();
}

// A warpgroup starts the product of 64 rows of A, from `row` on, and B. The sums are (64,BN);
// ptx/wgmma.cuh says which of them a thread holds. With add = false they are overwritten.
template <class T>
__device__ __forceinline__ void multiply(float (&sums)[T::kSums], const typename T::Stage& s,
                                         int row, bool add) {
  ptx::wgmma_fence();
#pragma unroll
  for (int k = 0; k < T::BK; k += 16) {
    const auto a = ptx::matrix_descriptor(ptx::shared_address(&s.a[row][k]), 8 * 128);
    const auto b = ptx::matrix_descriptor(ptx::shared_address(s.b[0][k]), 8 * 128, sizeof(s.b[0]));
    ptx::wgmma_shared<typename T::In, true>(sums, a, b, add || k > 0);
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
__device__ __forceinline__ void store(const Call& c, const float (&sums)[kSums], int row, int col) {
  const int tid = static_cast<int>(threadIdx.x) % kWarpgroup;
  row += tid / 32 * 16 + tid % 32 / 4, col += tid % 4 * 2;
#pragma unroll
  for (int i = 0; i < kSums; i += 2) {
    const int r = row + i / 2 % 2 * 8, k = col + i / 4 * 8;
    if (r >= c.m || k >= c.n) continue;
    Out* const gC = static_cast<Out*>(c.gC) + r * c.ldc + k;
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

// Rounds alpha times a tile's sums to 16-bit results, two per register.
template <class Out, int kSums>
__device__ __forceinline__ void round(float alpha, const float (&sums)[kSums],
                                      std::uint32_t (&results)[kSums / 2]) {
#pragma unroll
  for (int i = 0; i < kSums; i += 2) {
    const auto pair = pair_of(alpha * sums[i], alpha * sums[i + 1], Out{});
    results[i / 2] = *reinterpret_cast<const std::uint32_t*>(&pair);
  }
}

// Warpgroup `group` stores 64 columns of a tile's results at (row, col), number `piece` of them, by
// tensor map. Two buffers in shared memory, of 64 x 64 results in the 128-byte swizzle, alternate.
__device__ __forceinline__ void store_box(const Call& c, char* buffer, const std::uint32_t* results,
                                          int piece, int group, int row, int col) {
  const int tid = threadIdx.x % kWarpgroup, thread = static_cast<int>(threadIdx.x);
  const std::uint32_t s = ptx::shared_address(buffer);
  if (tid == 0) ptx::bulk_wait_read<1>();
  ptx::barrier_sync(1 + group, kWarpgroup);
  const int lane = thread % 32, line = thread % kWarpgroup / 32 * 16 + lane % 16;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int bytes = (i * 32 + lane / 16 * 16) ^ line % 8 * 16;
    ptx::store_matrix4(s + line * kRowBytes + bytes, results + piece * 16 + i * 4);
  }
  ptx::barrier_sync(1 + group, kWarpgroup);
  if (tid > 0) return;
  ptx::fence_proxy_async();  // for all threads of the barrier
  ptx::tma_store(c.out, s, col + piece * 64, row);
  ptx::bulk_commit();
}

// Requires Hopper, row-major operands without transposition, sizes that fit int and tensor maps.
Status accept(const Problem& p, const Device& device);

// Describes a call in tiles of bm x bn. Operands that no tensor map takes are copied to rows of
// whole 16 bytes in `memory`, behind `scratch` bytes for the caller; `flags` zeros come with them.
// Where c.steps is 0 it has enqueued all that there is to do. Errors: kLaunchFailed.
Status describe(const Problem& p, const Operands& o, int bm, int bn, cudaStream_t stream,
                CallMemory& memory, Call& c, std::int64_t scratch = 0, std::int64_t flags = 0);

// Launches `kernel` of `rung` with T's threads and shared memory. Errors: kLaunchFailed.
template <class T, class... Args>
Status launch(const char* rung, void (*kernel)(Args...), int blocks, cudaStream_t stream,
              std::type_identity_t<Args>... args) {
  constexpr int kShared = sizeof(typename T::Shared);
  static_assert(kShared <= kMaxShared, "a block's shared memory");
  const cudaError_t error = allow_shared(reinterpret_cast<const void*>(kernel), kShared);
  if (error != cudaSuccess) return cuda_failure("cudaFuncSetAttribute", error);
  kernel<<<blocks, T::kThreads, kShared, stream>>>(args...);
  return launched(rung);
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
