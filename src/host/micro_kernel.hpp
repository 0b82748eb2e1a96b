// SPDX-License-Identifier: Apache-2.0
// The register tile of the CPU rungs: rows x cols results in vector registers, one outer product
// for each k. The instruction set is chosen when the program runs (Highway: SSE4, AVX2, AVX-512,
// NEON).
#pragma once
#include <cstdint>

namespace ladder::host {

// How the operands of a tile lie.
enum class Form : std::uint8_t {
  kPacked,     // A: element (i, k) at i + k * a_ld; B: rows of whole vectors
  kInColumns,  // A as kPacked; B: rows that end with C's columns
  kInRows,     // A: element (i, k) at i * a_ld + k; B as kInColumns
  // With something on the way. Tiles of one or two vectors and at least half of the most rows.
  kPackedAhead,     // as kPacked, and what later tiles read is asked for
  kInColumnsCopyB,  // as kInColumns and kInRows, and B is copied
  kInRowsCopyB,
};

// Steps of k for each cache line that is asked for.
constexpr int kAheadSteps = 8;

// One call computes C(rows x cols) = alpha A B + beta C, beta = 0 not reading C.
struct TileArgs {
  std::int64_t depth = 0;  // k, at least 1
  const float* a = nullptr;
  std::int64_t a_ld = 0;
  const float* b = nullptr;  // (k, cols): element (k, j) at k * b_ld + j
  std::int64_t b_ld = 0;
  float* b_copy = nullptr;  // as kPacked reads it, aligned to whole vectors
  const float* ahead =
      nullptr;         // kPackedAhead: from here on (depth - 1) / kAheadSteps lines are asked for
  float* c = nullptr;  // (rows, cols): element (i, j) at i * c_ld + j
  std::int64_t c_ld = 0;
  int cols = 0;           // may end inside the last vector
  bool c_is_far = false;  // beyond L2: worth asking for before it is needed
  // With beta = 0: C goes past the caches where the tile's rows are whole aligned vectors. The
  // caller ends with flush().
  bool streams = false;
  float alpha = 1.0F, beta = 0.0F;
};

// Results of one call.
struct Shape {
  int rows = 0, cols = 0;
  bool operator==(const Shape&) const = default;
};

using TileFunction = void (*)(const TileArgs& args);

// What one instruction set offers.
struct MicroKernel {
  static constexpr int kMostRows = 14, kMostVectors = 3;

  const char* target = "";  // "AVX3": Highway's name of the instruction set
  int lanes = 0;            // floats of a vector
  // [vectors - 1]: most rows of a tile so wide: its accumulators, operands and nothing else fill
  // the registers.
  int rows[kMostVectors] = {};
  // Whether a load can be cut off inside a vector; else only Form::kPacked serves columns that end
  // there.
  bool partial_loads = false;
  // [form][vectors - 1][rows - 1]: a tile of exactly so many rows, and columns that need exactly so
  // many vectors
  static constexpr int kForms = 6;
  TileFunction tiles[kForms][kMostVectors][kMostRows] = {};

  // Null where there is none.
  TileFunction tile(Form form, int cols, int tile_rows) const {
    return tiles[static_cast<int>(form)][(cols > lanes) + (cols > 2 * lanes)][tile_rows - 1];
  }

  Shape shape(int vectors) const { return {rows[vectors - 1], vectors * lanes}; }

  // y[k * y_ld + i] = x[i * ld + k], i < lines, k < depth.
  using Transpose = void (*)(const float* x, std::int64_t ld, int lines, std::int64_t depth,
                             float* y, std::int64_t y_ld);
  Transpose transpose = nullptr;
  // y[k * y_ld + i] = x[k * ld + i], i < lines, k < depth, filled up to whole vectors with zeros,
  // in order of k.
  using Copy = void (*)(const float* x, std::int64_t ld, int lines, std::int64_t depth, float* y,
                        std::int64_t y_ld);
  Copy copy = nullptr;
  void (*flush)() = nullptr;  // orders streamed stores before later ones
};

// Of the best instruction set that this machine has.
const MicroKernel& micro_kernel();
// The same, asked anew: what Highway may choose from can be narrowed
// (hwy::SetSupportedTargetsForTest).
MicroKernel choose_micro_kernel();

}  // namespace ladder::host
