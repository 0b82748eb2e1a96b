// SPDX-License-Identifier: Apache-2.0
// Copies tiles of an operand to shared memory: BK steps of k by kSize rows of op(A) or columns of
// op(B). In shared memory, k is always the slow index. Beyond the matrix, the tile's edge is
// repeated or zero, and the resulting outputs are not stored. Beyond the end of k, elements are
// zero.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "device/ptx/shared_memory.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace ladder {

// op(A)' or op(B) in memory.
struct Source {
  const float* g;
  std::int64_t ld;
  int size;      // rows of op(A), columns of op(B)
  bool along_k;  // k is the fast index, so that a copy transposes
};

// Rows in shared memory are padded by 4 elements: the 8 steps x 4 neighbours that a warp transposes
// together are in 32 different banks.
constexpr int kRowPadding = 4;

// kThreads threads copy to a shared address: whole(s, left) copies the next BK of `left` steps,
// part(s, left) the last ones, if they are fewer. The loop over whole tiles has few instructions
// besides the copies, because the producers only get the issue slots that the consumers leave.
//
// This copy uses cp.async, one element at a time.
template <int kSize, int BK, int kThreads, bool kAlongK, bool kAligned>
class TileCopy {
  static constexpr int kRow = kSize + kRowPadding;  // elements, in shared memory
  static constexpr int kAcross = kAlongK ? kThreads / BK : std::min(kSize, kThreads);  // threads
  static constexpr int kDeep = kThreads / kAcross;
  static constexpr int kPieces = kSize / kAcross;  // along the row
  static constexpr int kPasses = BK / kDeep;       // along k
  static_assert(!kAlongK || BK == 8, "a 32-byte sector of each row, in 32 banks of shared memory");
  static_assert(kThreads % kAcross == 0 && kSize % kAcross == 0 && BK % kDeep == 0, "whole passes");

 public:
  static constexpr bool kStores = false;  // all copies are asynchronous

  // Copies start at row or column i0 and step k, with `left` steps.
  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int /*left*/, int tid)
      : ld_(x.ld) {
    const int across = kAlongK ? tid / BK : tid % kAcross;
    deep_ = kAlongK ? tid % BK : tid / kAcross;
    at_ = (deep_ * kRow + across) * 4;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const std::int64_t at = min(i0 + across + i * kAcross, x.size - 1);
      g_[i] = kAlongK ? x.g + at * ld_ + (k + deep_) : x.g + (k + deep_) * ld_ + at;
    }
  }

  __device__ __forceinline__ void whole(std::uint32_t s, int /*left*/) { part(s, BK); }

  __device__ __forceinline__ void part(std::uint32_t s, int left) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const float* g = g_[i];
#pragma unroll
      for (int j = 0; j < kPasses; ++j) {
        ptx::cp_async<4>(s + at_ + (j * kDeep * kRow + i * kAcross) * 4, g,
                         deep_ + j * kDeep < left);
        if (!kAlongK) g += kDeep * ld_;
      }
      g_[i] = kAlongK ? g_[i] + BK : g;
    }
  }

 private:
  std::int64_t ld_;
  int deep_, at_;  // at_ in bytes
  const float* g_[kPieces];
};

// The transposing copy for 16-byte aligned rows: a thread loads 8 steps of a row with 128-bit
// accesses, one tile ahead, and stores the elements one by one. This makes fewer and larger
// requests than cp.async.
template <int kSize, int BK, int kThreads>
class TileCopy<kSize, BK, kThreads, true, true> {
  static constexpr int kRow = kSize + kRowPadding;
  static constexpr int kPieces = kSize / kThreads;
  static_assert(kSize % kThreads == 0 && BK % 4 == 0, "whole rows, four steps at a time");

 public:
  static constexpr bool kStores = true;

  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int left, int tid)
      : tid_(tid) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const std::int64_t at = min(i0 + tid + i * kThreads, x.size - 1);
      g_[i] = x.g + at * x.ld + k;
    }
    load(left);
  }

  __device__ __forceinline__ void whole(std::uint32_t s, int left) {
    part(s, BK);
    if (left >= 2 * BK) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
#pragma unroll
        for (int k = 0; k < BK; k += 4)
          r_[i][k / 4] = __ldg(reinterpret_cast<const float4*>(g_[i] + k));
        g_[i] += BK;
      }
    } else {
      load(left - BK);
    }
  }

  __device__ __forceinline__ void part(std::uint32_t s, int /*left*/) {
    s += tid_ * 4;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int k = 0; k < BK; k += 4) {
        const float4 v = r_[i][k / 4];
        ptx::store_shared(s + ((k + 0) * kRow + i * kThreads) * 4, v.x);
        ptx::store_shared(s + ((k + 1) * kRow + i * kThreads) * 4, v.y);
        ptx::store_shared(s + ((k + 2) * kRow + i * kThreads) * 4, v.z);
        ptx::store_shared(s + ((k + 3) * kRow + i * kThreads) * 4, v.w);
      }
    }
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

// The copy without transposition, with 128-bit accesses: a thread copies vectors of one row only,
// so that it needs one pointer.
template <int kSize, int BK, int kThreads>
class TileCopy<kSize, BK, kThreads, false, true> {
  static constexpr int kRow = kSize + kRowPadding;
  static constexpr int kAcross = kThreads / BK;
  static constexpr int kPieces = kSize / 4 / kAcross;
  static_assert(kThreads % BK == 0 && kSize % (4 * kAcross) == 0, "whole rows");

 public:
  static constexpr bool kStores = false;

  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int /*left*/, int tid)
      : deep_(tid / kAcross), step_(x.ld * BK) {
    const int i = i0 + tid % kAcross * 4;
    at_ = (deep_ * kRow + tid % kAcross * 4) * 4;
    g_ = x.g + (k + deep_) * x.ld + i;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) inside_[p] = i + p * kAcross * 4 < x.size;
  }

  __device__ __forceinline__ void whole(std::uint32_t s, int /*left*/) {
    copy(s, true);
    g_ += step_;
  }
  __device__ __forceinline__ void part(std::uint32_t s, int left) { copy(s, deep_ < left); }

 private:
  __device__ __forceinline__ void copy(std::uint32_t s, bool inside) {
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      ptx::cp_async<16>(s + at_ + p * kAcross * 16, g_ + p * kAcross * 4, inside && inside_[p]);
    }
  }

  int deep_, at_;  // at_ in bytes
  std::int64_t step_;
  const float* g_;
  bool inside_[kPieces];
};

}  // namespace ladder
