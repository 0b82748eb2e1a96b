// SPDX-License-Identifier: Apache-2.0
// Alternatives that the rungs' pages discuss: other block shapes of r01, other tile orders of r01
// to r03. Prints CSV: kernel, block rows, block columns, tile columns in x (0: all), n, median
// GFLOP/s, spread (max - min).
//   bench/h200/csv.sh variants runs it
#include "rungs/cuda/r01_naive.cu"
#include "rungs/cuda/r02_coalesced.cu"
#include "rungs/cuda/r03_smem_tile.cu"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "operands.cuh"

namespace {

using namespace ladder;

struct Block {
  int rows, cols;
  dim3 threads;
};

template <class Kernel>
void measure(const char* name, Kernel kernel, Block block, int tiles_in_x, int n) {
  const std::int64_t size = std::int64_t{n} * n;
  const auto a = bench::uniform_operand(size, 1), b = bench::uniform_operand(size, 77),
             c = bench::uniform_operand(size, 5);
  const Problem p = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n};
  const Operands o = {a.get(), b.get(), c.get()};
  const auto tiles_m = static_cast<unsigned>(ceil_div(n, block.rows));
  const auto tiles_n = static_cast<unsigned>(ceil_div(n, block.cols));
  const unsigned in_x = tiles_in_x == 0 ? tiles_n : static_cast<unsigned>(tiles_in_x);
  const dim3 grid(in_x, tiles_m, (tiles_n + in_x - 1) / in_x);
  bench::Stopwatch watch;
  std::vector<double> rates;
  constexpr int kWarmUp = 3, kSamples = 15;
  for (int i = 0; i < kWarmUp + kSamples; ++i) {
    const float ms = watch.ms(1, [&] { kernel<<<grid, block.threads>>>(p, o); });
    bench::require(cudaGetLastError(), name);
    if (i >= kWarmUp) rates.push_back(2.0 * n * n * n / ms / 1e6);
  }
  std::sort(rates.begin(), rates.end());
  std::printf("%s,%d,%d,%d,%d,%.1f,%.1f\n", name, block.rows, block.cols, tiles_in_x, n,
              rates[kSamples / 2], rates.back() - rates.front());
  std::fflush(stdout);
}

template <int kRows, int kCols>
struct Shape {
  static constexpr int BM = kRows, BN = kCols, kThreads = kRows * kCols;
};

template <int kCols>
void r01_shape(int n) {
  using T = Shape<32, kCols>;
  measure("r01_naive", r01_naive::kernel<T>, {T::BM, T::BN, dim3(T::BM, T::BN)}, kTilesInX, n);
}

}  // namespace

int main() {
  std::printf("kernel,block_rows,block_cols,tiles_in_x,n,gflops,spread\n");
  r01_shape<4>(4096);
  r01_shape<8>(4096);
  r01_shape<16>(4096);
  r01_shape<32>(4096);
  using T2 = r02_coalesced::Tile;
  using T3 = r03_smem_tile::Tile<32>;
  for (const int n : {2048, 4096}) {
    for (const int tiles_in_x : {0, 8, 16, 32}) {
      measure("r02_coalesced", r02_coalesced::kernel<T2>, {T2::BM, T2::BN, dim3(T2::BN, T2::BM)},
              tiles_in_x, n);
      measure("r03_smem_tile_32", r03_smem_tile::kernel<T3>, {T3::BM, T3::BN, dim3(T3::BN, T3::BM)},
              tiles_in_x, n);
    }
  }
  return 0;
}
