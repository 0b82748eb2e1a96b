// SPDX-License-Identifier: Apache-2.0
// Copies tiles of an operand to shared memory: BK steps of k by kSize rows of op(A) or columns of
// op(B). In shared memory, k is always the slow index. Beyond the matrix, the tile's edge is
// repeated or zero, and the resulting outputs are not stored. Beyond the end of k, elements are
// zero.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "device/ptx/shared_memory.cuh"

#include <cstdint>
#include <type_traits>

namespace ladder {

// op(A)' or op(B) in memory.
struct Source {
  const float* g;
  std::int64_t ld;
  int size;      // rows of op(A), columns of op(B)
  bool along_k;  // k is the fast index, so that a copy transposes
  bool aligned;  // rows in memory are 16-byte aligned and a multiple of four elements long
};

// Rows in shared memory, one per step of k, are padded by 4 elements, and every eight rows by 8
// more: what a warp transposes together, 8 steps of 4 rows or 16 of 8, is in different banks.
constexpr int kRowPadding = 4, kRowsAtOnce = 8;

// Elements from a step of k to the eighth after it.
template <int kSize>
__host__ __device__ constexpr int group_stride() {
  return kRowsAtOnce * (kSize + kRowPadding) + 8;
}
template <int kSize, int BK>
__host__ __device__ constexpr int shared_rows() {
  static_assert(BK % kRowsAtOnce == 0, "whole groups");
  return BK / kRowsAtOnce * group_stride<kSize>();
}
template <int kSize>
__device__ __forceinline__ int row_at(int step) {
  return step / kRowsAtOnce * group_stride<kSize>() + step % kRowsAtOnce * (kSize + kRowPadding);
}

// kThreads threads copy to a shared address: whole(s, left) copies the next BK of `left` steps,
// part(s, left) the last ones, if they are fewer. The loop over whole tiles has few instructions
// besides the copies, because the producers only get the issue slots that the consumers leave.
// Those of elements take any operand, the others aligned ones.

// The transposing copy: neighbouring lanes load a row's BK steps with 128-bit accesses, one tile
// ahead, and store the elements one by one. This makes fewer and larger requests than cp.async.
template <int kSize, int BK, int kThreads>
class TransposingCopy {
  static constexpr int kRow = kSize + kRowPadding;
  static constexpr int kLanes = BK / 4;              // of a row
  static constexpr int kAcross = kThreads / kLanes;  // rows at once
  static constexpr int kPieces = kSize / kAcross;
  static_assert(kSize % kAcross == 0 && BK % 4 == 0, "whole rows, four steps at a time");

 public:
  static constexpr bool kStores = true;

  __device__ __forceinline__ TransposingCopy(const Source& x, int i0, int k, int left, int tid)
      : deep_(tid % kLanes * 4) {
    const int row = tid / kLanes;
    at_ = (row_at<kSize>(deep_) + row) * 4;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const std::int64_t at = min(i0 + row + i * kAcross, x.size - 1);
      g_[i] = x.g + at * x.ld + k + deep_;
    }
    load(left);
  }

  __device__ __forceinline__ void whole(std::uint32_t s, int left) {
    part(s, BK);
    if (left >= 2 * BK) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
        r_[i] = __ldg(reinterpret_cast<const float4*>(g_[i]));
        g_[i] += BK;
      }
    } else {
      load(left - BK);
    }
  }

  __device__ __forceinline__ void part(std::uint32_t s, int /*left*/) {
    s += at_;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      ptx::store_shared(s + (0 * kRow + i * kAcross) * 4, r_[i].x);
      ptx::store_shared(s + (1 * kRow + i * kAcross) * 4, r_[i].y);
      ptx::store_shared(s + (2 * kRow + i * kAcross) * 4, r_[i].z);
      ptx::store_shared(s + (3 * kRow + i * kAcross) * 4, r_[i].w);
    }
  }

 private:
  __device__ __forceinline__ void load(int left) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      r_[i] = deep_ < left ? __ldg(reinterpret_cast<const float4*>(g_[i])) : float4{};
      g_[i] += BK;
    }
  }

  int deep_, at_;  // at_ in bytes
  const float* g_[kPieces];
  float4 r_[kPieces];
};

// The copy without transposition, with 128-bit accesses: a thread copies vectors of one row only,
// so that it needs one pointer.
template <int kSize, int BK, int kThreads>
class VectorCopy {
  static constexpr int kAcross = kThreads / BK;
  static constexpr int kPieces = kSize / 4 / kAcross;
  static_assert(kThreads % BK == 0 && kSize % (4 * kAcross) == 0, "whole rows");

 public:
  static constexpr bool kStores = false;

  __device__ __forceinline__ VectorCopy(const Source& x, int i0, int k, int /*left*/, int tid)
      : deep_(tid / kAcross), step_(x.ld * BK) {
    const int i = i0 + tid % kAcross * 4;
    at_ = (row_at<kSize>(deep_) + tid % kAcross * 4) * 4;
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

// 4-byte copies; neighbouring lanes copy 8 steps of k of 4 rows, which differ in their banks.
template <int kSize, int BK, int kThreads>
class TransposingElementCopy {
  static constexpr int kAcross = kThreads / kRowsAtOnce;  // rows at once
  static_assert(kSize % kAcross == 0, "whole rows");

 public:
  static constexpr bool kStores = false;

  __device__ __forceinline__ TransposingElementCopy(const Source& x, int i0, int k, int /*left*/,
                                                    int tid)
      : deep_(tid % kRowsAtOnce), step_(x.ld * kAcross) {
    const int row = tid / kRowsAtOnce;
    at_ = (row_at<kSize>(deep_) + row) * 4;
    rows_ = x.size - i0 - row;
    g_ = x.g + (i0 + row) * x.ld + k + deep_;
  }

  __device__ __forceinline__ void whole(std::uint32_t s, int /*left*/) {
    const float* g = g_;
#pragma unroll
    for (int i = 0; i < kSize; i += kAcross, g += step_) copy(s + i * 4, g, i < rows_, BK);
    g_ += BK;
  }
  __device__ __forceinline__ void part(std::uint32_t s, int left) {
    const float* g = g_;
#pragma unroll 1
    for (int i = 0; i < kSize; i += kAcross, g += step_) copy(s + i * 4, g, i < rows_, left);
  }

 private:
  __device__ __forceinline__ void copy(std::uint32_t s, const float* g, bool inside, int left) {
#pragma unroll
    for (int k = 0; k < BK; k += kRowsAtOnce)
      ptx::cp_async<4>(s + at_ + row_at<kSize>(k) * 4, g + k, inside && deep_ + k < left);
  }

  int deep_, at_, rows_;  // at_ in bytes
  std::int64_t step_;
  const float* g_;
};

// 4-byte copies; a warp copies 32 neighbours in memory.
template <int kSize, int BK, int kThreads>
class ElementCopy {
  static constexpr int kWarps = kThreads / 32, kPieces = kSize / 32;
  static_assert(BK % kWarps == 0 && kRowsAtOnce % kWarps == 0 && kSize % 32 == 0, "whole rows");

 public:
  static constexpr bool kStores = false;

  __device__ __forceinline__ ElementCopy(const Source& x, int i0, int k, int /*left*/, int tid)
      : deep_(tid / 32), step_(x.ld * kWarps) {
    const int i = i0 + tid % 32;
    at_ = (row_at<kSize>(deep_) + tid % 32) * 4;
    g_ = x.g + (k + deep_) * x.ld + i;
    columns_ = x.size - i;
  }

  __device__ __forceinline__ void whole(std::uint32_t s, int /*left*/) {
#pragma unroll
    for (int k = 0; k < BK; k += kWarps, g_ += step_) copy(s + row_at<kSize>(k) * 4, true);
  }
  __device__ __forceinline__ void part(std::uint32_t s, int left) {
#pragma unroll 1
    for (int k = 0; k < BK; k += kWarps, g_ += step_)
      copy(s + row_at<kSize>(k) * 4, deep_ + k < left);
  }

 private:
  __device__ __forceinline__ void copy(std::uint32_t s, bool inside) {
#pragma unroll
    for (int p = 0; p < kPieces; ++p)
      ptx::cp_async<4>(s + at_ + p * 128, g_ + p * 32, inside && p * 32 < columns_);
  }

  int deep_, at_, columns_;  // at_ in bytes
  std::int64_t step_;
  const float* g_;
};

template <int kSize, int BK, int kThreads, bool kAlongK, bool kAligned>
using CopyOf =
    std::conditional_t<kAligned,
                       std::conditional_t<kAlongK, TransposingCopy<kSize, BK, kThreads>,
                                          VectorCopy<kSize, BK, kThreads>>,
                       std::conditional_t<kAlongK, TransposingElementCopy<kSize, BK, kThreads>,
                                          ElementCopy<kSize, BK, kThreads>>>;

}  // namespace ladder
