// SPDX-License-Identifier: Apache-2.0
// Copies lines (rows of op(A) or columns of op(B)) to shared memory: with 16-byte copies if the
// elements are contiguous on both sides and aligned, else with 4-byte copies.
#pragma once
#include "device/ptx/cp_async.cuh"

#include <algorithm>
#include <cstdint>

namespace ladder {

// An operand: element (line, k) at g + line * line_step + k * k_step, one of the steps being 1.
struct LineSide {
  const float* g;
  std::int64_t line_step, k_step;
  int lines;
  bool quads;  // aligned groups of four elements permit 128-bit reads
};

// kThreads threads copy kLines lines to shared memory (BK, kStride), BK elements along k per call.
// Elements beyond k are zero. Lines beyond the operand's last are zero or keep their old content;
// no stored sum contains them.
template <int kLines, int BK, int kThreads>
class LineCopier {
 public:
  static constexpr int kStride =
      kLines + 4;  // 4 lines x 8 k are in 32 banks; float4 are 16-byte aligned
  static constexpr int kFloats = BK * kStride;

  __device__ __forceinline__ LineCopier(const LineSide& x, int line0, int k0)
      : quads_(x.line_step == 1 && x.quads),
        along_k_(x.k_step == 1 && !quads_),
        step_(BK * x.k_step) {
    const int tid = static_cast<int>(threadIdx.x);
    // Lanes follow the contiguous dimension; along k, a warp copies 8 k of 4 lines.
    const int line = quads_ ? tid % kQuads * 4 : along_k_ ? tid / 8 % kLinesAtOnce : tid % kLines;
    k_ = quads_ ? tid / kQuads : along_k_ ? tid % 8 + tid / (8 * kLinesAtOnce) * 8 : tid / kLines;
    g_ = x.g + (line0 + line) * x.line_step + (k0 + k_) * x.k_step;
    more_ = quads_     ? kQuadsAtOnce * x.k_step
            : along_k_ ? kLinesAtOnce * x.line_step
                       : kAtOnce * x.k_step;
    place_ = (k_ * kStride + line) * 4;
    left_ = x.lines - line0 - line;
    whole_ = line0 + kLines <= x.lines;
  }

  // Copies the next BK elements along k, of which `left` are in bounds, to `s`.
  __device__ __forceinline__ void copy(std::uint32_t s, int left) {
    const std::uint32_t to = s + place_;
    const float* g = g_;
    g_ += step_;
    if (quads_) {
      if (whole_ && left >= BK) {
#pragma unroll
        for (int i = 0; i < BK; i += kQuadsAtOnce, g += more_) {
          if (BK % kQuadsAtOnce == 0 || k_ + i < BK) ptx::cp_async<16>(to + i * (kStride * 4), g);
        }
      } else {
        const int count = min(max(left_, 0), 4);
#pragma unroll 1
        for (int i = 0; k_ + i < BK; i += kQuadsAtOnce, g += more_)
          ptx::cp_async_first<4>(to + i * (kStride * 4), g, k_ + i < left ? count : 0);
      }
    } else if (along_k_) {
      if (whole_ && left >= BK) {
#pragma unroll
        for (int i = 0; i < kLines; i += kLinesAtOnce, g += more_) ptx::cp_async<4>(to + i * 4, g);
      } else {
#pragma unroll
        for (int i = 0; i < kLines; i += kLinesAtOnce, g += more_) {
          if (i < left_) ptx::cp_async<4>(to + i * 4, g, k_ < left);
        }
      }
    } else if (left_ > 0) {
#pragma unroll 4
      for (int i = 0; i < BK; i += kAtOnce, g += more_)
        ptx::cp_async<4>(to + i * (kStride * 4), g, k_ + i < left);
    }
  }

 private:
  static constexpr int kQuads = kLines / 4, kQuadsAtOnce = std::max(1, kThreads / kQuads);  // k
  static constexpr int kLinesAtOnce = kThreads / BK,
                       kAtOnce = std::max(1, kThreads / kLines);  // lines, k
  static_assert(kThreads % kLines == 0 && BK % 8 == 0 && kLines % kLinesAtOnce == 0,
                "all threads copy");
  bool quads_, along_k_, whole_;
  int k_, left_;
  std::uint32_t place_;
  const float* g_;
  std::int64_t more_, step_;
};

// The same for a K-major operand, to shared memory (kLines, kStride), without transposition.
template <int kLines, int BK, int kThreads>
class AlongCopier {
 public:
  static constexpr int kStride = BK + 4;  // padding: lines differ in their banks
  static constexpr int kFloats = kLines * kStride;

  __device__ __forceinline__ AlongCopier(const LineSide& x, int line0, int k0)
      : quads_(x.quads), left_(x.lines - line0) {
    const int tid = static_cast<int>(threadIdx.x), wide = quads_ ? BK / 4 : BK;
    k_ = tid % wide * (quads_ ? 4 : 1);
    line_ = tid / wide;
    g_ = x.g + (line0 + line_) * x.line_step + k0 + k_;
    more_ = (quads_ ? kQuadsAtOnce : kAtOnce) * x.line_step;
    place_ = (line_ * kStride + k_) * 4;
  }
  __device__ __forceinline__ void copy(std::uint32_t s, int left) {
    const std::uint32_t to = s + place_;
    const float* g = g_;
    g_ += BK;
    const bool whole = left_ >= kLines && left >= BK;
    if (quads_ && whole) {
#pragma unroll
      for (int i = 0; i < kLines; i += kQuadsAtOnce, g += more_)
        ptx::cp_async<16>(to + i * (kStride * 4), g);
    } else if (quads_) {
      const int count = min(max(left - k_, 0), 4);
#pragma unroll 1
      for (int i = 0; line_ + i < min(kLines, left_); i += kQuadsAtOnce, g += more_)
        ptx::cp_async_first<4>(to + i * (kStride * 4), g, count);
    } else {
#pragma unroll
      for (int i = 0; i < kLines; i += kAtOnce, g += more_) {
        if (line_ + i < left_) ptx::cp_async<4>(to + i * (kStride * 4), g, k_ < left);
      }
    }
  }

 private:
  static constexpr int kQuadsAtOnce = kThreads / (BK / 4), kAtOnce = kThreads / BK;  // lines
  static_assert(kThreads % BK == 0 && kLines % kAtOnce == 0 && kLines % kQuadsAtOnce == 0,
                "all threads copy");
  bool quads_;
  int k_, line_, left_;
  std::uint32_t place_;
  const float* g_;
  std::int64_t more_;
};

}  // namespace ladder
