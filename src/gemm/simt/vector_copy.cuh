// SPDX-License-Identifier: Apache-2.0
// Copies vectors (rows of op(A) or columns of op(B)) to shared memory: with 16-byte copies if the
// elements are contiguous on both sides, aligned and a multiple of four, else with 4-byte copies.
#pragma once
#include "device/ptx/cp_async.cuh"

#include <algorithm>
#include <cstdint>

namespace ladder {

// An operand: element (vector, k) at g + vector * vector_step + k * k_step, one of the steps being
// 1.
struct PartOperand {
  const float* g;
  std::int64_t vector_step, k_step;
  int vectors;
  bool aligned;  // aligned groups of four elements permit 128-bit reads
};

// kThreads threads copy kVectors vectors to shared memory (BK, kStride), BK elements along k per
// call. Elements beyond k are zero. Vectors beyond the operand's last are zero or keep their old
// content; no stored sum contains them.
template <int kVectors, int BK, int kThreads>
class VectorCopier {
 public:
  static constexpr int kStride =
      kVectors + 4;  // 4 vectors x 8 k are in 32 banks; float4 are 16-byte aligned
  static constexpr int kFloats = BK * kStride;

  __device__ __forceinline__ VectorCopier(const PartOperand& x, int vector0, int k0, int /*k*/)
      : wide_(x.vector_step == 1 && x.aligned && x.vectors % 4 == 0),
        along_k_(x.k_step == 1 && !wide_),
        step_(BK * x.k_step) {
    const int tid = static_cast<int>(threadIdx.x);
    // Lanes follow the contiguous dimension; along k, a warp copies 8 k of 4 vectors.
    const int vector = wide_      ? tid % kFloat4s * 4
                       : along_k_ ? tid / 8 % kVectorsAtOnce
                                  : tid % kVectors;
    k_ = wide_      ? tid / kFloat4s
         : along_k_ ? tid % 8 + tid / (8 * kVectorsAtOnce) * 8
                    : tid / kVectors;
    g_ = x.g + (vector0 + vector) * x.vector_step + (k0 + k_) * x.k_step;
    more_ = wide_      ? kFloat4sAtOnce * x.k_step
            : along_k_ ? kVectorsAtOnce * x.vector_step
                       : kAtOnce * x.k_step;
    place_ = (k_ * kStride + vector) * 4;
    left_ = x.vectors - vector0 - vector;
    whole_ = vector0 + kVectors <= x.vectors;
  }

  // Copies the next BK elements along k, of which `left` are in bounds, to `s`.
  __device__ __forceinline__ void copy(std::uint32_t s, int left) {
    const std::uint32_t to = s + place_;
    const float* g = g_;
    g_ += step_;
    if (wide_) {
      if (whole_ && left >= BK) {
#pragma unroll
        for (int i = 0; i < BK; i += kFloat4sAtOnce, g += more_) {
          if (BK % kFloat4sAtOnce == 0 || k_ + i < BK) ptx::cp_async<16>(to + i * (kStride * 4), g);
        }
      } else {
#pragma unroll
        for (int i = 0; i < BK; i += kFloat4sAtOnce, g += more_) {
          if (BK % kFloat4sAtOnce == 0 || k_ + i < BK)
            ptx::cp_async<16>(to + i * (kStride * 4), g, left_ > 0 && k_ + i < left);
        }
      }
    } else if (along_k_) {
      if (whole_ && left >= BK) {
#pragma unroll
        for (int i = 0; i < kVectors; i += kVectorsAtOnce, g += more_)
          ptx::cp_async<4>(to + i * 4, g);
      } else {
#pragma unroll
        for (int i = 0; i < kVectors; i += kVectorsAtOnce, g += more_) {
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
  static constexpr int kFloat4s = kVectors / 4,
                       kFloat4sAtOnce = std::max(1, kThreads / kFloat4s);  // k
  static constexpr int kVectorsAtOnce = kThreads / BK,
                       kAtOnce = std::max(1, kThreads / kVectors);  // vectors, k
  static_assert(kThreads % kVectors == 0 && BK % 8 == 0 && kVectors % kVectorsAtOnce == 0,
                "all threads copy");
  bool wide_, along_k_, whole_;
  int k_, left_;
  std::uint32_t place_;
  const float* g_;
  std::int64_t more_, step_;
};

// The same for a K-major operand, to shared memory (kVectors, kStride), without transposition.
template <int kVectors, int BK, int kThreads>
class KMajorCopier {
 public:
  static constexpr int kStride = BK + 4;  // padding: vectors differ in their banks
  static constexpr int kFloats = kVectors * kStride;

  __device__ __forceinline__ KMajorCopier(const PartOperand& x, int vector0, int k0, int k)
      : wide_(x.aligned && k % 4 == 0), left_(x.vectors - vector0) {
    const int tid = static_cast<int>(threadIdx.x), wide = wide_ ? BK / 4 : BK;
    k_ = tid % wide * (wide_ ? 4 : 1);
    line_ = tid / wide;
    g_ = x.g + (vector0 + line_) * x.vector_step + k0 + k_;
    more_ = (wide_ ? kFloat4sAtOnce : kAtOnce) * x.vector_step;
    place_ = (line_ * kStride + k_) * 4;
  }
  __device__ __forceinline__ void copy(std::uint32_t s, int left) {
    const std::uint32_t to = s + place_;
    const float* g = g_;
    g_ += BK;
    const bool whole = left_ >= kVectors && left >= BK;
    if (wide_ && whole) {
#pragma unroll
      for (int i = 0; i < kVectors; i += kFloat4sAtOnce, g += more_)
        ptx::cp_async<16>(to + i * (kStride * 4), g);
    } else if (wide_) {
#pragma unroll
      for (int i = 0; i < kVectors; i += kFloat4sAtOnce, g += more_) {
        if (line_ + i < left_) ptx::cp_async<16>(to + i * (kStride * 4), g, k_ < left);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kVectors; i += kAtOnce, g += more_) {
        if (line_ + i < left_) ptx::cp_async<4>(to + i * (kStride * 4), g, k_ < left);
      }
    }
  }

 private:
  static constexpr int kFloat4sAtOnce = kThreads / (BK / 4), kAtOnce = kThreads / BK;  // vectors
  static_assert(kThreads % BK == 0 && kVectors % kAtOnce == 0 && kVectors % kFloat4sAtOnce == 0,
                "all threads copy");
  bool wide_;
  int k_, line_, left_;
  std::uint32_t place_;
  const float* g_;
  std::int64_t more_;
};

}  // namespace ladder
