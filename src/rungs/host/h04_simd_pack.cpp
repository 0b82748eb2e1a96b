// SPDX-License-Identifier: Apache-2.0
// h04_simd_pack: a tile of C in vector registers, fed from packed panels.
// NEW:     The register tile.
// WHY:     h03 loads and stores a row of C per k: two accesses per multiply-add, where a core does
//          two multiply-adds.
// PREDICT: 14 x 2 vectors of C take 16 loads per 28 multiply-adds. Packed panels make every load
//          stride 1 and touch few pages. The multiply-add units are the bound.
// LIMITS:  Any M, N, K, leading dimensions, transposition, layout, alpha, beta.
// NEXT:    h05 uses all cores.
#include <ladder/kernel.hpp>

#include <optional>
#include <span>

#include "host/blocking.hpp"
#include "host/pack.hpp"
#include "problem/accept.hpp"

namespace ladder::h04_simd_pack {

using host::Panels;
using host::piece;
using host::pieces;

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
  if (way.in_place) {
    multiply_in_place(kernel, p, way, a, b, {0, p.m}, {0, p.n}, operands.c);
    return Status::ok();
  }
  const host::Blocks& most = way.blocks;
  float* memory_a =
      host::workspace(host::Use::kA, host::packed_floats(p.m, most.rows, p.k, most.depth, 1));
  float* memory_b = host::workspace(
      host::Use::kB, host::packed_floats(p.n, most.cols, p.k, most.depth, way.tile.cols));
  if (memory_a == nullptr || memory_b == nullptr)
    return {Code::kOutOfMemory, "no memory for packed panels"};

  const std::int64_t col_blocks = pieces(p.n, most.cols), row_blocks = pieces(p.m, most.rows);
  const std::int64_t depth_blocks = pieces(p.k, most.depth);
  for (std::int64_t ib = 0; ib < row_blocks; ++ib) {
    const auto rows = piece(p.m, row_blocks, ib, way.tile.rows);
    for (std::int64_t kb = 0; kb < depth_blocks; ++kb) {
      const auto depth = piece(p.k, depth_blocks, kb);
      const Panels pA(kernel, way.tile, Panels::Role::kRows, a, rows, depth, way.pack_a,
                      memory_a);  // (depth, rows)
      pA.pack();

      for (std::int64_t jb = 0; jb < col_blocks; ++jb) {
        const auto cols = piece(p.n, col_blocks, jb, way.tile.cols);
        const Panels pB(kernel, way.tile, Panels::Role::kCols, b, cols, depth, way.pack_b,
                        memory_b);  // (depth, cols)

        // Main loop: a panel of A stays near while the slivers of B pass
        const host::TileArgs block{.depth = depth.size,
                                   .c = operands.c + rows.begin * p.ldc + cols.begin,
                                   .c_ld = p.ldc,
                                   .c_is_far = way.c_is_far,
                                   .streams = way.streams,
                                   .alpha = p.alpha,
                                   .beta = kb == 0 ? p.beta : 1.0F};
        multiply_block(kernel, way.form, pA, pB, block);
      }
    }
  }
  return Status::ok();
}

static constexpr KernelInfo kKernels[] = {
    host_rung("h04_simd_pack", "a tile in vector registers, packed panels", launch)};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::h04_simd_pack
