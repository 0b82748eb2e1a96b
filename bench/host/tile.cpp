// SPDX-License-Identifier: Apache-2.0
// The rate of h04's register tile for each place of its operands, compared with multiply-adds on
// registers alone: the ceilings of a product. Rounds alternate and are timed by the thread's CPU
// time, because the clock and other programs change from second to second. For registers alone, the
// best of eight windows counts.
//   bin/bench_tile [ROUNDS]
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <vector>

#include "host/micro_kernel.hpp"
#include "host/pack.hpp"
#include "host/rates.hpp"

namespace {

using ladder::host::Form;
using ladder::host::MicroKernel;
using ladder::host::Shape;
using ladder::host::TileArgs;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Packed panels of A times packed panels of B, all of one depth.
struct Block {
  const char* what;
  std::int64_t depth, slivers, panels, c_ld;
  bool c_is_far;
};
constexpr Block kBlocks[] = {
    {"operands in L1, C in L1", 128, 1, 1, 0, false},
    {"operands in L1, C in L1", 192, 1, 1, 0, false},
    {"operands in L2, C in L2", 512, 8, 8, 0, false},
    {"operands in L2, A and C from beyond", 512, 8, 64, 2048, true},
    {"operands in L2, A and C from beyond", 1024, 8, 64, 2048, true},
};
constexpr std::int64_t kMostPanels = 64, kMostSlivers = 8, kMostDepth = 1024, kMostLd = 2048;

// Packed panels are placed as in the rungs, C as a caller's matrix may be.
struct Memory {
  float* a = nullptr;
  float* b = nullptr;
  hwy::AlignedFreeUniquePtr<float[]> c;
};

// Alternating signs and full mantissas, as in a product.
void fill(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    x[i] = (i % 2 == 0 ? 1.0F : -1.0F) / static_cast<float>(i % 97 + 3);
}

void multiply(const MicroKernel& kernel, Shape tile, const Block& block, const Memory& memory) {
  const std::int64_t c_ld = block.c_ld > 0 ? block.c_ld : block.slivers * tile.cols;
  for (std::int64_t i = 0; i < block.panels; ++i) {
    for (std::int64_t j = 0; j < block.slivers; ++j) {
      kernel.tile(Form::kPacked, tile.cols,
                  tile.rows)({.depth = block.depth,
                              .a = memory.a + i * tile.rows * block.depth,
                              .a_ld = tile.rows,
                              .b = memory.b + j * tile.cols * block.depth,
                              .b_ld = tile.cols,
                              .c = memory.c.get() + i * tile.rows * c_ld + j * tile.cols,
                              .c_ld = c_ld,
                              .cols = tile.cols,
                              .c_is_far = block.c_is_far});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double kRound = 5e-3;  // seconds per round
  // FLOP that make the time of a clock reading negligible
  constexpr double kFlopsBesideClock = 2e7;
  const int rounds = argc > 1 ? std::max(4, std::atoi(argv[1])) : 100;
  const MicroKernel& kernel = ladder::host::micro_kernel();
  const Shape tile = kernel.shape(2);
  const std::int64_t size_a = kMostPanels * tile.rows * kMostDepth,
                     size_b = kMostSlivers * tile.cols * kMostDepth;
  const std::int64_t size_c = kMostPanels * tile.rows * kMostLd;
  const Memory memory{ladder::host::workspace(ladder::host::Use::kA, size_a),
                      ladder::host::workspace(ladder::host::Use::kB, size_b),
                      hwy::AllocateAligned<float>(static_cast<std::size_t>(size_c))};
  if (memory.a == nullptr || memory.b == nullptr || !memory.c) {
    std::fprintf(stderr, "out of memory\n");
    return 1;
  }
  fill(memory.a, size_a);
  fill(memory.b, size_b);
  fill(memory.c.get(), size_c);
  std::vector<double> rates[std::size(kBlocks)];
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < std::size(kBlocks); ++i) {
      const Block& block = kBlocks[i];
      const double flops = 2.0 * tile.rows * tile.cols *
                           static_cast<double>(block.depth * block.slivers * block.panels);
      const int batch = 1 + static_cast<int>(kFlopsBesideClock / flops);
      multiply(kernel, tile, block, memory);
      const double begin = thread_seconds();
      double seconds = 0;
      int times = 0;
      while (seconds < kRound) {
        for (int repeat = 0; repeat < batch; ++repeat) multiply(kernel, tile, block, memory);
        times += batch;
        seconds = thread_seconds() - begin;
      }
      rates[i].push_back(flops * times / seconds);
    }
  }
  const auto registers = ladder::host::measure_rates(1);
  std::printf("%s, a tile of %d x %d, one core\n", kernel.target, tile.rows, tile.cols);
  std::printf("GFLOP/s: best, upper quartile\n%6.1f         registers alone\n",
              registers.fma_flops * 1e-9);
  for (std::size_t i = 0; i < std::size(kBlocks); ++i) {
    std::sort(rates[i].rbegin(), rates[i].rend());
    std::printf("%6.1f  %6.1f %s, depth %d\n", rates[i].front() * 1e-9,
                rates[i][rates[i].size() / 4] * 1e-9, kBlocks[i].what,
                static_cast<int>(kBlocks[i].depth));
  }
  return 0;
}
