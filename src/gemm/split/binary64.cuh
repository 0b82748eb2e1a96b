// SPDX-License-Identifier: Apache-2.0
// The product in FP64 on tensor cores, rounded to FP32 once, for operands that no split format can
// hold. A product of two FP32 numbers is exact in FP64, so no order of summation in FP32 is more
// accurate, and Inf and NaN appear where SGEMM has them. Any layout and alignment: elements are
// loaded one by one.
#pragma once
#include "device/launch_dependent.cuh"
#include "device/ptx/dependent.cuh"
#include "device/ptx/mma.cuh"
#include "device/ptx/sync.cuh"
#include "gemm/split/choice.cuh"
#include "gemm/split/store.cuh"

#include <algorithm>
#include <cstdint>

namespace ladder {

struct Binary64Tile {
  static constexpr int BM = 64, BN = 64, BK = 16;
  static constexpr int WM = 32, WN = 32;                                  // per warp
  static constexpr int TM = WM / ptx::kMmaEdge, TN = WN / ptx::kMmaEdge;  // 8 x 8 outputs of an mma
  static constexpr int kThreads = BM / WM * (BN / WN) * 32, kBlocksOfSm = 2;
  static constexpr int kElements = BM * BN;
  static constexpr int kPad = 8;  // a fragment, 4 k x 8 vectors, is free of bank conflicts
  struct Shared {
    float a[2][BK][BM + kPad], b[2][BK][BN + kPad];
  };
  // Number of a thread among those of its tile; a block may have several such groups.
  __device__ __forceinline__ static int thread() {
    return static_cast<int>(threadIdx.x) % kThreads;
  }
  static_assert(BM == BN && kThreads % BM == 0 && kThreads % BK == 0, "whole vectors per thread");
};

// Copies an operand's part of a tile to shared memory through registers, stage by stage. Loads are
// coalesced.
class Binary64Load {
  using T = Binary64Tile;
  static constexpr int kEach = T::BM * T::BK / T::kThreads;

 public:
  __device__ __forceinline__ Binary64Load(const SplitOperand& x, int vector0, int k0)
      : along_k_(x.along_k),
        vector_(T::thread() / (along_k_ ? T::BK : 1) % T::BM),
        k_(T::thread() / (along_k_ ? 1 : T::BM) % T::BK),
        vectors_left_(x.vectors - vector0),
        g_(x.g + (along_k_ ? (vector0 + vector_) * x.ld + k0 + k_
                           : (k0 + k_) * x.ld + vector0 + vector_)),
        next_(x.ld * (along_k_ ? kVectorsApart : kApart)),
        next_stage_(along_k_ ? T::BK : T::BK * x.ld) {}

  // Loads the next stage; k ends after `k_left` elements.
  __device__ __forceinline__ void load(int k_left) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const bool inside = along_k_ ? k_ < k_left && vector_ + i * kVectorsApart < vectors_left_
                                   : k_ + i * kApart < k_left && vector_ < vectors_left_;
      r_[i] = inside ? __ldg(g_ + i * next_) : 0.0F;
    }
    g_ += next_stage_;
  }
  __device__ __forceinline__ void store(float (&s)[T::BK][T::BM + T::kPad]) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      s[k_ + (along_k_ ? 0 : i * kApart)][vector_ + (along_k_ ? i * kVectorsApart : 0)] = r_[i];
    }
  }

 private:
  static constexpr int kVectorsApart = T::kThreads / T::BK,
                       kApart = T::kThreads / T::BM;  // between a thread's elements
  bool along_k_;
  int vector_, k_, vectors_left_;
  const float* g_;
  std::int64_t next_, next_stage_;
  float r_[kEach];
};

// A copy of C from before a product that the guard rejected, with element (i, j) at i * row_step +
// j * col_step. Null: C itself is unchanged.
struct KeptC {
  const float* g = nullptr;
  std::int64_t row_step = 0, col_step = 0;
};

// Split-K, for few tiles: the last block of a tile to arrive adds the partial sums of all, in a
// fixed order.
struct Binary64Parts {
  int parts = 1;
  double* gPartial = nullptr;    // (tiles, parts, tile)
  unsigned* gArrived = nullptr;  // (tiles), zero before and after
};

// Stores alpha times the sum plus beta C, rounded to FP32.
__device__ __forceinline__ void store_binary64(const SplitTarget& x, const KeptC& kept, int m,
                                               int n, double sum) {
  float* const g = x.c.gC + m * x.c.ld + n * x.col_step;
  const double scaled = x.c.alpha * sum;
  if (x.c.beta == 0.0F) {
    *g = static_cast<float>(scaled);
    return;
  }
  const float before = kept.g == nullptr ? *g : kept.g[m * kept.row_step + n * kept.col_step];
  *g = static_cast<float>(__fma_rn(static_cast<double>(x.c.beta), before, scaled));
}

// Writes this block's partial sums. The last block of the tile adds those of all and returns true.
__device__ __forceinline__ bool add_binary64_parts(
    double (&sums)[Binary64Tile::TM][Binary64Tile::TN][2], const Binary64Parts& of, int tile,
    int part) {
  using T = Binary64Tile;
  __shared__ bool last;
  double* const g = of.gPartial + std::int64_t{tile} * of.parts * T::kElements + threadIdx.x;
  const auto for_each_sum = [&](auto f) {
#pragma unroll
    for (int i = 0; i < T::TM * T::TN * 2; ++i)
      f(sums[i / 2 / T::TN][i / 2 % T::TN][i % 2], i * T::kThreads);
  };
  for_each_sum(
      [&](double sum, int at) { __stcg(g + std::int64_t{part} * T::kElements + at, sum); });
  const auto counter = [&] { return of.gArrived + tile; };
  if (!arrives_last(counter, static_cast<unsigned>(of.parts), last)) return false;
  for_each_sum([](double& sum, int) { sum = 0; });
  for (int from = 0; from < of.parts; ++from)
    for_each_sum(
        [&](double& sum, int at) { sum += __ldcg(g + std::int64_t{from} * T::kElements + at); });
  if (threadIdx.x == 0) of.gArrived[tile] = 0;
  return true;
}

// Computes the work first, first + step, ... with the T::kThreads threads that share `s`, which
// synchronise at the named barrier `id`.
template <bool kParts>
__device__ __forceinline__ void binary64_tiles(const SplitTarget& x, int first, int step,
                                               const Binary64Parts& of, const KeptC& kept,
                                               Binary64Tile::Shared& s, int id) {
  using T = Binary64Tile;
  const auto sync = [&] { ptx::barrier_sync(id, T::kThreads); };
  const int lane = T::thread() % 32, warp = T::thread() / 32;
  const int g = lane / 4, t = lane % 4;
  const int row = warp % (T::BM / T::WM) * T::WM, col = warp / (T::BM / T::WM) * T::WN;
  const int stages = (x.k + T::BK - 1) / T::BK;
  const int tiles_n = (x.c.n + T::BN - 1) / T::BN, tiles = (x.c.m + T::BM - 1) / T::BM * tiles_n;
  const int parts = kParts ? of.parts : 1;
  for (int work = first; work < tiles * parts; work += step) {
    const int tile = work / parts, part = work % parts;
    const int row0 = tile / tiles_n * T::BM, col0 = tile % tiles_n * T::BN;
    const int begin = static_cast<int>(std::int64_t{stages} * part / parts) * T::BK;
    const int end = min(x.k, static_cast<int>(std::int64_t{stages} * (part + 1) / parts) * T::BK);
    double sums[T::TM][T::TN][2]{};
    Binary64Load a(x.a, row0, begin), b(x.b, col0, begin);
    a.load(end - begin);
    b.load(end - begin);
    for (int k0 = begin, stage = 0; k0 < end; k0 += T::BK, stage ^= 1) {
      a.store(s.a[stage]);
      b.store(s.b[stage]);
      sync();
      a.load(end - k0 - T::BK);
      b.load(end - k0 - T::BK);
#pragma unroll 2
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
    bool mine = true;
    if constexpr (kParts) mine = parts == 1 || add_binary64_parts(sums, of, tile, part);
#pragma unroll
    for (int i = 0; i < T::TM; ++i) {
      if (!mine) break;
      const int m = row0 + row + i * ptx::kMmaEdge + g;
#pragma unroll
      for (int j = 0; j < T::TN; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int n = col0 + col + j * ptx::kMmaEdge + 2 * t + e;
          if (m < x.c.m && n < x.c.n) store_binary64(x, kept, m, n, sums[i][j][e]);
        }
      }
    }
    sync();  // before the next tile's stores to shared memory
  }
}

// A persistent kernel. It does nothing unless the guard chose FP64.
static __global__ void __launch_bounds__(Binary64Tile::kThreads, Binary64Tile::kBlocksOfSm)
    binary64_product(const __grid_constant__ SplitTarget x, const int* gChoice,
                     const __grid_constant__ Binary64Parts of, const __grid_constant__ KeptC kept) {
  __shared__ Binary64Tile::Shared s;
  ptx::wait_for_prerequisites();
  if (__ldcg(gChoice) != static_cast<int>(SplitChoice::kBinary64)) return;
  binary64_tiles<true>(x, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), of, kept, s,
                       1);
}

// Tiling of a product in FP64.
class Binary64Job {
  using T = Binary64Tile;

 public:
  // Split-K if there are too few tiles for all SMs.
  Binary64Job(const SplitTarget& x, int sms)
      : x_(x),
        tiles_(ceil_div(x.c.m, T::BM) * ceil_div(x.c.n, T::BN)),
        slots_(std::int64_t{T::kBlocksOfSm} * sms) {
    constexpr std::int64_t kLeastStages = 16;
    parts_ = std::max<std::int64_t>(1, std::min(slots_ / tiles_, x.k / T::BK / kLeastStages));
  }
  std::int64_t scratch_bytes() const { return parts_ > 1 ? tiles_ * parts_ * T::kElements * 8 : 0; }
  // Number of flags required of CallMemory::flags().
  std::int64_t flags() const { return parts_ > 1 ? tiles_ : 0; }

  // Errors: kLaunchFailed.
  Status launch(const int* gChoice, cudaStream_t stream, char* scratch, unsigned* gFlags,
                const KeptC& kept) const {
    const Binary64Parts of{static_cast<int>(parts_), reinterpret_cast<double*>(scratch), gFlags};
    return launch_dependent("product in FP64", binary64_product, std::min(tiles_ * parts_, slots_),
                            1, T::kThreads, 0, stream, x_, gChoice, of, kept);
  }

 private:
  SplitTarget x_;
  std::int64_t tiles_, slots_, parts_ = 1;
};

// Copies C to a contiguous (m, n) array. This kernel reads C before the preceding kernel has ended;
// that kernel must have waited for its own predecessors and must not write C.
static __global__ void __launch_bounds__(256)
    keep_c(const __grid_constant__ Target<float> c, float* gKept) {
  ptx::launch_dependents();
  const std::int64_t all = std::int64_t{c.m} * c.n, stride = std::int64_t{gridDim.x} * blockDim.x;
#pragma unroll 4
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < all; i += stride)
    gKept[i] = c.gC[i / c.n * c.ld + i % c.n];
  ptx::wait_for_prerequisites();  // the next kernel waits for this one only
}

}  // namespace ladder
