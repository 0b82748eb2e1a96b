// SPDX-License-Identifier: Apache-2.0
// The register tile of the CPU rungs: rows x cols results in vector registers, one outer product for each k. The
// instruction set is chosen when the program runs (Highway: SSE4, AVX2, AVX-512, NEON).
#pragma once
#include <cstdint>

namespace ladder::host {

// How the operands of a tile lie.
enum class Form : std::uint8_t {
  kPacked,     // A: element (i, k) at i + k * a_ld; B: rows of whole vectors
  kInColumns,  // A as kPacked; B: rows that end with C's columns
  kInRows,     // A: element (i, k) at i * a_ld + k; B as kInColumns
};

// One call computes C(rows x cols) = alpha A B + beta C, beta = 0 not reading C.
struct TileArgs {
  std::int64_t depth = 0;  // k
  const float* a = nullptr;
  std::int64_t a_ld = 0;
  const float* b = nullptr;  // (k, cols): element (k, j) at k * b_ld + j
  std::int64_t b_ld = 0;
  float* c = nullptr;  // (rows, cols): element (i, j) at i * c_ld + j
  std::int64_t c_ld = 0;
  int cols = 0;  // may end inside the last vector
  float alpha = 1.0F, beta = 0.0F;
};

using TileFunction = void (*)(const TileArgs& args);

// What one instruction set offers.
struct MicroKernel {
  static constexpr int kMostRows = 14, kMostVectors = 2;

  const char* target = "";  // "AVX3": Highway's name of the instruction set
  int lanes = 0;            // floats of a vector
  int rows = 0,
      vectors = 0;  // of the largest tile: its accumulators, operands and nothing else fill the registers
  // Whether a load can be cut off inside a vector; else only Form::kPacked serves columns that end there.
  bool partial_loads = false;
  // [form][vectors - 1][rows - 1]: a tile of exactly so many rows, and columns that need exactly so many vectors
  static constexpr int kForms = 3;
  TileFunction tiles[kForms][kMostVectors][kMostRows] = {};

  int cols() const { return lanes * vectors; }

  // Both give y[k * y_ld + i], i < lines, k < depth; `copy` from x[k * ld + i], `transpose` from x[i * ld + k].
  // `copy` fills each line up to whole vectors with zeros, in order of k.
  using Pack = void (*)(const float* x, std::int64_t ld, int lines, std::int64_t depth, float* y,
                        std::int64_t y_ld);
  Pack copy = nullptr, transpose = nullptr;
};

// Of the best instruction set that this machine has.
const MicroKernel& micro_kernel();
// The same, asked anew: what Highway may choose from can be narrowed (hwy::SetSupportedTargetsForTest).
MicroKernel choose_micro_kernel();

}  // namespace ladder::host
