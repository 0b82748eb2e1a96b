// SPDX-License-Identifier: Apache-2.0
// A warpgroup's product of 8-bit operands with scales. The tensor core keeps only 13 fraction bits
// of their sums, so it adds the products of one stage (128 of k), which share their scales; these
// partial sums are then promoted: multiplied by the scales and added in FP32. See r20_fp8.
#pragma once
#include "device/ptx/wgmma_registers.cuh"
#include "device/schedule.cuh"
#include "gemm/tensor/tensor_cluster.cuh"

#include <cstdint>

namespace ladder {

template <class T>
class ScaledProduct : public Product<T> {
 public:
  using Element = typename T::In::Element;
  static constexpr bool kBlock = T::In::kScaling == Scaling::kBlock;
  static constexpr int kScaleColumns = kScaleBlock;                   // that share a scale
  static constexpr int kHalf = T::kBoxCols, kHalves = T::BN / kHalf;  // columns of one wgmma
  static_assert(T::BK == kScaleBlock && kScaleColumns % kHalf == 0, "one scale per half");

  __device__ __forceinline__ explicit ScaledProduct(int warpgroup) : Product<T>(warpgroup) {}

  // Begins a tile, or its share along k, with sums of zero.
  __device__ __forceinline__ void begin(const Scales& x, const TileOrigin& at, const Work& work) {
#pragma unroll
    for (float& sum : this->sums) sum = 0;
    scales_ = &x;
    if constexpr (kBlock) {
      const int row = at.row + this->row() + Product<T>::lane_row(), block = at.col / kScaleColumns;
#pragma unroll
      for (int i = 0; i < 2; ++i) row_[i] = min(row + 8 * i, x.m - 1);
#pragma unroll
      for (int half = 0; half < kHalves; ++half)
        block_[half] = min(block + half, (x.n - 1) / kScaleColumns);
      begin_ = work.begin;
      last_ = work.end - 1;
      stage_ = 0;
      load_a();
      load_b();
    }
  }

  // Adds the product of a stage. Calls next() during its last products, and release() once the
  // stage has been read.
  template <class Next, class Release>
  __device__ __forceinline__ void multiply(const typename T::Stage& s, Next next, Release release) {
    const std::uint64_t a = ptx::matrix_descriptor(this->own_rows(s), 8 * kSwizzleBytes),
                        b = ptx::matrix_descriptor(ptx::shared_address(s.b), 8 * kSwizzleBytes);
    float factor[kHalves][2];
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      constexpr int kSums = T::kSums / kHalves;
      float partial[kSums];  // (WM,kHalf)
      ptx::wgmma_fence();
#pragma unroll
      for (int k = 0; k < T::BK; k += 32) {  // addresses in descriptors count 16 bytes
        ptx::wgmma_bytes<Element>(partial, a + k / 16, b + half * sizeof(s.b[0]) / 16 + k / 16,
                                  k > 0);
      }
      ptx::wgmma_commit();
      if (kBlock && half == 0) combine_scales(factor);
      if (half == kHalves - 1) next();
      ptx::wgmma_wait<0>();
      if (half == kHalves - 1) release();
#pragma unroll
      for (float& sum : partial) ptx::changed(sum);
#pragma unroll
      for (int j = 0; j < kSums; ++j) {
        float& sum = this->sums[half * kSums + j];
        sum = kBlock ? fmaf(factor[half][j / 2 % 2], partial[j], sum) : sum + partial[j];
      }
    }
  }

  // Makes the sums available.
  __device__ __forceinline__ void end() {
    if constexpr (!kBlock) {
      const float factor = __ldg(scales_->gA) * __ldg(scales_->gB);
#pragma unroll
      for (float& sum : this->sums) sum *= factor;
    }
  }

 private:
  // Four neighbouring threads have the same rows of A; each loads the scales of one of four stages.
  // The threads of a warp load the scales of B of 32 stages. Loads in every stage would stand
  // between the products.
  __device__ __forceinline__ void load_a() {
    const int k = min(begin_ + stage_ + static_cast<int>(threadIdx.x) % 4, last_);
    const float* const g = scales_->gA + std::int64_t{k} * scales_->m;
#pragma unroll
    for (int i = 0; i < 2; ++i) of_a_[i] = __ldg(g + row_[i]);
  }
  __device__ __forceinline__ void load_b() {
    const int k = min(begin_ + stage_ + static_cast<int>(threadIdx.x) % 32, last_);
#pragma unroll
    for (int half = 0; half < kHalves; ++half)
      of_b_[half] = __ldg(scales_->gB + block_[half] * scales_->ldb + k);
  }

  // The factors of this stage's partial sums, of the thread's two rows in each half.
  __device__ __forceinline__ void combine_scales(float (&factor)[kHalves][2]) {
    float of_a[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) of_a[i] = __shfl_sync(0xFFFFFFFFU, of_a_[i], stage_ % 4, 4);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const float of_b = __shfl_sync(0xFFFFFFFFU, of_b_[half], stage_ % 32);
#pragma unroll
      for (int i = 0; i < 2; ++i) factor[half][i] = of_a[i] * of_b;
    }
    if (++stage_ % 4 == 0) {
      load_a();
      if (stage_ % 32 == 0) load_b();
    }
  }

  const Scales* scales_ = nullptr;
  float of_a_[2]{}, of_b_[kHalves]{};
  int row_[2]{}, block_[kHalves]{};       // of A and of B
  int begin_ = 0, last_ = 0, stage_ = 0;  // stages of the work; those computed
};

}  // namespace ladder
