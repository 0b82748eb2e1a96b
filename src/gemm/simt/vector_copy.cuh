// SPDX-License-Identifier: Apache-2.0
// Copies vectors (rows of op(A) or columns of op(B)) to shared memory, a stage of k at a time.
// Which copies an operand takes is a template parameter: branches on it in the main loop, and the
// predicates in front of them, cost up to a fifth of the time of products with a small k.
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

enum class Copies {
  kWide,     // 16 bytes: elements are contiguous on both sides, aligned and a multiple of four
  kAlongK,   // 4 bytes, neighbouring lanes copy neighbours along k
  kAcrossK,  // 4 bytes, neighbouring lanes copy neighbouring vectors
};

// kThreads threads copy kVectors vectors to shared memory (BK, kStride), BK elements along k per
// call. Elements beyond k are zero, as are vectors beyond the operand's last.
template <int kVectors, int BK, int kThreads, Copies kCopies>
class VectorCopier {
 public:
  static constexpr int kStride =
      kVectors + 4;  // 4 vectors x 8 k are in 32 banks; float4 are 16-byte aligned
  static constexpr int kFloats = BK * kStride;

  __device__ __forceinline__ VectorCopier(const PartOperand& x, int vector0, int k0)
      : step_(BK * (kAlongK ? 1 : x.k_step)) {
    const int tid = static_cast<int>(threadIdx.x);
    const int vector = kWide     ? tid % kFloat4s * 4
                       : kAlongK ? tid / kLanesOfK % kVectorsAtOnce
                                 : tid % kVectors;
    k_ = kWide     ? tid / kFloat4s
         : kAlongK ? tid % kLanesOfK + tid / (kLanesOfK * kVectorsAtOnce) * kLanesOfK
                   : tid / kVectors;
    g_ = x.g + (vector0 + vector) * (kAlongK ? x.vector_step : 1) +
         (k0 + k_) * (kAlongK ? 1 : x.k_step);
    more_ = kAlongK ? kVectorsAtOnce * x.vector_step : kAtOnce * x.k_step;
    place_ = (k_ * kStride + vector) * 4;
    left_ = x.vectors - vector0 - vector;
  }

  // Copies the next BK elements along k, of which `left` are in bounds, to `s`.
  __device__ __forceinline__ void copy(std::uint32_t s, int left) {
    const std::uint32_t to = s + place_;
    const float* g = g_;
    g_ += step_;
    if constexpr (kAlongK) {
      const int inside = k_ < left ? left_ : 0;
#pragma unroll
      for (int i = 0; i < kVectors; i += kVectorsAtOnce, g += more_)
        ptx::cp_async<4>(to + i * 4, g, i < inside);
    } else {
      const int inside = left_ > 0 ? left - k_ : 0;
#pragma unroll
      for (int i = 0; i < BK; i += kAtOnce, g += more_) {
        if (BK % kAtOnce == 0 || k_ + i < BK)
          ptx::cp_async<kWide ? 16 : 4>(to + i * (kStride * 4), g, i < inside);
      }
    }
  }

 private:
  static constexpr bool kWide = kCopies == Copies::kWide, kAlongK = kCopies == Copies::kAlongK;
  static constexpr int kLanesOfK = 8;  // a warp copies 8 elements along k of 4 vectors
  static constexpr int kFloat4s = kVectors / 4, kVectorsAtOnce = kThreads / BK,
                       kAtOnce = std::max(1, kThreads / (kWide ? kFloat4s : kVectors));  // along k
  static_assert(kThreads % kVectors == 0 && BK % kLanesOfK == 0 && kVectors % kVectorsAtOnce == 0,
                "all threads copy");
  int k_, left_;
  std::uint32_t place_;
  const float* g_;
  std::int64_t more_, step_;
};

// The same for a K-major operand, to shared memory (kVectors, kStride), without transposition.
template <int kVectors, int BK, int kThreads, Copies kCopies>
class KMajorCopier {
 public:
  static constexpr int kStride = BK + 4;  // padding: vectors differ in their banks
  static constexpr int kFloats = kVectors * kStride;

  __device__ __forceinline__ KMajorCopier(const PartOperand& x, int vector0, int k0) {
    const int tid = static_cast<int>(threadIdx.x), vector = tid / kLanes;
    k_ = tid % kLanes * kElements;
    g_ = x.g + (vector0 + vector) * x.vector_step + k0 + k_;
    more_ = kVectorsAtOnce * x.vector_step;
    place_ = (vector * kStride + k_) * 4;
    left_ = x.vectors - vector0 - vector;
  }
  __device__ __forceinline__ void copy(std::uint32_t s, int left) {
    const std::uint32_t to = s + place_;
    const float* g = g_;
    g_ += BK;
    const int inside = k_ < left ? left_ : 0;
#pragma unroll
    for (int i = 0; i < kVectors; i += kVectorsAtOnce, g += more_)
      ptx::cp_async<4 * kElements>(to + i * (kStride * 4), g, i < inside);
  }

 private:
  static_assert(kCopies != Copies::kAcrossK, "elements are contiguous along k");
  static constexpr int kElements = kCopies == Copies::kWide ? 4 : 1, kLanes = BK / kElements,
                       kVectorsAtOnce = kThreads / kLanes;
  static_assert(kThreads % BK == 0 && kVectors % kVectorsAtOnce == 0, "all threads copy");
  int k_, left_;
  std::uint32_t place_;
  const float* g_;
  std::int64_t more_;
};

}  // namespace ladder
