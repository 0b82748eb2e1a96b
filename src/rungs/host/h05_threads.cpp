// SPDX-License-Identifier: Apache-2.0
// h05_threads: all cores.
// NEW:     Threads that share packed A.
// WHY:     h04 uses one core.
// PREDICT: h04's rate times the number of cores, less a few per cent at 1024 for packing and
//          waiting.
// LIMITS:  Any M, N, K, leading dimensions, transposition, layout, alpha, beta. The result does not
//          depend on the number of threads: they never split K.
// NEXT:    r01, the GPU.
#include <ladder/kernel.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>

#include "host/blocking.hpp"
#include "host/pack.hpp"
#include "host/team.hpp"

namespace ladder::h05_threads {

using host::Panels;
using host::Piece;
using host::piece;
using host::pieces;
using host::Team;

// A part of a piece, in the numbers of the whole.
static Piece within(const Piece& all, const Piece& part) {
  return {all.begin + part.begin, part.size};
}

static Status accepts(const Problem&, const Device&) { return Status::ok(); }

// How threads share C: a grid of cells, each one thread's. Threads of one row share the packed A,
// in the cache they share; each has blocks of B in its own.
struct Grid {
  int rows = 1, cols = 1;
};

// The threads that are worth starting. A team that waits in its spin loop starts within two
// microseconds, in which a core does half of this.
static int worthwhile_threads(const Problem& p) {
  constexpr double kLeastFlops = 8e5;
  return static_cast<int>(
      std::clamp(flops(p) / kLeastFlops, 1.0, static_cast<double>(Team::most_threads())));
}

// The grid whose busiest thread has least to do. Columns first, since a row of threads packs A
// once.
static Grid share(const Problem& p, const host::Way& way, int threads) {
  const std::int64_t row_panels = pieces(p.m, way.tile.rows),
                     col_panels = pieces(p.n, way.tile.cols);
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

// One thread's cell of the grid; empty for threads that the grid leaves over.
struct Cell {
  int row = 0, col = 0;
  Piece rows, cols;  // of C
};

static Cell cell(const Problem& p, const host::Way& way, const Grid& grid, int thread) {
  Cell out{.row = thread / grid.cols, .col = thread % grid.cols, .rows = {}, .cols = {}};
  if (out.row >= grid.rows) return out;
  out.rows = piece(p.m, grid.rows, out.row);
  out.cols = piece(p.n, grid.cols, out.col, way.tile.cols);
  return out;
}

// What all threads of a team agree on: blocks of every thread, so that all meet at barriers.
struct Plan {
  std::int64_t most_cols = 0;  // of C, of one thread
  std::int64_t row_blocks = 0, col_blocks = 0, depth_blocks = 0;
  std::int64_t a_floats = 0;  // of one row of threads
};

static Plan make_plan(const Problem& p, const host::Way& way, const host::Blocks& most,
                      const Grid& grid) {
  const std::int64_t most_rows = pieces(p.m, grid.rows);
  Plan out;
  out.most_cols = pieces(pieces(p.n, way.tile.cols), grid.cols) * way.tile.cols;
  out.row_blocks = pieces(most_rows, most.rows);
  out.col_blocks = pieces(out.most_cols, most.cols);
  out.depth_blocks = pieces(p.k, most.depth);
  out.a_floats = host::packed_floats(most_rows, most.rows, p.k, most.depth, 1);
  return out;
}

static Status launch(const Problem& problem, const Operands& operands, Stream) {
  // Who am I: a column-major product is the row-major product of the exchanged operands. Copied
  // only then: a small product takes hardly longer than the copy, which waits for what the caller
  // has just written.
  std::optional<RowMajor> exchanged;
  if (problem.layout != Layout::kRowMajor) exchanged = as_row_major(problem);
  const bool swapped = exchanged.has_value();
  const Problem& p = swapped ? exchanged->problem : problem;
  if (p.m == 0 || p.n == 0) return Status::ok();
  if (!reads_ab(p)) {
    host::scale(p, operands.c);
    return Status::ok();
  }
  const host::MicroKernel& kernel = host::micro_kernel();
  const host::Way way = host::way_for(p, kernel);
  const host::Operand a = host::operand_a(swapped ? operands.b : operands.a, p);
  const host::Operand b = host::operand_b(swapped ? operands.a : operands.b, p);
  const int threads = worthwhile_threads(p);
  if (way.in_place) {
    if (threads == 1) {
      multiply_in_place(kernel, p, way, a, b, {0, p.m}, {0, p.n}, operands.c);
      return Status::ok();
    }
    Team::run(threads, [&](Team& team, int thread) {
      const Cell my = cell(p, way, share(p, way, team.size()), thread);
      multiply_in_place(kernel, p, way, a, b, my.rows, my.cols, operands.c);
    });
    return Status::ok();
  }

  const host::Blocks& most = way.blocks;
  std::atomic<bool> out_of_memory = false;
  float* shared_a = nullptr;
  Team::run(threads, [&](Team& team, int thread) {
    const Grid grid = share(p, way, team.size());  // the team may be smaller than was asked for
    const Plan plan = make_plan(p, way, most, grid);
    if (way.pack_a) {
      if (thread == 0) shared_a = host::workspace(host::Use::kA, plan.a_floats * grid.rows);
      team.barrier();
    }
    // Who am I
    const Cell my = cell(p, way, grid, thread);
    float* memory_a =
        way.pack_a && shared_a != nullptr ? shared_a + my.row * plan.a_floats : nullptr;
    float* memory_b = host::workspace(
        host::Use::kB,
        host::packed_floats(plan.most_cols, most.cols, p.k, most.depth, way.tile.cols));
    if ((way.pack_a && shared_a == nullptr) || memory_b == nullptr) out_of_memory = true;
    team.barrier();
    for (std::int64_t ib = 0; ib < plan.row_blocks && !out_of_memory; ++ib) {
      const Piece rows = within(my.rows, piece(my.rows.size, plan.row_blocks, ib, way.tile.rows));
      for (std::int64_t kb = 0; kb < plan.depth_blocks; ++kb) {
        const Piece depth = piece(p.k, plan.depth_blocks, kb);
        const Panels pA(kernel, way.tile, Panels::Role::kRows, a, rows, depth, way.pack_a,
                        memory_a);  // (depth, rows)
        if (way.pack_a) {
          for (std::int64_t i = my.col; i < pA.count(); i += grid.cols) pA.pack(i);
          team.barrier();
        }
        for (std::int64_t jb = 0; jb < plan.col_blocks; ++jb) {
          const Piece cols =
              within(my.cols, piece(my.cols.size, plan.col_blocks, jb, way.tile.cols));
          const Panels pB(kernel, way.tile, Panels::Role::kCols, b, cols, depth, way.pack_b,
                          memory_b);  // (depth, cols)

          // Main loop: a panel of A stays in L1 while the slivers of B pass
          const host::TileArgs block{.depth = depth.size,
                                     .c = operands.c + rows.begin * p.ldc + cols.begin,
                                     .c_ld = p.ldc,
                                     .c_is_far = way.c_is_far,
                                     .streams = way.streams,
                                     .alpha = p.alpha,
                                     .beta = kb == 0 ? p.beta : 1.0F};
          multiply_block(kernel, way.form, pA, pB, block);
        }
        if (way.pack_a) team.barrier();
      }
    }
  });
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
