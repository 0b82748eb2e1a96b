// SPDX-License-Identifier: Apache-2.0
// r01_naive: one thread computes one element of C.              NEW: a thread for each output
// WHY: C has m n independent elements; the GPU wants that many threads.
// PREDICT: the lanes of a warp stand on 32 rows: each load of A touches 32 sectors of 32 bytes for 128 bytes
//          wanted, each load of B is a broadcast; 1% of cuBLAS.
// LIMITS: any m, n, k, leading dimensions, alpha, beta.         NEXT: r02 turns the warp along the row
#include "kernels/cuda/launch.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r01_naive {

struct Tile {
  static constexpr int BM = 32, BN = 32;  // outputs of a block
  static constexpr int kThreads = BM * BN;
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  // Who am I: threadIdx.x, along which a warp lies, counts rows.
  const int row = static_cast<int>(blockIdx.y * T::BM + threadIdx.x);
  const int col = static_cast<int>(blockIdx.x * T::BN + threadIdx.y);
  if (row >= p.m || col >= p.n) return;

  // Tensors and shapes
  const float* gA = o.a + row * p.lda;  // (k), stride 1
  const float* gB = o.b + col;          // (k), stride ldb

  // Main loop
  float acc = 0.0F;
  for (std::int64_t k = 0; k < p.k; ++k) acc += gA[k] * gB[k * p.ldb];

  // Epilogue
  store_scaled(o.c + row * p.ldc + col, acc, p.alpha, p.beta);
}

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_cuda(device, kMinCc); !s) return s;
  return accept_row_major_nn(p);
}

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return launch_bands(p, o, Tile::BM, Tile::BN, [&](const Problem& band, const Operands& at, dim3 blocks) {
    kernel<Tile><<<blocks, dim3(Tile::BM, Tile::BN), 0, stream>>>(band, at);
  });
}

static constexpr KernelInfo kKernels[] = {
    {.id = "r01_naive",
     .rung = "r01_naive",
     .idea = "one thread an output, a warp along a column",
     .min_cc = kMinCc,
     .accepts = accepts,
     .launch = launch},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r01_naive
