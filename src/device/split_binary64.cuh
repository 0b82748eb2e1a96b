// SPDX-License-Identifier: Apache-2.0
// The product of operands that no words should stand for: in binary64 on tensor cores, rounded to binary32 once. A product of
// two binary32 numbers is exact in binary64, so no order of summation in binary32 is nearer to the exact result, and Inf
// and NaN are where SGEMM has them. Any layout, whatever alignment: elements are loaded one by one.
#pragma once
#include "device/ptx/mma.cuh"
#include "device/split_store.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder::split_detail {

struct WideTile {
  static constexpr int BM = 64, BN = 64, BK = 16;
  static constexpr int WM = 32, WN = 32;                                  // of a warp
  static constexpr int TM = WM / ptx::kMmaEdge, TN = WN / ptx::kMmaEdge;  // products of 8 x 8
  static constexpr int kThreads = BM / WM * (BN / WN) * 32, kBlocksOfSm = 2;
  static constexpr int kPad = 8;  // 4 k x 8 lines, one a lane, lie in banks of their own
  struct Shared {
    float a[2][BK][BM + kPad], b[2][BK][BN + kPad];
  };
  static_assert(BM == BN && kThreads % BM == 0 && kThreads % BK == 0, "lines and threads");
};

// An operand's part of a tile on its way to shared memory, stage by stage. Neighbouring threads take neighbours in memory.
class WideLoad {
  using T = WideTile;
  static constexpr int kEach = T::BM * T::BK / T::kThreads;

 public:
  __device__ __forceinline__ WideLoad(const SplitOperand& x, int line0)
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

// alpha times the sum plus beta C, rounded to binary32 as it is stored.
__device__ __forceinline__ void store_wide(const Target<float>& c, float* g, double sum) {
  const double scaled = c.alpha * sum;
  *g = static_cast<float>(c.beta == 0.0F ? scaled : __fma_rn(static_cast<double>(c.beta), *g, scaled));
}

// Blocks take tile after tile, where *gChoice says so.
template <int kDummy = 0>
__global__ void __launch_bounds__(WideTile::kThreads, WideTile::kBlocksOfSm)
    wide_product(const __grid_constant__ SplitTarget x, int tiles_n, int tiles, const int* gChoice,
                 int choice) {
  using T = WideTile;
  __shared__ T::Shared s;
  ptx::wait_for_prerequisites();
  if (!wanted(gChoice, choice)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int g = lane / 4, t = lane % 4;
  const int row = warp % (T::BM / T::WM) * T::WM, col = warp / (T::BM / T::WM) * T::WN;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const int row0 = tile / tiles_n * T::BM, col0 = tile % tiles_n * T::BN;
    double sums[T::TM][T::TN][2]{};
    WideLoad a(x.a, row0), b(x.b, col0);
    a.load(x.k);
    b.load(x.k);
    for (int k0 = 0, stage = 0; k0 < x.k; k0 += T::BK, stage ^= 1) {
      a.store(s.a[stage]);
      b.store(s.b[stage]);
      __syncthreads();
      a.load(x.k - k0 - T::BK);
      b.load(x.k - k0 - T::BK);
#pragma unroll
      for (int k = 0; k < T::BK; k += 4) {
        double left[T::TM], right[T::TN];
#pragma unroll
        for (int i = 0; i < T::TM; ++i) left[i] = s.a[stage][k + t][row + i * ptx::kMmaEdge + g];
#pragma unroll
        for (int j = 0; j < T::TN; ++j) right[j] = s.b[stage][k + t][col + j * ptx::kMmaEdge + g];
#pragma unroll
        for (int i = 0; i < T::TM; ++i) {
#pragma unroll
          for (int j = 0; j < T::TN; ++j) ptx::mma_f64(sums[i][j], left[i], right[j]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
      const int m = row0 + row + i * ptx::kMmaEdge + g;
#pragma unroll
      for (int j = 0; j < T::TN; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int n = col0 + col + j * ptx::kMmaEdge + 2 * t + e;
          if (m < x.c.m && n < x.c.n) store_wide(x.c, x.c.gC + m * x.c.ld + n * x.col_step, sums[i][j][e]);
        }
      }
    }
    __syncthreads();  // before the next tile's stores to shared memory
  }
}

// Enqueues it. Errors: kLaunchFailed.
inline Status launch_wide(const SplitTarget& x, const int* gChoice, int choice, int sms,
                          cudaStream_t stream) {
  using T = WideTile;
  const std::int64_t tiles_n = ceil_div(x.c.n, T::BN), tiles = ceil_div(x.c.m, T::BM) * tiles_n;
  return launch_dependent("product in binary64", wide_product<>,
                          std::min<std::int64_t>(tiles, std::int64_t{T::kBlocksOfSm} * sms), 1, T::kThreads,
                          0, stream, x, static_cast<int>(tiles_n), static_cast<int>(tiles), gChoice, choice);
}

}  // namespace ladder::split_detail
