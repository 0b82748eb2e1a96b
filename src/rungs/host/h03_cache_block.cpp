// SPDX-License-Identifier: Apache-2.0
// h03_cache_block: blocks of each operand stay in a cache.
// NEW:     Blocking, the CPU's shared-memory tile.
// WHY:     h02 reads all of B per row of C; beyond the caches that is one float from memory per
//          multiply-add.
// PREDICT: A block of B comes from memory once for all rows and from L2 per row; the rate no longer
//          falls with N.
// LIMITS:  Any M, N, K, leading dimensions, transposition, layout, alpha, beta.
// NEXT:    h04 keeps C in registers.
#include <ladder/kernel.hpp>

#include <algorithm>
#include <span>

#include "problem/accept.hpp"

namespace ladder::h03_cache_block {

// Sizes in elements. A row of C's block (NC) stays in L1 through KC steps of k, the block of B (KC
// x NC) in L2 through MC rows; the block of A (MC x KC) is read once from L3, where it stays while
// the next block of columns comes.
struct Tile {
  static constexpr std::int64_t NC = 1024, KC = 128, MC = 1024;
  static constexpr std::int64_t kFloat = sizeof(float);
  static_assert(NC * kFloat <= (32 << 10) / 4,
                "a row of C leaves most of a 32 KiB L1 to the rows of B that pass");
  static_assert(KC * NC * kFloat <= (1 << 20) / 2, "a block of B takes at most half of a 1 MiB L2");
  static_assert(MC * KC * kFloat <= (4 << 20) / 4,
                "a block of A takes a small part of a core's share of L3");
};

static Status launch(const Problem& problem, const Operands& operands, Stream) {
  // Who am I: a column-major product is the row-major product of the exchanged operands.
  const auto [p, swapped] = as_row_major(problem);
  const float* a = swapped ? operands.b : operands.a;
  const float* b = swapped ? operands.a : operands.b;
  const std::int64_t depth = reads_ab(p) ? p.k : 0;
  const auto a_at = [&, &p = p](std::int64_t i, std::int64_t k) {
    return p.op_a == Op::kNone ? a[i * p.lda + k] : a[k * p.lda + i];
  };

  // C = beta C first: the blocks of k only add.
  for (std::int64_t i = 0; i < p.m; ++i) {
    float* c = operands.c + i * p.ldc;
    for (std::int64_t j = 0; j < p.n; ++j) c[j] = p.beta == 0.0F ? 0.0F : p.beta * c[j];
  }

  float row_a[Tile::KC], acc[Tile::NC];
  for (std::int64_t i0 = 0; i0 < p.m; i0 += Tile::MC) {
    for (std::int64_t j0 = 0; j0 < p.n; j0 += Tile::NC) {
      for (std::int64_t k0 = 0; k0 < depth; k0 += Tile::KC) {
        const std::int64_t rows = std::min(Tile::MC, p.m - i0), cols = std::min(Tile::NC, p.n - j0);
        const std::int64_t steps = std::min(Tile::KC, depth - k0);
        for (std::int64_t i = i0; i < i0 + rows; ++i) {
          for (std::int64_t k = 0; k < steps; ++k) row_a[k] = a_at(i, k0 + k);
          std::fill_n(acc, cols, 0.0F);

          // Main loop: rows of B lie along n, or along k where B is transposed
          if (p.op_b == Op::kNone) {
            for (std::int64_t k = 0; k < steps; ++k) {
              for (std::int64_t j = 0; j < cols; ++j)
                acc[j] += row_a[k] * b[(k0 + k) * p.ldb + j0 + j];
            }
          } else {
            for (std::int64_t j = 0; j < cols; ++j) {
              for (std::int64_t k = 0; k < steps; ++k)
                acc[j] += row_a[k] * b[(j0 + j) * p.ldb + k0 + k];
            }
          }

          // Epilogue
          float* c = operands.c + i * p.ldc + j0;
          for (std::int64_t j = 0; j < cols; ++j) c[j] += p.alpha * acc[j];
        }
      }
    }
  }
  return Status::ok();
}

static constexpr KernelInfo kKernels[] = {
    host_rung("h03_cache_block", "blocks that stay in L1, L2 and L3", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::h03_cache_block
