// SPDX-License-Identifier: Apache-2.0
// SGEMM on CUDA cores for every GPU, layout and stride: no alignment needed, no workspace; batches
// by stride or by pointers, alpha and beta also on the device. Tiles of both sizes give the same
// bits.
#include "gemm/simt/strided.cuh"

#include "device/extents.cuh"
#include "device/launch_dependent.cuh"
#include "device/runtime.cuh"
#include "device/vector.cuh"
#include "gemm/call.hpp"
#include "gemm/plan/choice.hpp"
#include "problem/accept.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace ladder::strided {

constexpr int kThreads = 256;

// A thread has TM x TN sums, in groups of four along both sides of the tile.
template <int BM_, int BN_, int BK_, int TM_, int TN_>
struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_;
  static constexpr int kLanesM = BM / TM, kLanesN = BN / TN;  // threads along a side
  static constexpr int kPad = 4;  // keeps float4 aligned, and stores along k free of bank conflicts
  static_assert(kLanesM * kLanesN == kThreads, "one thread per TM x TN outputs");
  static_assert(TM % 4 == 0 && TN % 4 == 0, "fragments of float4");
  static_assert(BM * BK % kThreads == 0 && BN * BK % kThreads == 0, "whole copies per thread");
};
using SmallTile = Tile<64, 64, 16, 4, 4>;
using LargeTile = Tile<128, 128, 8, 8, 8>;

struct Scale {
  float alpha, beta;
};
__device__ __forceinline__ Scale scale_of(const Scalars& by) {
  return {by.g_alpha == nullptr ? by.alpha : *by.g_alpha,
          by.g_beta == nullptr ? by.beta : *by.g_beta};
}

template <class T>
__device__ __forceinline__ T* matrix(const StridedBatch<T>& x, std::int64_t number) {
  return x.of == nullptr ? x.g + number * x.stride : x.of[number];
}

// A slice of an operand, BK deep: read to registers, then stored to sX(k, i), where i is the index
// along m or n. Neighbours in memory are read by neighbouring threads.
template <int kVectors, int BK, int kStride>
class Slice {
 public:
  // `step` and `k_step`: elements between neighbours along i and k.
  __device__ __forceinline__ Slice(std::int64_t step, std::int64_t k_step)
      : step_(step), k_step_(k_step) {}
  // Elements outside of `size` and `depth` are zeros.
  __device__ __forceinline__ void read(const float* gX, std::int64_t size, std::int64_t depth) {
#pragma unroll
    for (int r = 0; r < kCopies; ++r) {
      const auto [k, i] = place(r);
      r_[r] = i < size && k < depth ? gX[i * step_ + k * k_step_] : 0.0F;
    }
  }
  __device__ __forceinline__ void store(float* sX) const {
#pragma unroll
    for (int r = 0; r < kCopies; ++r) {
      const auto [k, i] = place(r);
      sX[k * kStride + i] = r_[r];
    }
  }

 private:
  static constexpr int kCopies = kVectors * BK / kThreads;
  struct Place {
    int k, i;
  };
  __device__ __forceinline__ Place place(int r) const {
    const int e = static_cast<int>(threadIdx.x) + r * kThreads;
    if (k_step_ == 1) return {e % BK, e / BK};
    return {e / kVectors, e % kVectors};
  }
  std::int64_t step_, k_step_;
  float r_[kCopies];
};

template <int kLanes, int kCount>
__device__ __forceinline__ void read_fragment(float (&r)[kCount], const float* s, int lane) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    set4(r + i, load4(s + index_of<kLanes>(lane, i)));
  }
}

// Adds one product of a column of A and a row of B.
template <class T>
__device__ __forceinline__ void multiply_step(float (&rC)[T::TM][T::TN], const float* sA,
                                              const float* sB, int lane_m, int lane_n) {
  float rA[T::TM], rB[T::TN];
  read_fragment<T::kLanesM>(rA, sA, lane_m);
  read_fragment<T::kLanesN>(rB, sB, lane_n);
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
#pragma unroll
    for (int j = 0; j < T::TN; ++j) rC[i][j] += rA[i] * rB[j];
  }
}

template <class T>
__device__ __forceinline__ void multiply_tile(float (&rC)[T::TM][T::TN], const StridedJob& x,
                                              const float* gA, const float* gB, std::int64_t rows,
                                              std::int64_t cols, int lane_m, int lane_n) {
  constexpr int kStrideA = T::BM + T::kPad, kStrideB = T::BN + T::kPad;
  __shared__ __align__(16) float sA[2][T::BK * kStrideA], sB[2][T::BK * kStrideB];
  Slice<T::BM, T::BK, kStrideA> a(x.a.row, x.a.col);
  Slice<T::BN, T::BK, kStrideB> b(x.b.col, x.b.row);
  a.read(gA, rows, x.k);
  b.read(gB, cols, x.k);
  a.store(sA[0]);
  b.store(sB[0]);
  __syncthreads();
  int now = 0;
  for (std::int64_t k = 0; k < x.k; k += T::BK, now ^= 1) {
    const std::int64_t next = k + T::BK;
    if (next < x.k) {
      a.read(gA + next * x.a.col, rows, x.k - next);
      b.read(gB + next * x.b.row, cols, x.k - next);
    }
    // No product of padding: 0 * Inf would be NaN.
    const int steps = next <= x.k ? T::BK : static_cast<int>(x.k - k);
#pragma unroll 2
    for (int kk = 0; kk < steps; ++kk)
      multiply_step<T>(rC, sA[now] + kk * kStrideA, sB[now] + kk * kStrideB, lane_m, lane_n);
    if (next >= x.k) break;
    a.store(sA[now ^ 1]);
    b.store(sB[now ^ 1]);
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, 2)
    multiply(const __grid_constant__ StridedJob x, std::int64_t tiles_m) {
  const std::int64_t number = blockIdx.y + std::int64_t{blockIdx.z} * gridDim.y;
  if (number >= x.count) return;
  const std::int64_t tile = blockIdx.x;
  const std::int64_t row0 = tile % tiles_m * T::BM, col0 = tile / tiles_m * T::BN;
  const int lane_m = static_cast<int>(threadIdx.x) / T::kLanesN,
            lane_n = static_cast<int>(threadIdx.x) % T::kLanesN;
  const auto [alpha, beta] = scale_of(x.by);
  const bool reads = alpha != 0.0F && x.k > 0;
  float rC[T::TM][T::TN] = {};
  if (reads) {
    multiply_tile<T>(rC, x, matrix(x.a, number) + row0 * x.a.row,
                     matrix(x.b, number) + col0 * x.b.col, x.m - row0, x.n - col0, lane_m, lane_n);
  }
  float* const gC = matrix(x.c, number) + row0 * x.c.row + col0 * x.c.col;
#pragma unroll
  for (int i = 0; i < T::TM; ++i) {
#pragma unroll
    for (int j = 0; j < T::TN; ++j) {
      const int row = index_of<T::kLanesM>(lane_m, i), col = index_of<T::kLanesN>(lane_n, j);
      if (row0 + row >= x.m || col0 + col >= x.n) continue;
      float* const g = gC + row * x.c.row + col * x.c.col;
      const float product = reads ? alpha * rC[i][j] : 0.0F;
      *g = beta == 0.0F ? product : reads ? product + beta * *g : beta * *g;
    }
  }
}

template <class T>
static Status launch_tiles(const StridedJob& x, Stream stream) {
  constexpr std::int64_t kMostTiles = 0x7FFFFFFF;
  const std::int64_t tiles_m = ceil_div(x.m, T::BM), tiles_n = ceil_div(x.n, T::BN);
  if (tiles_m > kMostTiles / tiles_n)
    return {Code::kUnsupportedProblem, "m, n: C has more than 2^31 tiles of " +
                                           std::to_string(T::BM) + "x" + std::to_string(T::BN)};
  const std::int64_t along_y = std::min<std::int64_t>(x.count, kMaxGridYZ),
                     along_z = ceil_div(x.count, along_y);
  if (along_z > kMaxGridYZ) return {Code::kUnsupportedProblem, "count: more than 65535^2 products"};
  return launch_kernel("strided product", multiply<T>, {tiles_m * tiles_n, along_y, along_z},
                       kThreads, 0, stream, x, tiles_m);
}

__device__ __forceinline__ float activate(Activation kind, float x) {
  constexpr float kHalfRoot = 0.70710678F, kRoot2OverPi = 0.79788456F, kCubic = 0.044715F;
  switch (kind) {
    case Activation::kRelu: return x < 0.0F ? 0.0F : x;  // NaN stays NaN
    case Activation::kGelu: return 0.5F * x * (1.0F + erff(x * kHalfRoot));
    case Activation::kGeluTanh:
      return 0.5F * x * (1.0F + tanhf(kRoot2OverPi * (x + kCubic * x * x * x)));
    default: return x;
  }
}

// Neighbours in memory belong to neighbouring threads: the inner index runs along C's step of 1.
__global__ void __launch_bounds__(kThreads) finish(const __grid_constant__ FinishJob x) {
  const bool along_m = x.c.row == 1;
  const std::int64_t inner = along_m ? x.m : x.n, all = x.m * x.n,
                     stride = std::int64_t{gridDim.x} * kThreads;
  const auto [alpha, beta] = scale_of(x.by);
  for (std::int64_t number = blockIdx.y; number < x.count; number += gridDim.y) {
    float* const gC = matrix(x.c, number);
    for (auto e = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; e < all; e += stride) {
      const std::int64_t i = along_m ? e % inner : e / inner, j = along_m ? e / inner : e % inner;
      float* const g = gC + i * x.c.row + j * x.c.col;
      float value = 0.0F;
      if (x.product == nullptr) {
        value = *g;
      } else {
        const float product = alpha == 0.0F ? 0.0F : alpha * x.product[i * x.n + j];
        value = beta == 0.0F ? product : product + beta * *g;
      }
      if (x.bias != nullptr) value += x.bias[number * x.bias_stride + (x.bias_of_column ? j : i)];
      value = x.scale * activate(x.activation, value);
      if (x.residual.g != nullptr)
        value += matrix(x.residual, number)[i * x.residual.row + j * x.residual.col];
      *g = value;
    }
  }
}

static Status accepts(const Problem&, const Device& device) { return accept_cuda(device, kMinCc); }

static Status launch(const Problem& problem, const Operands& operands, Stream stream) {
  return launch_strided(
      strided_job(problem, {.g = operands.a}, {.g = operands.b}, {.g = operands.c}), stream);
}

static constexpr KernelInfo kKernels[] = {
    library_kernel("ladder_strided", "strided", "CUDA cores: any GPU, stride and batch",
                   Precision::kIeee, kMinCc, accepts, launch),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::strided

namespace ladder {

StridedJob strided_job(const Problem& p, const StridedBatch<const float>& a,
                       const StridedBatch<const float>& b, const StridedBatch<float>& c) {
  StridedJob job{.a = a,
                 .b = b,
                 .c = c,
                 .m = p.m,
                 .n = p.n,
                 .k = reads_ab(p) ? p.k : 0,
                 .by = {p.alpha, p.beta}};
  const auto set_steps = [&](auto& matrix, std::int64_t ld, Op op) {
    const bool rows = (p.layout == Layout::kRowMajor) == (op == Op::kNone);
    matrix.row = rows ? ld : 1;
    matrix.col = rows ? 1 : ld;
  };
  set_steps(job.a, p.lda, p.op_a);
  set_steps(job.b, p.ldb, p.op_b);
  set_steps(job.c, p.ldc, Op::kNone);
  return job;
}

Status launch_strided(const StridedJob& x, Stream stream) {
  using namespace strided;
  if (x.m == 0 || x.n == 0 || x.count == 0) return Status::ok();
  int sms = 0;
  if (Status s = sm_count(sms); !s) return s;
  const EveryGpuTile tile =
      tile_for(*find_every_gpu_tile("ladder_strided"), x.m, x.n, x.count, sms);
  return tile.m == LargeTile::BM ? launch_tiles<LargeTile>(x, stream)
                                 : launch_tiles<SmallTile>(x, stream);
}

Status launch_finish(const FinishJob& x, Stream stream) {
  using namespace strided;
  if (x.m == 0 || x.n == 0 || x.count == 0) return Status::ok();
  constexpr std::int64_t kMostBlocks = 4096;
  const std::int64_t blocks = std::min(ceil_div(x.m * x.n, kThreads), kMostBlocks);
  return launch_kernel("epilogue", finish, {blocks, std::min<std::int64_t>(x.count, kMaxGridYZ)},
                       kThreads, 0, stream, x);
}

}  // namespace ladder
