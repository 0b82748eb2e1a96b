// SPDX-License-Identifier: Apache-2.0
// Operands laid out as the register tile reads them: panels of a few lines, k slow. A line is a row
// of op(A) or a column of op(B), so that one function packs both.
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
  bool along_k =
      false;  // k is the fast index: element (line i, k) at i * ld + k, else at k * ld + i

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

// A block of an operand as register tiles read it: panels of lines, k slow. Panels are packed, or
// lie in the operand itself where each element is read so seldom that a copy does not pay.
struct Panel {
  const float* x = nullptr;
  std::int64_t ld = 0;
  std::int64_t begin = 0;  // its first line in the block
  int lines = 0;
};

class Panels {
 public:
  enum class Role : std::uint8_t {
    kRows,  // of op(A): panels of nearly equal size, at most a tile's rows
    kCols,  // of op(B): panels of a tile's columns; the last ends with the block
  };
  // `memory`: packed_floats() floats, if `packed`.
  Panels(const MicroKernel& kernel, Shape tile, Role role, const Operand& x, Piece lines,
         Piece depth, bool packed, float* memory);

  std::int64_t count() const { return count_; }
  // All, or panel i; nothing where they are read in place.
  void pack() const;
  void pack(std::int64_t i) const;
  Panel at(std::int64_t i) const;
  // Panel i where it lies in the operand, if it is packed and a tile can read it there as well: k
  // is slow.
  std::optional<Panel> source(std::int64_t i) const;
  // Where panel i is packed to.
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
  std::int64_t least_, wider_;  // lines of a panel of rows, and how many panels have one more
  Role role_;
  bool packed_;
};

// C = alpha A B + beta C for a panel of each; `block` has the block's depth, c, c_ld, alpha and
// beta.
inline void multiply(const MicroKernel& kernel, Form form, const Panel& a, const Panel& b,
                     const TileArgs& block, float* b_copy = nullptr, const float* ahead = nullptr) {
  // Field by field: vectors that copy a struct wait for the fields written just before.
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

// C of one block. B is packed by the tiles of the first panel of A, or, where it is transposed,
// before each of them.
void multiply_block(const MicroKernel& kernel, Form form, const Panels& pA, const Panels& pB,
                    const TileArgs& block);

// A part of C, operands as they lie and k in one piece: for small products, to which copies and
// blocks would cost more than the strides.
void multiply_in_place(const MicroKernel& kernel, const Problem& p, const Way& way,
                       const Operand& a, const Operand& b, Piece rows, Piece cols, float* c);

// Floats, aligned to 64 bytes, kept by the thread from call to call, one buffer a use. Contents are
// undefined. Null: out of memory.
enum class Use : std::uint8_t { kA, kB };
float* workspace(Use use, std::size_t floats);

// C = beta C, without reading C where beta = 0.
void scale(const Problem& row_major, float* c);

}  // namespace ladder::host
