// SPDX-License-Identifier: Apache-2.0
// FP32 products from bf16 or tf32 terms through mma.sync, for every GPU from Ampere on. Operands
// are split in registers: no pre-pass, no workspace. Any layout, transposition, leading dimension,
// alpha, beta; Inf, NaN and numbers near the ends of the range as SGEMM.
//
// A slab of k with a nonzero number below 2^-103, which terms do not represent exactly, is
// multiplied in FP32. A tile whose sums are not finite is computed again in FP32, since products of
// terms may overflow where products of their numbers do not. Both have as many roundings as sums of
// terms.
#include "device/launch.cuh"
#include "device/loan.hpp"
#include "device/runtime.cuh"
#include "gemm/call.hpp"
#include "gemm/plan/choice.hpp"
#include "gemm/split/warp_terms.cuh"
#include "problem/accept.hpp"
#include "problem/split_error.hpp"

#include <algorithm>
#include <span>

namespace ladder::split_mma {

template <int BM_, int BN_, int BK_, int WM_, int WN_, int STAGES_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_;
  static constexpr int WM = WM_, WN = WN_;  // outputs of a warp
  static constexpr int STAGES = STAGES_;    // tiles in shared memory
  static constexpr int kWarpsN = BN / WN, kThreads = BM / WM * kWarpsN * kWarp;
  static constexpr int kRows = WM / kPiece, kCols = WN / kPiece;  // pieces
  static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles must divide the block tile");
  static_assert(WM % kBlock == 0 && WN % kBlock == 0, "pieces are interleaved by four");
  static_assert(STAGES >= 2, "one tile is read while another is written");

  struct Shared {
    alignas(16) float a[STAGES][BM * BK];
    alignas(16) float b[STAGES][BN * BK];
  };
  // GPUs of compute capability 8.6, 8.9 and 12.0 have the least.
  static_assert(sizeof(Shared) <= 99 * 1024, "a block's shared memory");
};

struct Job {
  Problem p;  // row-major
  Operands o;
  bool wide_a, wide_b, wide_c;  // rows, in memory, begin at multiples of 16 bytes
};

// The sums of a lane. of(i, j)[e] is element e of the fragment of rows' pieces 2 i and 2 i + 1 and
// of columns' piece j.
template <class T>
struct Sums {
  static constexpr int kSums = T::kRows / 2 * T::kCols * 4;
  float all[kSums]{};
  __device__ __forceinline__ float* of(int i, int j) { return all + (i * T::kCols + j) * 4; }
};

// The fragments of the terms of kBlock vectors from i0 on: words[term][step][piece][p].
template <class F>
using BlockTerms = std::uint32_t[F::kTerms][F::kDepth / kGroup * F::kSteps][kBlock / kPiece][2];
template <class F, class Panel>
__device__ __forceinline__ void load_terms(BlockTerms<F>& words, const float* s, int i0, int k0) {
#pragma unroll
  for (int group = 0; group < F::kDepth / kGroup; ++group) {
    float r[kBlock / kPiece][4];
    Panel::load(r, s, i0, k0 + group * kGroup);
#pragma unroll
    for (int q = 0; q < kBlock / kPiece; ++q) {
      std::uint32_t of_piece[F::kTerms][F::kSteps][2];
      F::split(of_piece, r[q]);
#pragma unroll
      for (int w = 0; w < F::kTerms; ++w) {
#pragma unroll
        for (int step = 0; step < F::kSteps; ++step) {
          words[w][group * F::kSteps + step][q][0] = of_piece[w][step][0];
          words[w][group * F::kSteps + step][q][1] = of_piece[w][step][1];
        }
      }
    }
  }
}

// Adds the products of depth F::kDepth, from k0 on: sums of terms' products on the tensor core, and
// these with rounding to nearest.
template <class T, class F, class PanelA, class PanelB>
__device__ __forceinline__ void add_terms(Sums<T>& sums, const float* sA, const float* sB, int row,
                                          int col, int k0) {
  constexpr int kPieces = kBlock / kPiece, kSteps = F::kDepth / kGroup * F::kSteps;
  BlockTerms<F> rB[T::WN / kBlock], rA;
#pragma unroll
  for (int block = 0; block < T::WN / kBlock; ++block)
    load_terms<F, PanelB>(rB[block], sB, col + block * kBlock, k0);
#pragma unroll
  for (int block = 0; block < T::WM / kBlock; ++block) {
    asm volatile("" ::: "memory");  // loads of all blocks at once would not fit the registers
    load_terms<F, PanelA>(rA, sA, row + block * kBlock, k0);
#pragma unroll
    for (int i = 0; i < kPieces; i += 2) {
#pragma unroll
      for (int j = 0; j < T::kCols; ++j) {
        float sum[4] = {};
#pragma unroll
        // The smallest products first: a tensor core's truncation is proportional to the sum.
        for (int both = F::kTerms - 1; both >= 0; --both) {  // index of A's term plus that of B's
#pragma unroll
          for (int w = both; w >= 0; --w) {
#pragma unroll
            for (int step = 0; step < kSteps; ++step) {
              const auto& of_a = rA[w][step];
              const std::uint32_t a[4] = {of_a[i][0], of_a[i + 1][0], of_a[i][1], of_a[i + 1][1]};
              F::multiply(sum, a, rB[j / kPieces][both - w][step][j % kPieces]);
            }
          }
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) sums.of((block * kPieces + i) / 2, j)[e] += sum[e];
      }
    }
  }
}

// The row of a piece's row g, or the column of its column g.
__device__ __forceinline__ int place(int piece, int g) {
  return piece / 4 * kBlock + 4 * g + piece % 4;
}

// The same as add_terms with FP32 products, of depth kGroup.
template <class T, class PanelA, class PanelB>
__device__ __forceinline__ void add_exact(Sums<T>& sums, const float* sA, const float* sB, int row,
                                          int col, int k0) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
  Sums<T> partial;
#pragma unroll 1
  for (int k = k0; k < k0 + kGroup; ++k) {
    float a[T::kRows], b[T::kCols][2];
#pragma unroll
    for (int q = 0; q < T::kRows; ++q) a[q] = sA[PanelA::element(row + place(q, g), k)];
#pragma unroll
    for (int q = 0; q < T::kCols; ++q) {
      b[q][0] = sB[PanelB::element(col + place(q, 2 * t), k)];
      b[q][1] = sB[PanelB::element(col + place(q, 2 * t + 1), k)];
    }
#pragma unroll
    for (int i = 0; i < T::kRows / 2; ++i) {
#pragma unroll
      for (int j = 0; j < T::kCols; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          partial.of(i, j)[e] = __fmaf_rn(a[2 * i + e / 2], b[j][e % 2], partial.of(i, j)[e]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < Sums<T>::kSums; ++i) sums.all[i] += partial.all[i];
}

template <class T, class F, bool kAlongA, bool kAlongB>
__global__ void __launch_bounds__(T::kThreads, 1) multiply(const __grid_constant__ Job x) {
  using PanelA = Panel<kAlongA, T::BM, T::BK, T::kThreads>;
  using PanelB = Panel<kAlongB, T::BN, T::BK, T::kThreads>;
  static_assert(T::BK % F::kDepth == 0, "whole sums");
  extern __shared__ float4 shared[];  // on 16 bytes
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);
  const Problem& p = x.p;
  const BlockTile tile = block_tile();
  const std::int64_t row0 = std::int64_t{tile.m} * T::BM, col0 = std::int64_t{tile.n} * T::BN;
  if (col0 >= p.n) return;  // a surplus block, as a whole
  const int warp = static_cast<int>(threadIdx.x) / kWarp, row = warp / T::kWarpsN * T::WM,
            col = warp % T::kWarpsN * T::WN;
  const float* const gA = x.o.a + row0 * (kAlongA ? p.lda : 1);
  const float* const gB = x.o.b + col0 * (kAlongB ? p.ldb : 1);
  const auto copy = [&](int stage, std::int64_t k) {
    PanelA::copy(s.a[stage], gA + k * (kAlongA ? 1 : p.lda), p.lda, p.m - row0, p.k - k, x.wide_a);
    PanelB::copy(s.b[stage], gB + k * (kAlongB ? 1 : p.ldb), p.ldb, p.n - col0, p.k - k, x.wide_b);
  };
  const int steps = static_cast<int>((p.k + T::BK - 1) / T::BK);

  Sums<T> sums;  // (WM,WN)
  for (bool all_exact = false;; all_exact = true) {
#pragma unroll
    for (float& sum : sums.all) sum = 0.0F;
#pragma unroll
    for (int stage = 0; stage < T::STAGES - 1; ++stage) {
      if (stage < steps) copy(stage, std::int64_t{stage} * T::BK);
      ptx::cp_async_commit();
    }
    int stage = 0, free_stage = T::STAGES - 1;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      ptx::cp_async_wait<T::STAGES - 2>();
      const bool tiny = PanelA::has_tiny(s.a[stage]) || PanelB::has_tiny(s.b[stage]);
      const bool exact = __syncthreads_or(static_cast<int>(tiny)) != 0 || all_exact;
      const int next = step + T::STAGES - 1;  // all have read the stage before this one
      if (next < steps) copy(free_stage, std::int64_t{next} * T::BK);
      ptx::cp_async_commit();
      if (exact) {
#pragma unroll 1
        for (int k = 0; k < T::BK; k += kGroup)
          add_exact<T, PanelA, PanelB>(sums, s.a[stage], s.b[stage], row, col, k);
      } else {
#pragma unroll 1
        for (int k = 0; k < T::BK; k += F::kDepth)
          add_terms<T, F, PanelA, PanelB>(sums, s.a[stage], s.b[stage], row, col, k);
      }
      free_stage = stage;
      stage = stage + 1 == T::STAGES ? 0 : stage + 1;
    }
    bool finite = true;
#pragma unroll
    for (const float sum : sums.all) finite = finite && fabsf(sum) < INFINITY;
    if (__syncthreads_or(static_cast<int>(!finite)) == 0 || all_exact) break;
  }

  // Epilogue: a lane has four neighbours in a row of C.
  const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int q = 0; q < T::kRows; ++q) {
    const std::int64_t m = row0 + row + place(q, g);
    if (m >= p.m) continue;
#pragma unroll
    for (int j = 0; j < T::kCols; j += 4) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const std::int64_t n = col0 + col + place(j, 2 * t + e);
        const auto at = [&](int of) { return sums.of(q / 2, j + of)[q % 2 * 2 + e]; };
        const float four[4] = {at(0), at(1), at(2), at(3)};
        const int left = static_cast<int>(min(std::int64_t{4}, p.n - n));
        float* const gC = x.o.c + m * p.ldc + n;
        if (x.wide_c && left == 4)
          store4_scaled<true>(gC, four, left, p.alpha, p.beta);
        else
          store4_scaled<false>(gC, four, left, p.alpha, p.beta);
      }
    }
  }
}

// A lane's sums, partial sums and terms fit 255 registers.
using DefaultTile = Tile<128, 128, 32, 64, 32, 3>;
constexpr bool is_planned(const EveryGpuTile& tile) {
  return tile.products == 1 || (tile.m == DefaultTile::BM && tile.n == DefaultTile::BN &&
                                tile.k == DefaultTile::BK && tile.min_cc == kAmpere);
}
static_assert(std::ranges::all_of(kEveryGpuTiles, is_planned), "the tile of the plan");

static Status accepts(const Problem&, const Device& device) { return accept_cuda(device, kAmpere); }

template <class F, Precision kPrecision>
static Status launch(const Problem& original, const Operands& given, Stream stream) {
  using T = DefaultTile;
  // The bound of a precision allows two roundings for each kPromoted of k, and as long sums.
  static_assert(
      F::kDepth <= words_of(kPrecision).promoted && 2 * F::kDepth >= words_of(kPrecision).promoted,
      "the error bound holds for sums of half the depth, or more");
  // A call that only queries the needed workspace enqueues nothing. This kernel needs none.
  if (Loan* const loan = Loan::current(); loan != nullptr) {
    if (Status s = loan->take({}); !s) return s;
  }
  const auto [p, swapped] = as_row_major(original);
  const Operands o = swapped ? Operands{given.b, given.a, given.c} : given;
  const bool along_a = p.op_a == Op::kNone, along_b = p.op_b == Op::kTranspose;
  const auto kernel = along_a
                          ? (along_b ? multiply<T, F, true, true> : multiply<T, F, true, false>)
                          : (along_b ? multiply<T, F, false, true> : multiply<T, F, false, false>);
  constexpr int kShared = sizeof(typename T::Shared);
  if (const cudaError_t error = allow_shared(reinterpret_cast<const void*>(kernel), kShared);
      error != cudaSuccess)
    return cuda_failure("cudaFuncSetAttribute", error);
  return launch_parts(p, o, T::BM, T::BN, [&](const Problem& part, const Operands& at, dim3 grid) {
    const Job job{part, at, has_aligned_rows(at.a, part.lda), has_aligned_rows(at.b, part.ldb),
                  has_aligned_rows(at.c, part.ldc)};
    kernel<<<grid, T::kThreads, kShared, stream>>>(job);
  });
}

template <class F, Precision kPrecision>
static constexpr KernelInfo info(std::string_view id, std::string_view idea) {
  return library_kernel(id, "split_mma", idea, kPrecision, kAmpere, accepts, launch<F, kPrecision>);
}

static constexpr KernelInfo kKernels[] = {
    info<Terms<__nv_bfloat16, 3, 6, 16>, Precision::kBf16x6>("ladder_mma_bf16x6",
                                                             "mma.sync: three bf16 terms"),
    info<Terms<__nv_bfloat16, 2, 3, 32>, Precision::kBf16x3>("ladder_mma_bf16x3",
                                                             "mma.sync: two bf16 terms"),
    info<Terms<float, 2, 3, 16>, Precision::kTf32x3>("ladder_mma_tf32x3",
                                                     "mma.sync: two tf32 terms"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::split_mma
