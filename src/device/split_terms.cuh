// SPDX-License-Identifier: Apache-2.0
// FP32 operands as sums of 16-bit terms: the split pre-pass and an epilogue that undoes its scales.
//
// The pre-pass treats rows of op(A) and columns of op(B) alike, as vectors along k. It scales a
// vector so that its largest magnitude lies in [2^kTop, 2^(kTop + 1)): no term overflows, few are
// subnormal. Then it splits every element, x = t0 + t1 (+ t2). A term is the remainder so far,
// rounded to nearest.
#pragma once
#include "device/ptx/bulk.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/runtime.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <ladder/kernel.hpp>

#include <algorithm>
#include <cstdint>

namespace ladder::terms {

constexpr int kThreads = 256;                     // per block of the pre-pass
constexpr int kEdge = 64;                         // of the pre-pass's tile in shared memory
constexpr std::uint32_t kInfinity = 0x7F800000U;  // bits
constexpr int kExceptional = 1 << 20;             // the exponent of a vector with Inf or NaN

template <class Term_, int kTerms_, int kTop_, int BK_>
struct Format {
  using Term = Term_;
  static constexpr int kTerms = kTerms_, kTop = kTop_, BK = BK_;
  static constexpr int kVectors = 128, kRowBytes = BK * static_cast<int>(sizeof(Term));
  // All terms of kVectors vectors in one slab of BK along k, swizzled as wgmma reads them from
  // shared memory. The pre-pass writes units to global memory; one bulk copy moves one unit.
  struct alignas(1024) Unit {
    Term term[kTerms][kVectors][BK];
  };
};

// An operand, and what the pre-pass writes. `padded` is `vectors` rounded up to whole tiles of C.
struct Operand {
  const float* g;  // element k of vector i at i * ld + k, or at k * ld + i if not along_k
  std::int64_t ld;
  bool along_k, aligned;  // aligned: float4 loads along k cover all of k
  int vectors, padded, k, slabs;
  char* gUnits = nullptr;             // (padded / kVectors, slabs)
  std::uint32_t* gLargest = nullptr;  // (padded): bits of each vector's largest magnitude

  __device__ float at(int i, int k) const { return along_k ? g[i * ld + k] : g[k * ld + i]; }
};

// C, and everything that the product and its epilogue read.
struct Product {
  Operand a, b;
  float* gC;
  std::int64_t ldc;
  float alpha, beta;
  bool pairs;  // C takes float2 stores
};

// A pipeline of units in shared memory. `n` counts units from 0.
template <class Unit, int kUnits>
struct Ring {
  Unit unit[kUnits];
  std::uint64_t full[kUnits],
      empty[kUnits];  // barriers: the copy has arrived; all readers are done

  __device__ __forceinline__ void init(int readers) {
    for (auto& barrier : full) ptx::mbarrier_init(ptx::shared_address(&barrier), 1);
    for (auto& barrier : empty) ptx::mbarrier_init(ptx::shared_address(&barrier), readers);
  }
  __device__ __forceinline__ void load(unsigned n, const char* gUnits, std::int64_t index) {
    const std::uint32_t barrier = ptx::shared_address(&full[n % kUnits]);
    ptx::mbarrier_wait(ptx::shared_address(&empty[n % kUnits]),
                       n / kUnits % 2 ^ 1);  // at first: empty
    ptx::mbarrier_arrive_expect(barrier, sizeof(Unit));
    ptx::bulk_load(ptx::shared_address(&unit[n % kUnits]), gUnits + index * sizeof(Unit), barrier,
                   sizeof(Unit));
  }
  __device__ __forceinline__ const Unit& wait(unsigned n) {
    ptx::mbarrier_wait(ptx::shared_address(&full[n % kUnits]), n / kUnits % 2);
    return unit[n % kUnits];
  }
  __device__ __forceinline__ void release(unsigned n) {
    ptx::mbarrier_arrive(ptx::shared_address(&empty[n % kUnits]));
  }
};

// The bits of the largest magnitude. As integers they compare as magnitudes do, NaN above Inf.
__device__ __forceinline__ std::uint32_t magnitude(float4 x) {
  return max(max(__float_as_uint(fabsf(x.x)), __float_as_uint(fabsf(x.y))),
             max(__float_as_uint(fabsf(x.z)), __float_as_uint(fabsf(x.w))));
}

// The exponent of a vector's scale.
template <class F>
__device__ __forceinline__ int scale_of(std::uint32_t largest) {
  if (largest >= kInfinity) return kExceptional;
  const int exponent = static_cast<int>(largest >> 23);  // 0: subnormal
  return F::kTop - (exponent > 0 ? exponent - 127 : -118 - __clz(static_cast<int>(largest)));
}

// x 2^e. Two factors reach every exponent and round a normal result only once.
__device__ __forceinline__ float times_power(float x, int e) {
  e = max(-250, min(250, e));
  return x * __int_as_float(((e >> 1) + 127) << 23) * __int_as_float((e - (e >> 1) + 127) << 23);
}

// Writes the terms of four consecutive elements along k of vector i.
template <class F>
__device__ __forceinline__ void write_terms(const Operand& x, int i, int k, float4 four,
                                            int scale) {
  const float r[4] = {four.x, four.y, four.z, four.w};
  alignas(8) typename F::Term term[F::kTerms][4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    float rest = scale == kExceptional ? 0.0F : times_power(r[j], scale);
#pragma unroll
    for (int t = 0; t < F::kTerms; ++t) {
      term[t][j] = static_cast<typename F::Term>(rest);
      rest -= static_cast<float>(term[t][j]);  // exact
    }
  }
  // The swizzle: a 16-byte chunk's number XOR the number of its 128 bytes.
  int at = i % F::kVectors * F::kRowBytes + k % F::BK * 2;
  at ^= at >> 3 & (F::kRowBytes - 16);
  const std::int64_t unit = static_cast<std::int64_t>(i / F::kVectors) * x.slabs + k / F::BK;
  char* const gTerm = x.gUnits + unit * sizeof(typename F::Unit) + at;
#pragma unroll
  for (int t = 0; t < F::kTerms; ++t) {
    *reinterpret_cast<uint2*>(gTerm + t * F::kVectors * F::kRowBytes) =
        *reinterpret_cast<const uint2*>(term[t]);
  }
}

// Splits vectors that are contiguous along k, one per block. The second read of a vector hits L1.
template <class F, bool kAligned>
__global__ void __launch_bounds__(kThreads) split_along(const __grid_constant__ Operand x) {
  __shared__ std::uint32_t s[kThreads / 32];
  const int i = static_cast<int>(blockIdx.x), tid = static_cast<int>(threadIdx.x);
  const int end = i < x.vectors ? x.k : 0;
  const float* const gX = x.g + i * x.ld;
  const auto load = [&](int k) -> float4 {
    if (kAligned) return k < end ? *reinterpret_cast<const float4*>(gX + k) : float4{};
    const auto one = [&](int at) { return at < end ? gX[at] : 0.0F; };
    return {one(k), one(k + 1), one(k + 2), one(k + 3)};
  };
  std::uint32_t largest = 0;
#pragma unroll 4
  for (int k = 4 * tid; k < end; k += 4 * kThreads) largest = max(largest, magnitude(load(k)));
  s[tid / 32] = __reduce_max_sync(0xFFFFFFFFU, largest);
  __syncthreads();
#pragma unroll
  for (const std::uint32_t other : s) largest = max(largest, other);
  if (tid == 0) x.gLargest[i] = largest;
#pragma unroll 4
  for (int k = 4 * tid; k < x.slabs * F::BK; k += 4 * kThreads) {
    write_terms<F>(x, i, k, load(k), scale_of<F>(largest));
  }
}

// Finds the largest magnitudes of vectors that are not contiguous along k: one vector per thread,
// every gridDim.y-th k.
template <class F>
__global__ void __launch_bounds__(kThreads) largest_across(const __grid_constant__ Operand x) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i >= x.vectors) return;
  std::uint32_t largest = 0;
#pragma unroll 8
  for (int k = static_cast<int>(blockIdx.y); k < x.k; k += static_cast<int>(gridDim.y)) {
    largest = max(largest, __float_as_uint(fabsf(x.g[k * x.ld + i])));
  }
  atomicMax(x.gLargest + i, largest);
}

// Then splits them, in tiles of kEdge x kEdge that are transposed in shared memory. Blocks begin
// with the largest k, which L2 still holds.
template <class F>
__global__ void __launch_bounds__(kThreads) split_across(const __grid_constant__ Operand x) {
  __shared__ float s[kEdge][kEdge + 1];  // (k, vector)
  const int block = static_cast<int>(gridDim.x - 1 - blockIdx.x), strips = x.padded / kEdge;
  const int i0 = block % strips * kEdge, k0 = block / strips * kEdge;
  const int tid = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int j = 0; j < kEdge * kEdge / kThreads; ++j) {
    const int i = tid % kEdge, k = tid / kEdge + j * (kThreads / kEdge);
    const bool inside = i0 + i < x.vectors && k0 + k < x.k;
    s[k][i] = inside ? x.g[(k0 + k) * x.ld + i0 + i] : 0.0F;
  }
  __syncthreads();
#pragma unroll
  for (int j = tid; j < kEdge * kEdge / 4; j += kThreads) {
    const int i = j / (kEdge / 4), k = j % (kEdge / 4) * 4;
    const float4 four{s[k][i], s[k + 1][i], s[k + 2][i], s[k + 3][i]};
    if (k0 + k < x.slabs * F::BK)
      write_terms<F>(x, i0 + i, k0 + k, four, scale_of<F>(x.gLargest[i0 + i]));
  }
}

// Element (row, col) of C.
__device__ __forceinline__ void store(const Product& x, int row, int col, float sum) {
  float* const gC = x.gC + row * x.ldc + col;
  *gC = x.alpha * sum + (x.beta == 0.0F ? 0.0F : x.beta * *gC);
}

// The same for it and its right neighbour, at an aligned address.
__device__ __forceinline__ void store(const Product& x, int row, int col, float2 sums) {
  auto* const gC = reinterpret_cast<float2*>(x.gC + row * x.ldc + col);
  const float2 old = x.beta == 0.0F ? float2{} : *gC;
  *gC = {x.alpha * sums.x + x.beta * old.x, x.alpha * sums.y + x.beta * old.y};
}

// Plain vectors: zeros, and those whose scales are within 2^-63 and 2^63, so that the scales of any
// two combine to one normal factor.
template <class F>
constexpr std::uint32_t kLeastPlain = (127 - 63 + F::kTop) << 23;  // bits of the largest magnitude
template <class F>
__device__ __forceinline__ bool is_plain(std::uint32_t largest) {
  return largest == 0 || largest - kLeastPlain<F> < 127U << 23;
}
// The inverse of a plain vector's scale.
template <class F>
__device__ __forceinline__ float unscale(std::uint32_t largest) {
  return __uint_as_float((max(largest, kLeastPlain<F>) & kInfinity) - (F::kTop << 23));
}

// One warp computes again, from the operands and in FP32, the elements in `rows` x `cols` of C from
// (row0, col0) that store_pair() leaves out. The lanes split k.
__device__ __forceinline__ void store_exceptional(const Product& x, int row0, int rows, int col0,
                                                  int cols) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int row = row0; row < min(row0 + rows, x.a.vectors); ++row) {
    for (int col = col0; col < min(col0 + cols, x.b.vectors); ++col) {
      if (max(x.a.gLargest[row], x.b.gLargest[col]) < kInfinity) continue;
      float sum = 0.0F;
      for (int k = lane; k < x.a.k; k += 32) sum = fmaf(x.a.at(row, k), x.b.at(col, k), sum);
      for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xFFFFFFFFU, sum, lanes);
      if (lane == 0) store(x, row, col, sum);
    }
  }
}

// A warp stores its sums of products of scaled terms: 16 rows of a tile from row0 on, halves of
// kVectors columns from col0 on. ptx/wgmma.cuh says which of them a thread holds. Undoing any scale
// takes eight times as many instructions as undoing plain ones.
template <class F, int kHalves, int kSums>
__device__ __forceinline__ void store_sums(const Product& x, const float (&sums)[kHalves][kSums],
                                           int row0, int col0) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row[2] = {row0 + lane / 4, row0 + lane / 4 + 8};
  const std::uint32_t of_row[2] = {__ldg(x.a.gLargest + row[0]), __ldg(x.a.gLargest + row[1])};
  bool plain = is_plain<F>(of_row[0]) && is_plain<F>(of_row[1]);
#pragma unroll
  for (int i = 0; i < kHalves * F::kVectors; i += 32)
    plain &= is_plain<F>(__ldg(x.b.gLargest + col0 + i + lane));
  const auto for_each_pair = [&](const auto& store) {
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
#pragma unroll
      for (int i = 0; i < kSums; i += 2) {
        const int col = col0 + half * F::kVectors + i / 4 * 8 + lane % 4 * 2;
        const uint2 of_col = __ldg(reinterpret_cast<const uint2*>(x.b.gLargest + col));
        store(i / 2 % 2, col, of_col, sums[half] + i);
      }
    }
  };
  const bool inside = row0 + 16 <= x.a.vectors && col0 + kHalves * F::kVectors <= x.b.vectors;
  if (__all_sync(0xFFFFFFFFU, plain && inside && x.pairs)) {
    const float unscaled[2] = {unscale<F>(of_row[0]), unscale<F>(of_row[1])};
    for_each_pair([&](int e, int col, uint2 of_col, const float* two) {
      store(x, row[e], col,
            float2{two[0] * (unscaled[e] * unscale<F>(of_col.x)),
                   two[1] * (unscaled[e] * unscale<F>(of_col.y))});
    });
    return;
  }
  bool exceptional = false;
  for_each_pair([&](int e, int col, uint2 of_col, const float* two) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int scale = scale_of<F>(of_row[e]), other = scale_of<F>(i == 0 ? of_col.x : of_col.y);
      const bool odd = max(scale, other) == kExceptional;
      if (row[e] < x.a.vectors && col + i < x.b.vectors && !odd)
        store(x, row[e], col + i, times_power(two[i], -scale - other));
      exceptional |= odd;
    }
  });
  if (__any_sync(0xFFFFFFFFU, exceptional))
    store_exceptional(x, row0, 16, col0, kHalves * F::kVectors);
}

// Requires Hopper, and sizes that fit int.
inline Status accept(const Problem& p, const Device& device) {
  if (device.cc != 90) {
    return {Code::kUnsupportedDevice,
            "needs Hopper's wgmma (compute capability 9.0), " + device.name + " has none"};
  }
  if (std::max({p.m, p.n, p.k}) <= std::int64_t{1} << 28) return Status::ok();
  return {Code::kUnsupportedProblem, "takes sizes of at most 2^28, not " + to_string(p)};
}

// Enqueues the pre-pass of one operand, which writes to `to`.
template <class F>
void split(Operand& x, char* to, cudaStream_t stream) {
  x.gLargest = reinterpret_cast<std::uint32_t*>(to);
  x.gUnits = to + x.padded * sizeof(*x.gLargest);
  if (x.along_k) {
    const auto kernel = x.aligned ? split_along<F, true> : split_along<F, false>;
    return kernel<<<x.padded, kThreads, 0, stream>>>(x);
  }
  cudaMemsetAsync(x.gLargest, 0, x.padded * sizeof(*x.gLargest), stream);
  if (x.k == 0) return;
  const int steps = (x.slabs * F::BK + kEdge - 1) / kEdge;
  const dim3 grid((x.vectors + kThreads - 1) / kThreads, std::min(x.k, kEdge));
  largest_across<F><<<grid, kThreads, 0, stream>>>(x);
  split_across<F><<<x.padded / kEdge * steps, kThreads, 0, stream>>>(x);
}

// Describes a call and enqueues its pre-pass, for tiles of BM x BN. `memory` must live until the
// product has been enqueued. Errors: kLaunchFailed.
template <class F>
Status split_operands(const Problem& original, const Operands& given, int BM, int BN,
                      cudaStream_t stream, CallMemory& memory, Product& x) {
  auto [p, swapped] = as_row_major(original);
  const Operands o = swapped ? Operands{given.b, given.a, given.c} : given;
  if (!reads_ab(p)) p.alpha = 0.0F, p.k = 0;  // all sums are zero
  const int k = static_cast<int>(p.k), slabs = (k + F::BK - 1) / F::BK;
  const auto operand = [&](const float* g, std::int64_t ld, bool along_k, int vectors, int tile) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(g) % 16 == 0 && ld % 4 == 0 && k % 4 == 0;
    const int padded = (vectors + tile - 1) / tile * tile;
    return Operand{g, ld, along_k, aligned, vectors, padded, k, slabs};
  };
  x.a = operand(o.a, p.lda, p.op_a == Op::kNone, static_cast<int>(p.m), BM);
  x.b = operand(o.b, p.ldb, p.op_b == Op::kTranspose, static_cast<int>(p.n), BN);
  x.gC = o.c, x.ldc = p.ldc, x.alpha = p.alpha, x.beta = p.beta;
  x.pairs = reinterpret_cast<std::uintptr_t>(o.c) % sizeof(float2) == 0 && p.ldc % 2 == 0;
  const std::int64_t bytes = 4 + std::int64_t{slabs} * F::kTerms * F::kRowBytes;  // per vector
  if (Status s = memory.take(stream, bytes * (x.a.padded + x.b.padded), 0); !s) return s;
  split<F>(x.a, memory.scratch(), stream);
  split<F>(x.b, memory.scratch() + bytes * x.a.padded, stream);
  return launched("split pre-pass");
}

}  // namespace ladder::terms
