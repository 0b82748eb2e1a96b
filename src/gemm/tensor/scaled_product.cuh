// SPDX-License-Identifier: Apache-2.0
// A warpgroup's product of 8-bit operands with scales. The tensor core keeps only 13 fraction bits
// of their sums, so it adds the products of one stage (128 of k), which share their scales; these
// partial sums are then promoted: multiplied by the scales and added in FP32. See r20_fp8.
#pragma once
#include "device/ptx/wgmma_bytes.cuh"
#include "device/schedule.cuh"
#include "gemm/tensor/tensor_cluster.cuh"

#include <cstdint>

namespace ladder {

template <class T>
class ScaledProduct : public Product<T> {
 public:
  using Element = typename T::In::Element;
  static constexpr bool kBlock = T::In::kScaling == Scaling::kBlock;
  static constexpr int kHalf = 128, kHalves = T::BN / kHalf;  // columns of one wgmma
  static_assert(T::BK == kScaleBlock && kHalf == kScaleBlock, "one scale per stage and half");

  __device__ __forceinline__ explicit ScaledProduct(int warpgroup) : Product<T>(warpgroup) {}

  // Begins a tile, or its share along k, with sums of zero.
  __device__ __forceinline__ void begin(const Scales& x, const TileOrigin& at, const Work& work) {
#pragma unroll
    for (float& sum : this->sums) sum = 0;
    scales_ = &x;
    if constexpr (kBlock) {
      const int row = at.row + this->row() + Product<T>::lane_row(), block = at.col / kHalf,
                last_n = (x.n - 1) / kHalf;
#pragma unroll
      for (int i = 0; i < 2; ++i)
        gA_[i] = x.gA + std::int64_t{work.begin} * x.m + min(row + 8 * i, x.m - 1);
#pragma unroll
      for (int half = 0; half < kHalves; ++half)
        gB_[half] = x.gB + min(block + half, last_n) * x.ldb + work.begin;
      left_ = work.end - work.begin;
      load_scales();
    }
  }

  // Adds the product of a stage, which has been read when it returns.
  template <int kSet, int kWidth>
  __device__ __forceinline__ void multiply(const typename T::Stage& s, bool /*add*/) {
    static_assert(kSet == 0 && kWidth == T::BN, "whole tiles");
    const std::uint64_t a = ptx::matrix_descriptor(this->own_rows(s), 8 * kSwizzleBytes),
                        b = ptx::matrix_descriptor(ptx::shared_address(s.b), 8 * kSwizzleBytes);
    const Factors now = next_;
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
      if (kBlock && half == 0) {  // beside the products
        if (--left_ > 0) {
          for (const float*& g : gA_) g += scales_->m;
          for (const float*& g : gB_) ++g;
        }
        load_scales();
      }
      ptx::wgmma_wait<0>();
#pragma unroll
      for (float& sum : partial) ptx::changed(sum);
      const float factor[2] = {now.of_a[0] * now.of_b[half], now.of_a[1] * now.of_b[half]};
#pragma unroll
      for (int j = 0; j < kSums; ++j) {
        float& sum = this->sums[half * kSums + j];
        sum = kBlock ? fmaf(factor[j / 2 % 2], partial[j], sum) : sum + partial[j];
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
  // Of the thread's two rows of A, and of the halves of B.
  struct Factors {
    float of_a[2], of_b[kHalves];
  };

  __device__ __forceinline__ void load_scales() {
#pragma unroll
    for (int i = 0; i < 2; ++i) next_.of_a[i] = __ldg(gA_[i]);
#pragma unroll
    for (int half = 0; half < kHalves; ++half) next_.of_b[half] = __ldg(gB_[half]);
  }

  const Scales* scales_ = nullptr;
  // Of the next stage; where it has its scales; the stages from it on.
  Factors next_{};
  const float *gA_[2]{}, *gB_[kHalves]{};
  int left_ = 0;
};

}  // namespace ladder
