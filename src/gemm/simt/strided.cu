// SPDX-License-Identifier: Apache-2.0
// SGEMM on CUDA cores for every GPU, layout and stride: tiles of 64 x 64, no alignment needed, no
// workspace; batches by stride or by pointers, alpha and beta also on the device.
#include "gemm/simt/strided.cuh"

#include "device/extents.cuh"
#include "device/launch.cuh"
#include "device/launch_dependent.cuh"
#include "problem/accept.hpp"

#include <algorithm>
#include <span>

namespace ladder::strided {

constexpr int kTile = 64, kDepth = 16, kThreads = 256, kOfThread = 4, kPad = 4;
constexpr int kLanes = kTile / kOfThread;  // threads along a side of the tile
constexpr int kCopies = kTile * kDepth / kThreads;
static_assert(kLanes * kLanes == kThreads, "one thread for 4 x 4 outputs");

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

// Copies a tile of an operand to sX(k, i), where i is the index along m or n. `step` and `k_step`
// are the distances in memory along i and k. Neighbours in memory are read by neighbouring threads.
// Elements outside of `size` and `depth` are zeros.
__device__ __forceinline__ void copy_tile(float (*sX)[kTile + kPad], const float* gX,
                                          std::int64_t step, std::int64_t k_step, std::int64_t size,
                                          std::int64_t depth) {
  const int tid = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int r = 0; r < kCopies; ++r) {
    const int e = tid + r * kThreads;
    const int i = k_step == 1 ? e / kDepth : e % kTile, k = k_step == 1 ? e % kDepth : e / kTile;
    sX[k][i] = i < size && k < depth ? gX[i * step + k * k_step] : 0.0F;
  }
}

__global__ void __launch_bounds__(kThreads)
    multiply(const __grid_constant__ StridedJob x, std::int64_t tiles_m) {
  __shared__ float sA[kDepth][kTile + kPad], sB[kDepth][kTile + kPad];
  const std::int64_t tile = blockIdx.x;
  const std::int64_t row0 = tile % tiles_m * kTile, col0 = tile / tiles_m * kTile;
  const int row = static_cast<int>(threadIdx.x) / kLanes * kOfThread,
            col = static_cast<int>(threadIdx.x) % kLanes * kOfThread;
  const auto [alpha, beta] = scale_of(x.by);
  const std::int64_t depth = alpha == 0.0F ? 0 : x.k;  // else A and B are not read
  for (std::int64_t number = blockIdx.y; number < x.count; number += gridDim.y) {
    float rC[kOfThread][kOfThread] = {};
    if (depth > 0) {
      const float* const gA = matrix(x.a, number) + row0 * x.a.row;
      const float* const gB = matrix(x.b, number) + col0 * x.b.col;
      for (std::int64_t k = 0; k < depth; k += kDepth) {
        __syncthreads();
        copy_tile(sA, gA + k * x.a.col, x.a.row, x.a.col, x.m - row0, depth - k);
        copy_tile(sB, gB + k * x.b.row, x.b.col, x.b.row, x.n - col0, depth - k);
        __syncthreads();
        const int steps = static_cast<int>(min(std::int64_t{kDepth}, depth - k));
        for (int kk = 0; kk < steps; ++kk) {  // no product of padding: 0 * Inf would be NaN
#pragma unroll
          for (int i = 0; i < kOfThread; ++i) {
#pragma unroll
            for (int j = 0; j < kOfThread; ++j) rC[i][j] += sA[kk][row + i] * sB[kk][col + j];
          }
        }
      }
    }
    float* const gC = matrix(x.c, number) + (row0 + row) * x.c.row + (col0 + col) * x.c.col;
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
#pragma unroll
      for (int j = 0; j < kOfThread; ++j) {
        if (row0 + row + i >= x.m || col0 + col + j >= x.n) continue;
        float* const g = gC + i * x.c.row + j * x.c.col;
        const float product = depth == 0 ? 0.0F : alpha * rC[i][j];
        *g = beta == 0.0F ? product : depth == 0 ? beta * *g : product + beta * *g;
      }
    }
  }
}

__device__ __forceinline__ float activate(Activation kind, float x) {
  constexpr float kHalfRoot = 0.70710678F, kRoot2OverPi = 0.79788456F, kCubic = 0.044715F;
  switch (kind) {
    case Activation::kRelu:
      return x < 0.0F ? 0.0F : x;  // NaN stays NaN
    case Activation::kGelu:
      return 0.5F * x * (1.0F + erff(x * kHalfRoot));
    case Activation::kGeluTanh:
      return 0.5F * x * (1.0F + tanhf(kRoot2OverPi * (x + kCubic * x * x * x)));
    default:
      return x;
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
  return launch_strided(strided_job(problem, operands), stream);
}

static constexpr KernelInfo kKernels[] = {
    {.id = "ladder_strided",
     .rung = "strided",
     .idea = "CUDA cores: any GPU, stride and batch",
     .role = Role::kLibraryKernel,
     .min_cc = kMinCc,
     .accepts = accepts,
     .launch = launch},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::strided

namespace ladder {

StridedJob strided_job(const Problem& p, const Operands& o) {
  StridedJob job;
  job.m = p.m;
  job.n = p.n;
  job.k = reads_ab(p) ? p.k : 0;
  job.by = {p.alpha, p.beta};
  const auto set = [&](auto& matrix, auto* g, std::int64_t ld, Op op) {
    matrix.g = g;
    const bool rows = (p.layout == Layout::kRowMajor) == (op == Op::kNone);
    matrix.row = rows ? ld : 1;
    matrix.col = rows ? 1 : ld;
  };
  set(job.a, o.a, p.lda, p.op_a);
  set(job.b, o.b, p.ldb, p.op_b);
  set(job.c, o.c, p.ldc, Op::kNone);
  return job;
}

Status launch_strided(const StridedJob& x, Stream stream) {
  using namespace strided;
  if (x.m == 0 || x.n == 0 || x.count == 0) return Status::ok();
  constexpr std::int64_t kMostTiles = 0x7FFFFFFF;
  const std::int64_t tiles_m = ceil_div(x.m, kTile), tiles_n = ceil_div(x.n, kTile);
  if (tiles_m > kMostTiles / tiles_n)
    return {Code::kUnsupportedProblem, "m, n: C has more than 2^31 tiles of 64x64"};
  const dim3 grid(static_cast<unsigned>(tiles_m * tiles_n),
                  static_cast<unsigned>(std::min<std::int64_t>(x.count, kMaxGridYZ)));
  return launch_kernel("strided product", multiply, grid, kThreads, 0, stream, x, tiles_m);
}

Status launch_finish(const FinishJob& x, Stream stream) {
  using namespace strided;
  if (x.m == 0 || x.n == 0 || x.count == 0) return Status::ok();
  constexpr std::int64_t kMostBlocks = 4096;
  const std::int64_t blocks = std::min(ceil_div(x.m * x.n, kThreads), kMostBlocks);
  const dim3 grid(static_cast<unsigned>(blocks),
                  static_cast<unsigned>(std::min<std::int64_t>(x.count, kMaxGridYZ)));
  return launch_kernel("epilogue", finish, grid, kThreads, 0, stream, x);
}

}  // namespace ladder
