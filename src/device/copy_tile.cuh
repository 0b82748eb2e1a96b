// SPDX-License-Identifier: Apache-2.0
// Copies tiles of an operand to shared memory: BK steps of k by SIZE rows of op(A) or columns of op(B), with k as the
// slow index there, whichever is slow in memory. A tile's edge is repeated beyond the matrix: the products land in
// outputs that nobody stores. Beyond the end of k there are zeros.
#pragma once
#include "device/ptx/cp_async.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// op(A)' or op(B) as it lies in memory.
struct Source {
  const float* g;
  std::int64_t ld;
  int size;      // rows of op(A), columns of op(B)
  bool along_k;  // k is the fast index, so that a copy transposes
};

// Rows in shared memory are 4 elements longer than a tile: 8 steps x 4 neighbours, which a warp transposes at once,
// lie in 32 banks.
constexpr int kRowPadding = 4;

// By cp.async, by kThreads threads. kAlongK: an element at a time. Otherwise four where kAligned.
template <int SIZE, int BK, int kThreads, bool kAlongK, bool kAligned>
class TileCopy {
  static constexpr int kRow = SIZE + kRowPadding;  // elements, in shared memory
  static constexpr int kWidth = !kAlongK && kAligned ? 4 : 1;
  static constexpr int kChunks = SIZE / kWidth;  // of a row
  static constexpr int kAcross = kAlongK              ? kThreads / BK
                                 : kChunks < kThreads ? kChunks
                                                      : kThreads;  // threads
  static constexpr int kDeep = kThreads / kAcross;
  static constexpr int kPieces = kChunks / kAcross;  // along the row
  static constexpr int kPasses = BK / kDeep;         // along k
  static_assert(!kAlongK || BK == 8, "a 32-byte sector of each row, in 32 banks of shared memory");
  static_assert(kThreads % kAcross == 0 && kChunks % kAcross == 0 && BK % kDeep == 0, "whole passes");

 public:
  static constexpr bool kStores = false;  // the copies are all asynchronous

  // From row or column i0 and step k on; `left` steps to copy.
  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int /*left*/, int tid) : ld_(x.ld) {
    const int across = kAlongK ? tid / BK : tid % kAcross;
    deep_ = kAlongK ? tid % BK : tid / kAcross;
    at_ = deep_ * kRow + across * kWidth;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const std::int64_t at = min(i0 + (across + i * kAcross) * kWidth, x.size - kWidth);
      g_[i] = kAlongK ? x.g + at * ld_ + (k + deep_) : x.g + (k + deep_) * ld_ + at;
    }
  }

  // Copies the next `depth` steps, at most BK, of `left`.
  __device__ __forceinline__ void operator()(float* s, int depth, int /*left*/) {
    s += at_;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const float* g = g_[i];
#pragma unroll
      for (int j = 0; j < kPasses; ++j) {
        ptx::cp_async<4 * kWidth>(s + j * kDeep * kRow + i * kAcross * kWidth, g, deep_ + j * kDeep < depth);
        if (!kAlongK) g += kDeep * ld_;
      }
      g_[i] = kAlongK ? g_[i] + BK : g;
    }
  }

 private:
  std::int64_t ld_;
  int deep_, at_;
  const float* g_[kPieces];
};

// The transposing copy where rows start on 16 bytes: a thread loads 8 steps of a row by 128 bits, a tile ahead, and
// stores them one by one beside its neighbours'. Fewer and larger requests than cp.async makes.
template <int SIZE, int BK, int kThreads>
class TileCopy<SIZE, BK, kThreads, true, true> {
  static constexpr int kRow = SIZE + kRowPadding;
  static constexpr int kPieces = SIZE / kThreads;
  static_assert(SIZE % kThreads == 0 && BK % 4 == 0, "whole rows, four steps at a time");

 public:
  static constexpr bool kStores = true;

  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int left, int tid) : tid_(tid) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const std::int64_t at = min(i0 + tid + i * kThreads, x.size - 1);
      g_[i] = x.g + at * x.ld + k;
    }
    load(left);
  }

  __device__ __forceinline__ void operator()(float* s, int /*depth*/, int left) {
    s += tid_;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int k = 0; k < BK; k += 4) {
        const float4 v = r_[i][k / 4];
        s[(k + 0) * kRow + i * kThreads] = v.x;
        s[(k + 1) * kRow + i * kThreads] = v.y;
        s[(k + 2) * kRow + i * kThreads] = v.z;
        s[(k + 3) * kRow + i * kThreads] = v.w;
      }
    }
    load(left - BK);
  }

 private:
  __device__ __forceinline__ void load(int left) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int k = 0; k < BK; k += 4) {
        r_[i][k / 4] = k < left ? __ldg(reinterpret_cast<const float4*>(g_[i] + k)) : float4{};
      }
      g_[i] += BK;
    }
  }

  int tid_;
  const float* g_[kPieces];
  float4 r_[kPieces][BK / 4];
};

}  // namespace ladder
