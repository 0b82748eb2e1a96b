// SPDX-License-Identifier: Apache-2.0
// Four elements at a time. Accesses are 128-bit ones if all sizes and addresses are multiples of
// four elements, else guarded 32-bit ones. The decision (aligned_by_4) is made per launch, not per
// access.
#pragma once
#include <ladder/kernel.hpp>

#include <cstdint>

namespace ladder {

// Whether every row of every operand is 16-byte aligned and a multiple of four elements long.
inline bool aligned_by_4(const Problem& p, const Operands& o) {
  const auto address = [](const float* x) { return reinterpret_cast<std::uintptr_t>(x); };
  const bool sizes = (p.n | p.k | p.lda | p.ldb | p.ldc) % 4 == 0;
  return sizes && (address(o.a) | address(o.b) | address(o.c)) % sizeof(float4) == 0;
}

// Whether the rows of one matrix begin at multiples of 16 bytes.
inline bool has_aligned_rows(const float* g, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(g) % sizeof(float4) == 0 && ld % 4 == 0;
}

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
__device__ __forceinline__ float4 load4(const float* x) {
  return *reinterpret_cast<const float4*>(x);
}
__device__ __forceinline__ void store4(float* x, float4 v) { *reinterpret_cast<float4*>(x) = v; }

// Index along a tile of a lane's row or column number i: kLanes lanes alternate in groups of four.
template <int kLanes>
__device__ __forceinline__ constexpr int index_of(int lane, int i) {
  return i / 4 * (kLanes * 4) + lane * 4 + i % 4;
}

// Loads elements 0 to 3 from g, with zeros at or beyond `left`. kAligned: g is 16-byte aligned and
// `left` is a multiple of 4.
template <bool kAligned>
__device__ __forceinline__ float4 load4(const float* g, int left) {
  if constexpr (kAligned) return left > 0 ? load4(g) : float4{};
  return {left > 0 ? g[0] : 0.0F, left > 1 ? g[1] : 0.0F, left > 2 ? g[2] : 0.0F,
          left > 3 ? g[3] : 0.0F};
}

// Stores alpha r + beta C for the first `left` of four elements. beta = 0 does not read C.
template <bool kAligned>
__device__ __forceinline__ void store4_scaled(float* gC, const float* r, int left, float alpha,
                                              float beta) {
  if constexpr (kAligned) {
    if (left <= 0) return;
    const float4 c = beta == 0.0F ? float4{} : load4(gC);
    const auto scaled = [&](float acc, float old) {
      return beta == 0.0F ? alpha * acc : alpha * acc + beta * old;
    };
    store4(gC, {scaled(r[0], c.x), scaled(r[1], c.y), scaled(r[2], c.z), scaled(r[3], c.w)});
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (j < left) gC[j] = beta == 0.0F ? alpha * r[j] : alpha * r[j] + beta * gC[j];
    }
  }
}

// The same without branches: every access is predicated, so the compiler keeps no divergence state
// live across it.
template <bool kAligned>
__device__ __forceinline__ void store4_predicated(float* gC, const float* r, int left, float alpha,
                                                  float beta) {
  if constexpr (kAligned) {
    float4 c{};
    if (beta != 0.0F && left > 0) c = load4(gC);
    const float4 v{alpha * r[0] + beta * c.x, alpha * r[1] + beta * c.y, alpha * r[2] + beta * c.z,
                   alpha * r[3] + beta * c.w};
    if (left > 0) store4(gC, v);
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float c = 0.0F;
      if (beta != 0.0F && j < left) c = gC[j];
      const float v = alpha * r[j] + beta * c;
      if (j < left) gC[j] = v;
    }
  }
}

}  // namespace ladder
