// SPDX-License-Identifier: Apache-2.0
// The pass before a product of split operands. Every row of op(A) and column of op(B), a "line" here, becomes words
// along k: slab after slab of BK elements, of each slab first w0, then w1 (then w2), zeros up to the last slab's end. So a
// line lies as tensor maps want it, whatever its operand's leading dimension, alignment and transposition.
//
// Lines that lie along k are read once. Of others the largest magnitudes are found in a pass of its own.
#pragma once
#include "device/split_words.cuh"
#include "kernels/cuda/launch.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// An operand as the pass reads it, and what it writes.
struct SplitOperand {
  const float* g;  // element (line, k) at line * ld + k, or where not along_k, k * ld + line
  std::int64_t ld;
  int lines;
  bool along_k;
  bool quads;               // four neighbours along k may be loaded at once
  void* gWords;             // (lines, slabs, kWords, BK)
  int* gExponent;           // (lines): s, or kExceptional
  std::uint32_t* gLargest;  // (kChunks, lines), where not along_k
};

namespace split_detail {

constexpr int kChunks = 32;  // of k, each with its own largest magnitudes
constexpr int kThreads = 256;
constexpr int kEdge = 64;  // lines and k of a tile on its way through shared memory

__device__ __forceinline__ std::uint32_t magnitude(float x) { return __float_as_uint(x) & 0x7FFFFFFFU; }

// Writes the words of four neighbours along k, the first being k-th of its line.
template <class F>
__device__ __forceinline__ void store_quad(typename F::Word* gLine, int k, const float (&x)[4], int s) {
  using Word = typename F::Word;
  const bool exceptional = s == kExceptional;
  const int first = min(max(s, -126), 126);
  const float one = power_of_two(first), two = exceptional ? 1.0F : power_of_two(s - first);
  alignas(16) Word r[F::kWords][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    Word words[F::kWords];
    split<F>(exceptional ? 0.0F : x[i] * one * two, words);
#pragma unroll
    for (int w = 0; w < F::kWords; ++w) r[w][i] = words[w];
  }
  Word* g = gLine + k / F::BK * (F::kWords * F::BK) + k % F::BK;
#pragma unroll
  for (int w = 0; w < F::kWords; ++w) {
    if constexpr (sizeof(Word) == 2) {
      *reinterpret_cast<uint2*>(g + w * F::BK) = *reinterpret_cast<const uint2*>(r[w]);
    } else {
      *reinterpret_cast<uint4*>(g + w * F::BK) = *reinterpret_cast<const uint4*>(r[w]);
    }
  }
}

// Lines along k, kWide threads each: in registers where they fit, else read twice.
template <class F, int kWide, int QUADS>
__global__ void __launch_bounds__(kWide < kThreads ? kThreads : kWide)
    split_lines(const __grid_constant__ SplitOperand x, int k, int slabs) {
  constexpr int kBlock = kWide < kThreads ? kThreads : kWide, kReach = 4 * QUADS * kWide;
  const int tid = static_cast<int>(threadIdx.x) % kWide;
  const int line = static_cast<int>(blockIdx.x) * (kBlock / kWide) + static_cast<int>(threadIdx.x) / kWide;
  const bool mine = line < x.lines;
  const float* gX = x.g + static_cast<std::int64_t>(mine ? line : 0) * x.ld;
  const int end = mine ? k : 0;
  float r[QUADS][4];
  const auto load = [&](int from) {
#pragma unroll
    for (int q = 0; q < QUADS; ++q) {
      const int at = from + 4 * (q * kWide + tid);
      if (x.quads && at + 4 <= end) {
        const float4 four = __ldcs(reinterpret_cast<const float4*>(gX + at));
        r[q][0] = four.x, r[q][1] = four.y, r[q][2] = four.z, r[q][3] = four.w;
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) r[q][i] = at + i < end ? gX[at + i] : 0.0F;
      }
    }
  };
  std::uint32_t largest = 0;
  for (int from = 0; from < k; from += kReach) {
    load(from);
#pragma unroll
    for (int q = 0; q < QUADS; ++q) {
#pragma unroll
      for (int i = 0; i < 4; ++i) largest = max(largest, magnitude(r[q][i]));
    }
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = max(largest, __shfl_xor_sync(0xFFFFFFFFU, largest, distance));
  }
  if constexpr (kWide > 32) {
    __shared__ std::uint32_t s[kWide / 32];
    if (tid % 32 == 0) s[tid / 32] = largest;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kWide / 32; ++i) largest = max(largest, s[i]);
  }
  if (!mine) return;
  const int scale = exponent_of_line<F>(largest);
  if (tid == 0) x.gExponent[line] = scale;
  const int padded = slabs * F::BK;
  auto* const gLine = static_cast<typename F::Word*>(x.gWords) +
                      static_cast<std::int64_t>(line) * slabs * (F::kWords * F::BK);
  for (int from = 0; from < padded; from += kReach) {
    if (padded > kReach) load(from);
#pragma unroll
    for (int q = 0; q < QUADS; ++q) {
      const int at = from + 4 * (q * kWide + tid);
      if (at < padded) store_quad<F>(gLine, at, r[q], scale);
    }
  }
}

// The part of k that chunk `chunk` of `chunks` has, in whole tiles.
__device__ __forceinline__ int chunk_begin(int k, int chunk, int chunks) {
  const int tiles = (k + kEdge - 1) / kEdge;
  return static_cast<int>(std::int64_t{tiles} * chunk / chunks) * kEdge;
}

// The largest magnitudes of each line's part in chunk blockIdx.y; lines lie across k.
template <int kDummy = 0>
__global__ void __launch_bounds__(kThreads) largest_across(const __grid_constant__ SplitOperand x, int k) {
  constexpr int kRows = kThreads / kEdge;
  __shared__ std::uint32_t s[kRows][kEdge];
  const int lane = static_cast<int>(threadIdx.x) % kEdge, row = static_cast<int>(threadIdx.x) / kEdge;
  const int line = static_cast<int>(blockIdx.x) * kEdge + lane, chunk = static_cast<int>(blockIdx.y);
  const int begin = chunk_begin(k, chunk, kChunks), end = min(k, chunk_begin(k, chunk + 1, kChunks));
  std::uint32_t largest = 0;
  if (line < x.lines) {
#pragma unroll 8
    for (int at = begin + row; at < end; at += kRows) {
      largest = max(largest, magnitude(x.g[at * x.ld + line]));
    }
  }
  s[row][lane] = largest;
  __syncthreads();
  if (row > 0 || line >= x.lines) return;
#pragma unroll
  for (int i = 1; i < kRows; ++i) largest = max(largest, s[i][lane]);
  x.gLargest[static_cast<std::int64_t>(chunk) * x.lines + line] = largest;
}

// Lines across k, by tiles of kEdge x kEdge through shared memory.
template <class F>
__global__ void __launch_bounds__(kThreads)
    split_across(const __grid_constant__ SplitOperand x, int k, int slabs) {
  constexpr int kRows = kThreads / kEdge;
  __shared__ float s[kEdge][kEdge + 1];  // (k, line); a column lies in banks of its own
  __shared__ int sScale[kEdge];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % kEdge, row = tid / kEdge;
  const int line0 = static_cast<int>(blockIdx.x) * kEdge, line = line0 + lane;
  if (row == 0 && line < x.lines) {
    std::uint32_t largest = 0;
#pragma unroll 8
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      largest = max(largest, x.gLargest[static_cast<std::int64_t>(chunk) * x.lines + line]);
    }
    sScale[lane] = exponent_of_line<F>(largest);
    if (blockIdx.y == 0) x.gExponent[line] = sScale[lane];
  }
  const int padded = slabs * F::BK;
  for (int k0 = static_cast<int>(blockIdx.y) * kEdge; k0 < padded;
       k0 += static_cast<int>(gridDim.y) * kEdge) {
    float r[kEdge / kRows];
#pragma unroll
    for (int i = 0; i < kEdge / kRows; ++i) {
      const int at = k0 + row + i * kRows;
      r[i] = at < k && line < x.lines ? x.g[at * x.ld + line] : 0.0F;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kEdge / kRows; ++i) s[row + i * kRows][lane] = r[i];
    __syncthreads();
    constexpr int kQuadsOfLine = kEdge / 4;
#pragma unroll
    for (int i = tid; i < kEdge * kQuadsOfLine; i += kThreads) {
      const int l = i / kQuadsOfLine, q = 4 * (i % kQuadsOfLine);
      if (line0 + l >= x.lines || k0 + q >= padded) continue;
      const float four[4] = {s[q][l], s[q + 1][l], s[q + 2][l], s[q + 3][l]};
      auto* const gLine = static_cast<typename F::Word*>(x.gWords) +
                          static_cast<std::int64_t>(line0 + l) * slabs * (F::kWords * F::BK);
      store_quad<F>(gLine, k0 + q, four, sScale[l]);
    }
  }
}

}  // namespace split_detail

// Bytes of the words, the exponents and the largest magnitudes of an operand, each part on 1024.
struct SplitBytes {
  std::int64_t words, exponents, largest;
  std::int64_t all() const { return words + exponents + largest; }
};
template <class F>
SplitBytes split_bytes(std::int64_t lines, std::int64_t k, bool along_k) {
  constexpr std::int64_t kGrain = 1024;
  constexpr std::int64_t kTileLines = 256;  // exponents are read by whole tiles
  const auto whole = [](std::int64_t bytes) { return ceil_div(bytes, kGrain) * kGrain; };
  const std::int64_t slabs = ceil_div(k, F::BK);
  return {whole(lines * slabs * F::kWords * F::kSlabBytes),
          whole(ceil_div(lines, kTileLines) * kTileLines * 4),
          along_k ? 0 : whole(std::int64_t{split_detail::kChunks} * lines * 4)};
}

// Enqueues the pass over one operand. Errors: kLaunchFailed.
template <class F>
Status split_operand(const SplitOperand& x, int k, cudaStream_t stream) {
  using namespace split_detail;
  const int slabs = static_cast<int>(ceil_div(k, F::BK));
  const auto groups = [&](int of) { return static_cast<unsigned>(ceil_div(x.lines, of)); };
  if (x.along_k) {
    if (k <= 256) {
      split_lines<F, 32, 2><<<groups(8), kThreads, 0, stream>>>(x, k, slabs);
    } else if (k <= 1024) {
      split_lines<F, 256, 1><<<groups(1), kThreads, 0, stream>>>(x, k, slabs);
    } else if (k <= 4096) {
      split_lines<F, 256, 4><<<groups(1), kThreads, 0, stream>>>(x, k, slabs);
    } else if (k <= 8192) {
      split_lines<F, 256, 8><<<groups(1), kThreads, 0, stream>>>(x, k, slabs);
    } else {
      split_lines<F, 512, 8><<<groups(1), 512, 0, stream>>>(x, k, slabs);
    }
  } else {
    largest_across<><<<dim3(groups(kEdge), kChunks), kThreads, 0, stream>>>(x, k);
    constexpr unsigned kAtOnce = 4;  // tiles a block
    const auto tiles = static_cast<unsigned>(ceil_div(std::int64_t{slabs} * F::BK, kEdge));
    const unsigned rows = std::min<unsigned>((tiles + kAtOnce - 1) / kAtOnce, kMaxGridYZ);
    split_across<F><<<dim3(groups(kEdge), rows), kThreads, 0, stream>>>(x, k, slabs);
  }
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess
             ? Status::ok()
             : Status{Code::kLaunchFailed, std::string("split: ") + cudaGetErrorString(error)};
}

}  // namespace ladder
