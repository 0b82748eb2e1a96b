// SPDX-License-Identifier: Apache-2.0
// h05_threads: all cores.
// NEW:     Threads that share packed A and take parts of C in turn.
// WHY:     h04 uses one core.
// PREDICT: h04's rate times the number of cores, less a few per cent at 1024 for packing and
//          waiting. Where other work takes a core, no less than h04's rate.
// LIMITS:  Any M, N, K, leading dimensions, transposition, layout, alpha, beta. The result does not
//          depend on the number of threads: they never split K.
// NEXT:    r01, the GPU.
#include <ladder/kernel.hpp>

#include <algorithm>
#include <optional>
#include <span>

#include "host/blocking.hpp"
#include "host/pack.hpp"
#include "host/team.hpp"
#include "problem/accept.hpp"

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

// The threads that are worth starting. A team that waits in its spin loop starts within two
// microseconds, in which a core does half of this.
static int worthwhile_threads(const Problem& p) {
  constexpr double kLeastFlops = 8e5;
  return Team::usable(static_cast<int>(
      std::clamp(flops(p) / kLeastFlops, 1.0, static_cast<double>(Team::most_threads()))));
}

// A grid of cells of C, which threads take one after the other: some per thread, so that one whose
// core has other work takes fewer. Columns first, since each row of cells has its own packed A.
struct Grid {
  std::int64_t rows = 1, cols = 1;
};
static Grid cells_for(const Problem& p, const host::Way& way, int threads) {
  constexpr std::int64_t kPerThread = 4;
  const std::int64_t least = threads == 1 ? 1 : kPerThread * threads;
  const std::int64_t row_panels = pieces(p.m, way.tile.rows),
                     col_panels = pieces(p.n, way.tile.cols);
  Grid out;
  out.cols = std::min(least, col_panels);
  out.rows = std::min(pieces(least, out.cols), row_panels);
  if (!way.in_place) out.cols = std::max(out.cols, pieces(p.n, way.blocks.cols));
  return out;
}

// The state of one product that all threads share. They take its items of work in ascending order.
// Each block of A and of k is a step: first items that pack A, then one item per cell of C. An item
// starts when all items of the groups before its own are done.
struct Work {
  const host::MicroKernel& kernel;
  const Problem& p;
  const host::Way& way;
  host::Operand a, b;
  float* c;
  Grid grid;
  float* memory_a = nullptr;                                   // one packed block per row of cells
  std::int64_t a_floats = 0;                                   // of one of them
  std::int64_t row_blocks = 1, depth_blocks = 1, packers = 0;  // packers: items per row of cells

  std::int64_t cells() const { return grid.rows * grid.cols; }
  std::int64_t pack_items() const { return grid.rows * packers; }
  std::int64_t items_of_step() const { return pack_items() + cells(); }
  std::int64_t items() const { return items_of_step() * row_blocks * depth_blocks; }
  std::int64_t b_floats() const {
    const std::int64_t most_cols = pieces(pieces(p.n, way.tile.cols), grid.cols) * way.tile.cols;
    return host::packed_floats(most_cols, way.blocks.cols, p.k, way.blocks.depth, way.tile.cols);
  }
  Piece cols_of(std::int64_t cell) const {
    return piece(p.n, grid.cols, cell % grid.cols, way.tile.cols);
  }
  // The rows of block `ib` in a row of cells, and their panels.
  Piece rows_of(std::int64_t ib, std::int64_t row) const {
    const Piece block = piece(p.m, row_blocks, ib, way.tile.rows);
    return within(block, piece(block.size, grid.rows, row));
  }
  Panels panels_of(std::int64_t row, const Piece& rows, const Piece& depth) const {
    return {kernel, way.tile, Panels::Role::kRows, a,
            rows,   depth,    way.pack_a,          memory_a + row * a_floats};
  }

  void multiply(const Panels& pA, const Piece& rows, const Piece& cols, const Piece& depth,
                float* memory_b) const {
    const Panels pB(kernel, way.tile, Panels::Role::kCols, b, cols, depth, way.pack_b,
                    memory_b);  // (depth, cols)
    // Main loop: a panel of A stays in L1 while the slivers of B pass
    const host::TileArgs block{.depth = depth.size,
                               .c = c + rows.begin * p.ldc + cols.begin,
                               .c_ld = p.ldc,
                               .c_is_far = way.c_is_far,
                               .streams = way.streams,
                               .alpha = p.alpha,
                               .beta = depth.begin == 0 ? p.beta : 1.0F};
    multiply_block(kernel, way.form, pA, pB, block);
  }

  // Returns the elements of C that it computed, once per block of k of a step.
  double run(std::int64_t step, std::int64_t item, float* memory_b) const {
    const std::int64_t ib = step / depth_blocks;
    const std::int64_t cell = item - pack_items();
    const std::int64_t row = cell < 0 ? item / packers : cell / grid.cols;
    const Piece rows = rows_of(ib, row), depth = piece(p.k, depth_blocks, step % depth_blocks);
    if (rows.size == 0) return 0;
    if (cell < 0) {
      const Panels pA = panels_of(row, rows, depth);
      const Piece mine = piece(pA.count(), packers, item % packers);
      for (std::int64_t i = mine.begin; i < mine.begin + mine.size; ++i) pA.pack(i);
      return 0;
    }
    const Piece cols = cols_of(cell);
    if (way.in_place) {
      multiply_in_place(kernel, p, way, a, b, rows, cols, c);
    } else if (way.pack_a) {
      multiply(panels_of(row, rows, depth), rows, cols, depth, memory_b);
    } else {  // no thread waits for another: all blocks of the cell
      const std::int64_t blocks = pieces(rows.size, way.blocks.rows);
      for (std::int64_t i = 0; i < blocks; ++i) {
        const Piece part = within(rows, piece(rows.size, blocks, i, way.tile.rows));
        const std::int64_t depths = pieces(p.k, way.blocks.depth);
        for (std::int64_t kb = 0; kb < depths; ++kb) {
          const Piece deep = piece(p.k, depths, kb);
          multiply(panels_of(0, part, deep), part, cols, deep, memory_b);
        }
      }
    }
    return static_cast<double>(rows.size) * static_cast<double>(cols.size);
  }
};

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
  const int threads = worthwhile_threads(p);
  Work work{.kernel = kernel,
            .p = p,
            .way = way,
            .a = host::operand_a(swapped ? operands.b : operands.a, p),
            .b = host::operand_b(swapped ? operands.a : operands.b, p),
            .c = operands.c,
            .grid = {}};
  if (way.in_place && threads == 1) {
    multiply_in_place(kernel, p, way, work.a, work.b, {0, p.m}, {0, p.n}, work.c);
    return Status::ok();
  }
  work.grid = cells_for(p, way, threads);
  if (way.pack_a) {
    work.row_blocks = pieces(p.m, way.blocks.rows);
    work.depth_blocks = pieces(p.k, way.blocks.depth);
    work.packers = threads == 1 ? 1 : pieces(work.grid.cols, 2);
    const std::int64_t most_rows = pieces(std::min(p.m, way.blocks.rows), work.grid.rows);
    work.a_floats = host::packed_floats(most_rows, most_rows, p.k, way.blocks.depth, 1);
    work.memory_a = host::workspace(host::Use::kA, work.a_floats * work.grid.rows);
  }
  const bool out_of_memory =
      !way.in_place && ((way.pack_a && work.memory_a == nullptr) ||
                        host::workspace(host::Use::kB, work.b_floats()) == nullptr);
  if (out_of_memory) return {Code::kOutOfMemory, "no memory for packed panels"};

  Team::Items items;
  const std::int64_t of_step = work.items_of_step(), all = work.items();
  Team::run(threads, [&](Team& team, int thread) {
    Team::Done done;
    float* memory_b = way.in_place ? nullptr : host::workspace(host::Use::kB, work.b_floats());
    if (!way.in_place && memory_b == nullptr) return done;  // the others do it
    for (std::int64_t i = items.next++; i < all; i = items.next++) {
      const std::int64_t step = i / of_step, item = i % of_step;
      const std::int64_t group =
          step * of_step + (item < work.pack_items() ? 0 : work.pack_items());
      done.waited_ns += items.done.await(team, static_cast<std::uint32_t>(group));
      done.part += work.run(step, item, memory_b);
      items.done.add();
    }
    if (thread == 0) done.waited_ns += items.done.await(team, static_cast<std::uint32_t>(all));
    done.part /= static_cast<double>(p.m) * static_cast<double>(p.n * work.depth_blocks);
    return done;
  });
  return Status::ok();
}

static constexpr KernelInfo kKernels[] = {
    host_rung("h05_threads", "all cores, packed A shared", launch, true)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::h05_threads
