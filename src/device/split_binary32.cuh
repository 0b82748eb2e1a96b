// SPDX-License-Identifier: Apache-2.0
// The product of operands that no words should stand for: binary32 on CUDA cores, so that Inf, NaN and roundings are SGEMM's.
// Sums of 64 products are added to one another: chains as long as k would be further off than those of SGEMMs that cut k.
// Any layout, whatever alignment: elements are loaded one by one.
#pragma once
#include "device/split_store.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::split_detail {

struct ChainTile {
  static constexpr int BM = 128, BN = 128, BK = 8;
  static constexpr int TM = 8, TN = 8;  // of a thread: four quads, half a tile apart
  static constexpr int kThreads = BM / TM * (BN / TN);
  static constexpr int kChain = 64 / BK;  // stages
  static constexpr int kPad = 4;          // stores along k lie in banks of their own
  static constexpr int kQuad = 4;
  struct Shared {
    float a[2][BK][BM + kPad], b[2][BK][BN + kPad];
  };
  static_assert(BM == BN && kThreads == 256 && BM * BK % kThreads == 0, "lines and threads");
};

// An operand's part of a tile on its way to shared memory, stage by stage. Neighbouring threads take neighbours in memory.
class ChainLoad {
  using T = ChainTile;
  static constexpr int kEach = T::BM * T::BK / T::kThreads;

 public:
  __device__ __forceinline__ ChainLoad(const SplitOperand& x, int line0)
      : along_k_(x.along_k),
        line_(static_cast<int>(threadIdx.x) / (along_k_ ? T::BK : 1) % T::BM),
        k_(static_cast<int>(threadIdx.x) / (along_k_ ? 1 : T::BM) % T::BK),
        lines_left_(x.lines - line0),
        g_(x.g + (along_k_ ? (line0 + line_) * x.ld + k_ : k_ * x.ld + line0 + line_)),
        next_(x.ld * (along_k_ ? kLinesApart : kApart)),
        next_stage_(along_k_ ? T::BK : T::BK * x.ld) {}

  // The next stage, of which `k_left` are left.
  __device__ __forceinline__ void load(int k_left) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const bool inside = along_k_ ? k_ < k_left && line_ + i * kLinesApart < lines_left_
                                   : k_ + i * kApart < k_left && line_ < lines_left_;
      r_[i] = inside ? __ldg(g_ + i * next_) : 0.0F;
    }
    g_ += next_stage_;
  }
  __device__ __forceinline__ void store(float (&s)[T::BK][T::BM + T::kPad]) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      s[k_ + (along_k_ ? 0 : i * kApart)][line_ + (along_k_ ? i * kLinesApart : 0)] = r_[i];
    }
  }

 private:
  static constexpr int kLinesApart = T::kThreads / T::BK,
                       kApart = T::kThreads / T::BM;  // elements of a thread
  bool along_k_;
  int line_, k_, lines_left_;
  const float* g_;
  std::int64_t next_, next_stage_;
  float r_[kEach];
};

// Blocks take tile after tile, where *gChoice says so.
template <int kDummy = 0>
__global__ void __launch_bounds__(ChainTile::kThreads, 1)
    chain_product(const __grid_constant__ SplitTarget x, int tiles_n, int tiles, const int* gChoice,
                  int choice) {
  using T = ChainTile;
  __shared__ T::Shared s;
  ptx::wait_for_prerequisites();
  if (!wanted(gChoice, choice)) return;
  const int row = static_cast<int>(threadIdx.x) / (T::BN / T::TN) * T::kQuad;
  const int col = static_cast<int>(threadIdx.x) % (T::BN / T::TN) * T::kQuad;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const int row0 = tile / tiles_n * T::BM, col0 = tile % tiles_n * T::BN;
    float chain[T::TM][T::TN]{}, sums[T::TM][T::TN]{};
    ChainLoad a(x.a, row0), b(x.b, col0);
    a.load(x.k);
    b.load(x.k);
    for (int k0 = 0, stage = 0; k0 < x.k; k0 += T::BK, stage = (stage + 1) % T::kChain) {
      a.store(s.a[stage % 2]);
      b.store(s.b[stage % 2]);
      __syncthreads();
      a.load(x.k - k0 - T::BK);
      b.load(x.k - k0 - T::BK);
#pragma unroll
      for (int k = 0; k < T::BK; ++k) {
        float left[T::TM], right[T::TN];
#pragma unroll
        for (int i = 0; i < T::TM; ++i)
          left[i] = s.a[stage % 2][k][row + i / T::kQuad * (T::BM / 2) + i % T::kQuad];
#pragma unroll
        for (int j = 0; j < T::TN; ++j)
          right[j] = s.b[stage % 2][k][col + j / T::kQuad * (T::BN / 2) + j % T::kQuad];
#pragma unroll
        for (int i = 0; i < T::TM; ++i) {
#pragma unroll
          for (int j = 0; j < T::TN; ++j) chain[i][j] = __fmaf_rn(left[i], right[j], chain[i][j]);
        }
      }
      if (stage < T::kChain - 1 && k0 + T::BK < x.k) continue;
#pragma unroll
      for (int i = 0; i < T::TM; ++i) {
#pragma unroll
        for (int j = 0; j < T::TN; ++j) {
          sums[i][j] += chain[i][j];
          chain[i][j] = 0.0F;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
      const int m = row0 + row + i / T::kQuad * (T::BM / 2) + i % T::kQuad;
#pragma unroll
      for (int j = 0; j < T::TN; ++j) {
        const int n = col0 + col + j / T::kQuad * (T::BN / 2) + j % T::kQuad;
        if (m < x.c.m && n < x.c.n) store_element(x.c, x.c.gC + m * x.c.ld + n, sums[i][j]);
      }
    }
    __syncthreads();  // before the next tile's stores to shared memory
  }
}

}  // namespace ladder::split_detail
