// SPDX-License-Identifier: Apache-2.0
// The register tile of the CPU rungs: rows x cols results in vector registers, one outer product
// per step of k. The instruction set is selected at run time (Highway: SSE4, AVX2, AVX-512, NEON).
#pragma once
#include <cstdint>

namespace ladder::host {

// Layout of a tile's operands.
enum class Form : std::uint8_t {
  kPacked,     // A: element (i, k) at i + k * a_ld; B: rows of whole vectors
  kInColumns,  // A as kPacked; B: rows that end with C's columns, so the last vector may be partial
  kInRows,     // A: element (i, k) at i * a_ld + k; B as kInColumns
  // With an additional task. For tiles of one or two vectors with at least half of the maximum
  // rows.
  kPackedAhead,     // as kPacked, and prefetches data for later tiles
  kInColumnsCopyB,  // as kInColumns and kInRows, and also packs B
  kInRowsCopyB,
};

// Steps of k per prefetched cache line.
constexpr int kAheadSteps = 8;

// One call computes C(rows x cols) = alpha A B + beta C; beta = 0 does not read C.
struct TileArgs {
  std::int64_t depth = 0;  // k, at least 1
  const float* a = nullptr;
  std::int64_t a_ld = 0;
  const float* b = nullptr;  // (k, cols): element (k, j) at k * b_ld + j
  std::int64_t b_ld = 0;
  float* b_copy = nullptr;  // destination in kPacked's layout, aligned to whole vectors
  // kPackedAhead: prefetches (depth - 1) / kAheadSteps cache lines from here.
  const float* ahead = nullptr;
  float* c = nullptr;  // (rows, cols): element (i, j) at i * c_ld + j
  std::int64_t c_ld = 0;
  int cols = 0;           // may end inside the last vector
  bool c_is_far = false;  // beyond L2, so worth prefetching
  // With beta = 0: stores bypass the caches if the tile's rows are whole aligned vectors. The
  // caller must call flush() at the end.
  bool streams = false;
  float alpha = 1.0F, beta = 0.0F;
};

// Size of a tile's results.
struct Shape {
  int rows = 0, cols = 0;
  bool operator==(const Shape&) const = default;
};

using TileFunction = void (*)(const TileArgs& args);

// The tile functions of one instruction set.
struct MicroKernel {
  static constexpr int kMostRows = 14, kMostVectors = 3;

  const char* target = "";  // Highway's name of the instruction set, such as "AVX3"
  int lanes = 0;            // floats per vector
  // [vectors - 1]: maximum rows of a tile of that width; its accumulators and operands fill the
  // registers.
  int rows[kMostVectors] = {};
  // Whether partial vectors can be loaded. If not, only Form::kPacked supports columns that end
  // inside a vector.
  bool partial_loads = false;
  // [form][vectors - 1][rows - 1]: the function for exactly that number of rows and of vectors.
  static constexpr int kForms = 6;
  TileFunction tiles[kForms][kMostVectors][kMostRows] = {};

  // Null if there is no such tile.
  TileFunction tile(Form form, int cols, int tile_rows) const {
    return tiles[static_cast<int>(form)][(cols > lanes) + (cols > 2 * lanes)][tile_rows - 1];
  }

  Shape shape(int vectors) const { return {rows[vectors - 1], vectors * lanes}; }

  // y[k * y_ld + i] = x[i * ld + k], i < lines, k < depth.
  using Transpose = void (*)(const float* x, std::int64_t ld, int lines, std::int64_t depth,
                             float* y, std::int64_t y_ld);
  Transpose transpose = nullptr;
  // y[k * y_ld + i] = x[k * ld + i], i < lines, k < depth, in order of k, zero-padded to whole
  // vectors.
  using Copy = void (*)(const float* x, std::int64_t ld, int lines, std::int64_t depth, float* y,
                        std::int64_t y_ld);
  Copy copy = nullptr;
  void (*flush)() = nullptr;  // orders streaming stores before later stores
};

// Tile functions of the best instruction set that this machine supports, selected once.
const MicroKernel& micro_kernel();
// Selects again. Tests can restrict Highway's choice (hwy::SetSupportedTargetsForTest).
MicroKernel choose_micro_kernel();

}  // namespace ladder::host
