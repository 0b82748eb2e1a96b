// SPDX-License-Identifier: Apache-2.0
// Packs operands into the layout that the register tile reads: panels of a few lines, with k as the
// slow index. A line is a row of op(A) or a column of op(B), so one function packs both.
#pragma once
#include <ladder/problem.hpp>

#include <cstdint>
#include <optional>

#include "host/blocking.hpp"
#include "host/micro_kernel.hpp"

namespace ladder::host {

struct Operand {
  const float* x = nullptr;
  std::int64_t ld = 0;
  // k is the fast index: element (line i, k) is at i * ld + k; otherwise at k * ld + i.
  bool along_k = false;

  // Element (line, k).
  const float* at(std::int64_t line, std::int64_t k) const {
    return x + (along_k ? line * ld + k : k * ld + line);
  }
};

inline Operand operand_a(const float* a, const Problem& p) {
  return {a, p.lda, p.op_a == Op::kNone};
}
inline Operand operand_b(const float* b, const Problem& p) {
  return {b, p.ldb, p.op_b == Op::kTranspose};
}

// One panel of a block of an operand, as register tiles read it. Panels are packed, or refer to the
// operand itself if each element is read too seldom for a copy to pay.
struct Panel {
  const float* x = nullptr;
  std::int64_t ld = 0;
  std::int64_t begin = 0;  // its first line (row of op(A) or column of op(B)) in the block
  int lines = 0;
};

class Panels {
 public:
  enum class Role : std::uint8_t {
    kRows,  // panels of rows of op(A), of nearly equal size, at most a tile's rows
    kCols,  // panels of columns of op(B), one tile's columns each; the last may be smaller
  };
  // `memory`: packed_floats() floats if `packed`, else unused.
  Panels(const MicroKernel& kernel, Shape tile, Role role, const Operand& x, Piece lines,
         Piece depth, bool packed, float* memory);

  std::int64_t count() const { return count_; }
  // Packs all panels, or panel i; does nothing if they are read in place.
  void pack() const;
  void pack(std::int64_t i) const;
  Panel at(std::int64_t i) const;
  // Panel i in the operand itself, if it is packed and a tile can also read it in place (k is the
  // slow index).
  std::optional<Panel> source(std::int64_t i) const;
  // Destination of packed panel i.
  float* target(std::int64_t i) const { return stored(i, part(i).begin); }

 private:
  Piece part(std::int64_t i) const;
  std::int64_t stored_width(std::int64_t lines) const;
  float* stored(std::int64_t i, std::int64_t begin) const;

  const MicroKernel& kernel_;
  const Operand& x_;
  Piece lines_, depth_;
  float* memory_;
  std::int64_t width_, count_;
  std::int64_t least_, wider_;  // lines per panel of rows, and how many panels have one more
  Role role_;
  bool packed_;
};

// C = alpha A B + beta C for one panel of each operand. `block` provides depth, c, c_ld, alpha and
// beta.
inline void multiply(const MicroKernel& kernel, Form form, const Panel& a, const Panel& b,
                     const TileArgs& block, float* b_copy = nullptr, const float* ahead = nullptr) {
  // Field by field: vector loads that copy the struct would stall on the preceding narrow stores.
  const TileArgs args{.depth = block.depth,
                      .a = a.x,
                      .a_ld = a.ld,
                      .b = b.x,
                      .b_ld = b.ld,
                      .b_copy = b_copy,
                      .ahead = ahead,
                      .c = block.c + a.begin * block.c_ld + b.begin,
                      .c_ld = block.c_ld,
                      .cols = b.lines,
                      .c_is_far = block.c_is_far,
                      .streams = block.streams,
                      .alpha = block.alpha,
                      .beta = block.beta};
  kernel.tile(form, b.lines, a.lines)(args);
}

// Computes C for one block. The tiles of the first panel of A pack B as they read it. A panel of B
// that they cannot pack (transposed, or no such tile) is packed before its first tile.
void multiply_block(const MicroKernel& kernel, Form form, const Panels& pA, const Panels& pB,
                    const TileArgs& block);

// Computes a part of C with operands in place and k in one block: for small products, for which
// packing and blocking cost more than strided reads.
void multiply_in_place(const MicroKernel& kernel, const Problem& p, const Way& way,
                       const Operand& a, const Operand& b, Piece rows, Piece cols, float* c);

// A buffer of floats, aligned to 64 bytes, one per thread and use, reused between calls. Its
// contents are undefined. Null: out of memory.
enum class Use : std::uint8_t { kA, kB };
float* workspace(Use use, std::size_t floats);

// C = beta C; beta = 0 does not read C.
void scale(const Problem& row_major, float* c);

}  // namespace ladder::host
