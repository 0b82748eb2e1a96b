// SPDX-License-Identifier: Apache-2.0
// h05_threads: all cores.                                       NEW: threads that share packed A
// WHY: h04 uses one core.
// PREDICT: as many times h04 as there are cores, less the time to pack and to wait for each other, some per cent at 1024.
// LIMITS: any m, n, k, leading dimensions, transposition, layout, alpha, beta. The result does not depend on the number
// of threads: k is never shared out.                                      NEXT: r01, the GPU
#include <ladder/kernel.hpp>

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <span>

#include "host/blocking.hpp"
#include "host/pack.hpp"

namespace ladder::h05_threads {

using host::Panels;
using host::Piece;
using host::piece;
using host::pieces;

// A part of a piece, in the numbers of the whole.
static Piece within(const Piece& all, const Piece& part) { return {all.begin + part.begin, part.size}; }

static Status accepts(const Problem&, const Device&) { return Status::ok(); }

// How threads share C: a grid of cells, each one thread's. Threads of one row share the packed A, in the cache they
// share; each has blocks of B in its own.
struct Grid {
  int rows = 1, cols = 1;
};

// The threads that are worth starting: each should have some tens of microseconds of work, ten times what it costs.
static int worthwhile_threads(const Problem& p) {
  constexpr double kLeastFlops = 4e6;
  return static_cast<int>(
      std::clamp(flops(p) / kLeastFlops, 1.0, static_cast<double>(omp_get_max_threads())));
}

// The grid whose busiest thread has least to do. Columns first, since a row of threads packs A once.
static Grid share(const Problem& p, const host::Way& way, int threads) {
  const std::int64_t row_panels = pieces(p.m, way.tile.rows), col_panels = pieces(p.n, way.tile.cols);
  Grid best;
  std::int64_t least_work = row_panels * col_panels + 1;
  for (std::int64_t rows = 1; rows <= std::min<std::int64_t>(threads, row_panels); ++rows) {
    const std::int64_t cols = std::min(threads / rows, col_panels);
    const std::int64_t work = pieces(row_panels, rows) * pieces(col_panels, cols);
    if (work >= least_work) continue;
    least_work = work;
    best = {static_cast<int>(rows), static_cast<int>(cols)};
  }
  return best;
}

// What all threads of a team agree on.
struct Plan {
  Grid grid;
  std::int64_t most_cols = 0;  // of C, of one thread
  std::int64_t row_blocks = 0, col_blocks = 0,
               depth_blocks = 0;  // of every thread, so that all meet at barriers
  std::int64_t a_floats = 0;      // of one row of threads
  float* memory_a = nullptr;
};

static Plan make_plan(const Problem& p, const host::Way& way, const host::Blocks& most, int threads) {
  Plan out;
  out.grid = share(p, way, threads);
  const std::int64_t most_rows = pieces(pieces(p.m, way.tile.rows), out.grid.rows) * way.tile.rows;
  out.most_cols = pieces(pieces(p.n, way.tile.cols), out.grid.cols) * way.tile.cols;
  out.row_blocks = pieces(most_rows, most.rows);
  out.col_blocks = pieces(out.most_cols, most.cols);
  out.depth_blocks = pieces(p.k, most.depth);
  out.a_floats = host::packed_floats(most_rows, most.rows, p.k, most.depth, 1);
  out.memory_a = host::workspace(host::Use::kA, out.a_floats * out.grid.rows);
  return out;
}

static Status launch(const Problem& problem, const Operands& operands, Stream) {
  // Who am I: a column-major product is the row-major product of the exchanged operands.
  const auto [p, swapped] = as_row_major(problem);
  if (p.m == 0 || p.n == 0) return Status::ok();
  if (!reads_ab(p)) {
    host::scale(p, operands.c);
    return Status::ok();
  }
  const host::MicroKernel& kernel = host::micro_kernel();
  const host::Way way = host::way_for(p, kernel);
  const host::Operand a = host::operand_a(swapped ? operands.b : operands.a, p);
  const host::Operand b = host::operand_b(swapped ? operands.a : operands.b, p);
  const host::Blocks most = host::blocks(way.tile);
  Plan plan;
  std::atomic<bool> out_of_memory = false;
#pragma omp parallel num_threads(worthwhile_threads(p))
  {
#pragma omp single
    plan = make_plan(p, way, most, omp_get_num_threads());  // the team may be smaller than was asked for

    // Who am I
    const int me = omp_get_thread_num(), thread_row = me / plan.grid.cols, thread_col = me % plan.grid.cols;
    const bool idle = thread_row >= plan.grid.rows;  // it only meets the others at the barriers
    const Piece my_rows = idle ? Piece{} : piece(p.m, plan.grid.rows, thread_row, way.tile.rows);
    const Piece my_cols = idle ? Piece{} : piece(p.n, plan.grid.cols, thread_col, way.tile.cols);
    float* memory_a = plan.memory_a + thread_row * plan.a_floats;
    float* memory_b = host::workspace(
        host::Use::kB, host::packed_floats(plan.most_cols, most.cols, p.k, most.depth, way.tile.cols));
    if (plan.memory_a == nullptr || memory_b == nullptr) out_of_memory = true;
#pragma omp barrier
    for (std::int64_t ib = 0; ib < plan.row_blocks && !out_of_memory; ++ib) {
      const Piece rows = within(my_rows, piece(my_rows.size, plan.row_blocks, ib, way.tile.rows));
      for (std::int64_t kb = 0; kb < plan.depth_blocks; ++kb) {
        const Piece depth = piece(p.k, plan.depth_blocks, kb);
        const Panels pA(kernel, way.tile, Panels::Role::kRows, a, rows, depth, way.pack_a,
                        memory_a);  // (depth, rows)
        for (std::int64_t i = thread_col; i < pA.count(); i += plan.grid.cols) pA.pack(i);
#pragma omp barrier
        for (std::int64_t jb = 0; jb < plan.col_blocks; ++jb) {
          const Piece cols = within(my_cols, piece(my_cols.size, plan.col_blocks, jb, way.tile.cols));
          const Panels pB(kernel, way.tile, Panels::Role::kCols, b, cols, depth, way.pack_b,
                          memory_b);  // (depth, cols)
          pB.pack();

          // Main loop: a panel of A stays in L1 while the slivers of B pass
          const host::TileArgs block{.depth = depth.size,
                                     .c = operands.c + rows.begin * p.ldc + cols.begin,
                                     .c_ld = p.ldc,
                                     .alpha = p.alpha,
                                     .beta = kb == 0 ? p.beta : 1.0F};
          for (std::int64_t i = 0; i < pA.count(); ++i) {
            for (std::int64_t j = 0; j < pB.count(); ++j)
              multiply(kernel, way.form, pA.at(i), pB.at(j), block);
          }
        }
#pragma omp barrier
      }
    }
  }
  if (out_of_memory) return {Code::kOutOfMemory, "no memory for packed panels"};
  return Status::ok();
}

static constexpr KernelInfo kKernels[] = {
    {.id = "h05_threads",
     .rung = "h05_threads",
     .idea = "all cores, packed A shared",
     .place = Place::kHost,
     .all_cores = true,
     .accepts = accepts,
     .launch = launch},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::h05_threads
