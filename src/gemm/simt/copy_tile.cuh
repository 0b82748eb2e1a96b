// SPDX-License-Identifier: Apache-2.0
// Copies tiles of an operand to shared memory: BK steps of k by kSize rows of op(A) or columns of
// op(B). In shared memory, k is always the slow index. Beyond the matrix the copied elements are
// zero or another row's, and the resulting outputs are not stored. Beyond the end of k they are
// zero.
//
// Rows that are not 16-byte aligned come to a raw tile first: aligned vectors by cp.async, some
// tiles ahead. From there producers put them into the tile, shifted. cp.async of single elements
// would make four times the requests, each with a line of L1 of its own.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "device/ptx/global_memory.cuh"
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

// How many elements behind a 16-byte boundary g is.
__device__ __forceinline__ int behind_boundary(const float* g) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(g) / sizeof(float) % 4);
}

// How many of the elements [at, at + 4) are before `end`.
__device__ __forceinline__ int before(int at, int end) { return min(max(end - at, 0), 4); }

// v[i] becomes v[i + shift], for all but the last `shift` of them; shift is 0 to 3.
template <int kSize>
__device__ __forceinline__ void shift_down(float (&v)[kSize], int shift) {
#pragma unroll
  for (int i = 0; i + 2 < kSize; ++i) v[i] = (shift & 2) != 0 ? v[i + 2] : v[i];
#pragma unroll
  for (int i = 0; i + 1 < kSize; ++i) v[i] = (shift & 1) != 0 ? v[i + 1] : v[i];
}

// kThreads threads copy. Of a copy through a raw tile, fetch(raw, left) starts the copies of the
// next BK steps, of which `left` are left, take(raw) reads a raw tile that has arrived, and
// put(tile) stores it; the warp synchronises between them. Others, whose kRaw is 0, have
// fetch(tile, left) alone; kStores: not by cp.async. The code has few instructions besides copies,
// because producers only get the issue slots that consumers leave.
//
// This copy is for rows that need not be aligned and whose slow index is k. A warp copies whole
// rows, from the boundary before their first element on. The boundary is always as far away,
// because BK rows are a multiple of 16 bytes.
template <int kSize, int BK, int kThreads, bool kAlongK, bool kAligned>
class TileCopy {
  static constexpr int kRow = kSize + kRowPadding, kRawRow = kSize + 4;  // elements
  static constexpr int kRows = BK / (kThreads / 32);                     // of a warp
  static constexpr int kVectors = kSize / 4;  // of a row in the tile; its raw row has one more
  static_assert(BK % (kThreads / 32) == 0 && BK % 4 == 0, "whole rows, a multiple of 16 bytes");

 public:
  static constexpr int kRaw = BK * kRawRow;  // elements
  static constexpr bool kStores = true;

  // Copies start at row or column i0 and step k of `depth`.
  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int /*depth*/, int tid)
      : lane_(tid % 32), row_(tid / 32 * kRows), step_(x.ld * BK), left_of_row_(x.size - i0) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      g_[r] = x.g + (k + row_ + r) * x.ld + i0;
      shift_[r] = behind_boundary(g_[r]);
      g_[r] -= shift_[r];
    }
    begins_row_ = i0 == 0;
  }

  __device__ __forceinline__ void fetch(std::uint32_t raw, int left) {
    const auto vector = [&](int r, const float* g, int shift, int i) {
      const int end = row_ + r < left ? left_of_row_ + shift : 0;
      ptx::cp_async_first<4>(raw + ((row_ + r) * kRawRow + i * 4) * 4, g + i * 4,
                             before(i * 4, end));
    };
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int i = 0; i < kVectors; i += 32) {
        if (kVectors < 32 && lane_ >= kVectors) break;
        if (i == 0 && begins_row_ && lane_ == 0 && shift_[r] > 0) {
          first_vector(raw, r, left);
        } else {
          vector(r, g_[r], shift_[r], i + lane_);
        }
      }
    }
    if (lane_ < kRows) {  // the last vectors
      const bool odd = lane_ == 1;
      static_assert(kRows == 2, "one of two");
      vector(lane_, odd ? g_[1] : g_[0], odd ? shift_[1] : shift_[0], kVectors);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) g_[r] += step_;
  }

  __device__ __forceinline__ void take(std::uint32_t raw) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::uint32_t from = raw + ((row_ + r) * kRawRow + lane_ + shift_[r]) * 4;
#pragma unroll
      for (int i = 0; i < kSize / 32; ++i) taken_[r][i] = ptx::load_shared(from + i * 128);
    }
  }

  __device__ __forceinline__ void put(std::uint32_t tile) const {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const std::uint32_t to = tile + ((row_ + r) * kRow + lane_) * 4;
#pragma unroll
      for (int i = 0; i < kSize / 32; ++i) ptx::store_shared(to + i * 128, taken_[r][i]);
    }
  }

 private:
  // The vector that begins before the row.
  __device__ __forceinline__ void first_vector(std::uint32_t raw, int r, int left) const {
#pragma unroll
    for (int e = 1; e < 4; ++e) {
      const bool inside = row_ + r < left && e >= shift_[r] && e - shift_[r] < left_of_row_;
      ptx::cp_async<4>(raw + ((row_ + r) * kRawRow + e) * 4, g_[r] + e, inside);
    }
  }

  int lane_, row_;
  std::int64_t step_;
  int left_of_row_;  // from i0 on
  bool begins_row_;
  const float* g_[kRows];
  int shift_[kRows];
  float taken_[kRows][kSize / 32];
};

// The transposing copy of rows that need not be aligned: a thread copies BK steps of whole rows and
// keeps the last vector of each, which has the next tile's first elements.
template <int kSize, int BK, int kThreads>
class TileCopy<kSize, BK, kThreads, true, false> {
  static constexpr int kRow = kSize + kRowPadding;
  static constexpr int kPieces = std::max(1, kSize / kThreads);
  static_assert(kSize % kThreads == 0 || kThreads % kSize == 0, "whole rows");
  static_assert(BK == 8, "two vectors");

 public:
  static constexpr int kRaw = BK * kSize;
  static constexpr bool kStores = true;

  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int depth, int tid)
      : tid_(tid), left_(depth - k) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const std::int64_t at = min(i0 + tid + i * kThreads, x.size - 1);
      g_[i] = x.g + at * x.ld + k;
      shift_[i] = behind_boundary(g_[i]);
      g_[i] -= shift_[i];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int of_row = k - shift_[i] + e;
        taken_[i][BK + e] = tid_ < kSize && of_row >= 0 && of_row < depth ? __ldg(g_[i] + e) : 0.0F;
      }
    }
  }

  __device__ __forceinline__ void fetch(std::uint32_t raw, int /*left*/) {
    if (kSize < kThreads && tid_ >= kSize) return;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int j = 0; j < BK; j += 4) {
        ptx::cp_async_with_neighbors(raw_vector(raw, i, j / 4), g_[i] + 4 + j,
                                     before(4 + j, left_ + shift_[i]));
      }
      g_[i] += BK;
    }
    left_ -= BK;
  }

  __device__ __forceinline__ void take(std::uint32_t raw) {
    if (kSize < kThreads && tid_ >= kSize) return;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int e = 0; e < 4; ++e) taken_[i][e] = taken_[i][BK + e];
#pragma unroll
      for (int j = 0; j < BK; j += 4)
        ptx::load_shared4(&taken_[i][4 + j], raw_vector(raw, i, j / 4));
    }
  }

  __device__ __forceinline__ void put(std::uint32_t tile) const {
    if (kSize < kThreads && tid_ >= kSize) return;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      float v[BK + 4];
#pragma unroll
      for (int e = 0; e < BK + 4; ++e) v[e] = taken_[i][e];
      shift_down(v, shift_[i]);
#pragma unroll
      for (int k = 0; k < BK; ++k)
        ptx::store_shared(tile + (k * kRow + tid_ + i * kThreads) * 4, v[k]);
    }
  }

 private:
  // Vectors of four neighbours change places with those of the next four: eight lanes' 16-byte
  // loads are in different banks.
  __device__ __forceinline__ std::uint32_t raw_vector(std::uint32_t raw, int i, int j) const {
    return raw + ((tid_ + i * kThreads) * BK + (j ^ tid_ / 4 % 2) * 4) * 4;
  }

  int tid_, left_;  // left_: steps of k that are to be fetched
  const float* g_[kPieces];
  int shift_[kPieces];
  float taken_[kPieces][BK + 4];
};

// The transposing copy for 16-byte aligned rows: a thread loads 8 steps of a row with 128-bit
// accesses, one tile ahead, and stores the elements one by one. This makes fewer and larger
// requests than cp.async.
template <int kSize, int BK, int kThreads>
class TileCopy<kSize, BK, kThreads, true, true> {
  static constexpr int kRow = kSize + kRowPadding;
  static constexpr int kPieces = std::max(1, kSize / kThreads);
  static_assert((kSize % kThreads == 0 || kThreads % kSize == 0) && BK % 4 == 0,
                "whole rows, four steps at a time");

 public:
  static constexpr int kRaw = 0;
  static constexpr bool kStores = true;

  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int depth, int tid)
      : tid_(tid) {
    if (kSize < kThreads && tid >= kSize) return;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const std::int64_t at = min(i0 + tid + i * kThreads, x.size - 1);
      g_[i] = x.g + at * x.ld + k;
    }
    load(depth - k);
  }

  __device__ __forceinline__ void fetch(std::uint32_t tile, int left) {
    if (kSize < kThreads && tid_ >= kSize) return;
    put(tile);
    if (left >= 2 * BK) {
#pragma unroll
      for (int i = 0; i < kPieces; ++i) {
#pragma unroll
        for (int k = 0; k < BK; k += 4) r_[i][k / 4] = ptx::load_with_neighbors(g_[i] + k);
        g_[i] += BK;
      }
    } else {
      load(left - BK);
    }
  }

 private:
  __device__ __forceinline__ void put(std::uint32_t s) {
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

  __device__ __forceinline__ void load(int left) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
#pragma unroll
      for (int k = 0; k < BK; k += 4) {
        r_[i][k / 4] = k < left ? ptx::load_with_neighbors(g_[i] + k) : float4{};
      }
      g_[i] += BK;
    }
  }

  int tid_;
  const float* g_[kPieces];
  float4 r_[kPieces][BK / 4];
};

// The copy of aligned rows as they are: a thread copies vectors of one row only, so that it needs
// one pointer.
template <int kSize, int BK, int kThreads>
class TileCopy<kSize, BK, kThreads, false, true> {
  static constexpr int kRow = kSize + kRowPadding;
  static constexpr int kAcross = kThreads / BK;
  static constexpr int kPieces = kSize / 4 / kAcross;
  static_assert(kThreads % BK == 0 && kSize % (4 * kAcross) == 0, "whole rows");

 public:
  static constexpr int kRaw = 0;
  static constexpr bool kStores = false;

  __device__ __forceinline__ TileCopy(const Source& x, int i0, int k, int /*depth*/, int tid)
      : deep_(tid / kAcross), step_(x.ld * BK) {
    const int i = i0 + tid % kAcross * 4;
    at_ = (deep_ * kRow + tid % kAcross * 4) * 4;
    g_ = x.g + (k + deep_) * x.ld + i;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) inside_[p] = i + p * kAcross * 4 < x.size;
  }

  __device__ __forceinline__ void fetch(std::uint32_t tile, int left) {
    if (left >= BK) {
      copy(tile, true);
    } else {
      copy(tile, deep_ < left);
    }
    g_ += step_;
  }

 private:
  __device__ __forceinline__ void copy(std::uint32_t tile, bool is_step) const {
#pragma unroll
    for (int p = 0; p < kPieces; ++p)
      ptx::cp_async<16>(tile + at_ + p * kAcross * 16, g_ + p * kAcross * 4, is_step && inside_[p]);
  }

  int deep_, at_;  // at_ in bytes
  std::int64_t step_;
  const float* g_;
  bool inside_[kPieces];
};

}  // namespace ladder
