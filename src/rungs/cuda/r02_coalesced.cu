// SPDX-License-Identifier: Apache-2.0
// r02_coalesced: a warp computes 32 neighbouring columns.
// NEW:     Lanes along the row.
// WHY:     A load of A in r01 fetches 32 sectors for the 128 bytes that the warp uses.
// PREDICT: B and C come in 4 sectors per request, A is a broadcast of 1: sectors per step of k fall
//          from 33 to 5, and the rate rises about tenfold.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta.
// NEXT:    r03 keeps what neighbours share.
#include "device/launch.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::r02_coalesced {

struct Tile {
  static constexpr int BM = 32, BN = 32;  // outputs of a block
  static constexpr int kThreads = BM * BN;
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(BN % 32 == 0, "a warp's lanes must stay on one row");
};

template <class T>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {
  // Who am I: threadIdx.x, along which a warp lies, counts columns.
  const BlockTile tile = block_tile();
  const int row = tile.m * T::BM + static_cast<int>(threadIdx.y);
  const int col = tile.n * T::BN + static_cast<int>(threadIdx.x);
  if (row >= p.m || col >= p.n) return;

  // Tensors and shapes
  const float* gA = o.a + row * p.lda;  // (k), stride 1
  const float* gB = o.b + col;          // (k), stride ldb

  // Main loop
  float acc = 0.0F;
  const int depth = static_cast<int>(p.k);
  for (int k = 0; k < depth; ++k) acc += gA[k] * gB[k * p.ldb];

  // Epilogue
  store_scaled(o.c + row * p.ldc + col, acc, p.alpha, p.beta);
}

static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return launch_parts(p, o, Tile::BM, Tile::BN,
                      [&](const Problem& part, const Operands& at, dim3 grid) {
                        kernel<Tile><<<grid, dim3(Tile::BN, Tile::BM), 0, stream>>>(part, at);
                      });
}

static constexpr KernelInfo kKernels[] = {
    plain_rung<kMinCc>("r02_coalesced", "a warp along a row: coalesced loads and stores", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r02_coalesced
