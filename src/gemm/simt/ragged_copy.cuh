// SPDX-License-Identifier: Apache-2.0
// Copies an operand whose leading dimension is not a multiple of four to shared memory. If it is
// odd, every fourth row in memory is 16-byte aligned and every second one 8-byte aligned. Each row
// is copied with accesses as wide as its alignment permits. This takes two thirds of the copies
// that 4-byte accesses would take, without branches. Tensor maps of every fourth row are not
// possible: a box's first coordinate must be a multiple of 16 bytes.
#pragma once
#include "device/ptx/cp_async.cuh"
#include "gemm/simt/vector_copy.cuh"

#include <algorithm>
#include <cstdint>

namespace ladder {

// Replaces KMajorCopier for a K-major operand, VectorCopier for others: copies kVectors rows of
// op(A) or columns of op(B), BK elements along k per call. The operand must be 16-byte aligned and
// its leading dimension at most kMostRaggedLd.
template <bool kAlongK, int kVectors, int BK, int kThreads>
class RaggedCopier {
  static constexpr int kRows = kAlongK ? kVectors : BK,
                       kCols = kAlongK ? BK : kVectors;  // in memory
  static constexpr int kRowQuarters = kRows / 4;         // groups of rows with the same alignment
  static_assert(kRows % 4 == 0 && kCols % 4 == 0, "whole float4 in both dimensions");

 public:
  static constexpr int kStride = kCols + 4, kFloats = kRows * kStride;

  __device__ __forceinline__ RaggedCopier(const PartOperand& x, int vector0, int k0)
      : g_(reinterpret_cast<const char*>(x.g + vector0 * x.vector_step + k0 * x.k_step)),
        step_(BK * x.k_step * 4),
        left_(x.vectors - vector0) {
    const auto ld = static_cast<std::uint32_t>(kAlongK ? x.vector_step : x.k_step);
    for_each_copy([&](int copy, int first, int apart, int wide) {
      const Place at(wide);
      // Rows beyond the operand's last one are read from another row with the same alignment; their
      // content is not used.
      const int row = kAlongK ? min(first + 4 * at.row + apart, first + (left_ - 1 - first) / 4 * 4)
                              : first + 4 * at.row + apart;
      offset_[copy] =
          (static_cast<std::uint32_t>(max(row, 0)) * ld + static_cast<std::uint32_t>(at.col)) * 4;
    });
  }

  // Copies the next BK elements along k, of which `left` are in bounds, to `s`.
  __device__ __forceinline__ void copy(std::uint32_t s, int left) {
    // Fewer than four rows do not have all alignments.
    if (left >= BK && (!kAlongK || left_ >= 4)) {
      for_each_copy([&](int copy, int first, int apart, int wide) {
        const Place at(wide);
        put(s + at.shared + (first + apart) * (kStride * 4), copy, wide,
            kAlongK ? wide : min(max(left_ - at.col, 0), wide));
      });
    } else {
      const int rows = kAlongK ? left_ : left, cols = kAlongK ? left : left_;
      for_each_copy([&](int copy, int first, int apart, int wide) {
        const Place at(wide);
        put(s + at.shared + (first + apart) * (kStride * 4), copy, wide,
            first + 4 * at.row + apart < rows ? min(max(cols - at.col, 0), wide) : 0);
      });
    }
    g_ += step_;
  }

 private:
  // Elements per access of rows 0, 1, 2 and 3 of four.
  __host__ __device__ static constexpr int wide_of(int first) {
    return first == 0 ? 4 : first == 2 ? 2 : 1;
  }
  __host__ __device__ static constexpr int at_once(int wide) {
    return kThreads / (kCols / wide);
  }  // vectors
  __host__ __device__ static constexpr int copies_of(int first) {
    return at_once(wide_of(first)) < kRowQuarters ? kRowQuarters / at_once(wide_of(first)) : 1;
  }
  static constexpr int kCopies = copies_of(0) + copies_of(1) + copies_of(2) + copies_of(3);

  // A thread's first elements among the rows with the same alignment.
  struct Place {
    int row, col;
    std::uint32_t shared;
    bool mine;
    __device__ __forceinline__ explicit Place(int wide) {
      const int tid = static_cast<int>(threadIdx.x), across = kCols / wide;
      col = tid % across * wide;
      row = tid / across;
      mine = row < kRowQuarters;
      shared = (row * 4 * kStride + col) * 4;
    }
  };
  // Calls f(number, row of four, further rows, elements per access).
  template <class F>
  __device__ __forceinline__ static void for_each_copy(F f) {
    int copy = 0;
#pragma unroll
    for (int first = 0; first < 4; ++first) {
#pragma unroll
      for (int i = 0; i < copies_of(first); ++i, ++copy)
        f(copy, first, 4 * i * at_once(wide_of(first)), wide_of(first));
    }
  }
  __device__ __forceinline__ void put(std::uint32_t to, int copy, int wide, int count) const {
    const auto* const g = reinterpret_cast<const float*>(g_ + offset_[copy]);
    if (at_once(wide) > kRowQuarters && !Place(wide).mine) return;
    if (wide == 4) {
      ptx::cp_async_first<4>(to, g, count);
    } else if (wide == 2) {
      ptx::cp_async_first<2>(to, g, count);
    } else {
      ptx::cp_async_first<1>(to, g, count);
    }
  }

  const char* g_;
  std::int64_t step_;
  int left_;
  std::uint32_t offset_[kCopies];  // bytes
};

}  // namespace ladder
