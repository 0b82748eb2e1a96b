// SPDX-License-Identifier: Apache-2.0
// Every tile of every instruction set of this machine: exact on small integers, with no access
// outside its operands.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "guarded.hpp"
#include "host/micro_kernel.hpp"

namespace ladder::host {
namespace {

constexpr float kUntouched = -12345.0F;

std::vector<MicroKernel> all_micro_kernels() {
  std::vector<MicroKernel> out;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    out.push_back(choose_micro_kernel());
  }
  hwy::SetSupportedTargetsForTest(0);
  return out;
}

float value(std::int64_t i, std::int64_t j) { return static_cast<float>((i * 7 + j * 13) % 9 - 4); }

struct Tile {
  int rows, cols;
  std::int64_t depth;
  float alpha, beta;
};

void check(const MicroKernel& kernel, Form form, const Tile& t) {
  const int vectors = (t.cols + kernel.lanes - 1) / kernel.lanes;
  const bool in_rows = form == Form::kInRows || form == Form::kInRowsCopyB;
  const bool copies = form == Form::kInColumnsCopyB || form == Form::kInRowsCopyB;
  const bool asks = form == Form::kPackedAhead;
  const bool in_place = form != Form::kPacked && !asks && kernel.partial_loads;
  const std::int64_t b_ld = in_place ? t.cols : vectors * kernel.lanes;
  const std::int64_t c_ld = t.cols + 3;
  GuardedFloats a(t.rows * t.depth), b(t.depth * b_ld), c((t.rows - 1) * c_ld + t.cols);
  const std::int64_t width = vectors * kernel.lanes;
  GuardedFloats copy(copies ? t.depth * width : 0);
  const std::int64_t a_ld = in_rows ? t.depth : t.rows;
  for (std::int64_t k = 0; k < t.depth; ++k) {
    for (int i = 0; i < t.rows; ++i) a[in_rows ? i * a_ld + k : k * a_ld + i] = value(i, k);
    for (int j = 0; j < b_ld; ++j) b[k * b_ld + j] = j < t.cols ? value(k, j + 5) : 0.0F;
  }
  for (int i = 0; i < t.rows; ++i) {
    for (int j = 0; j < c_ld && (i + 1 < t.rows || j < t.cols); ++j) {
      c[i * c_ld + j] = j >= t.cols ? kUntouched : t.beta == 0.0F ? std::nanf("") : value(i + 3, j);
    }
  }
  const TileArgs args{.depth = t.depth,
                      .a = a.data(),
                      .a_ld = a_ld,
                      .b = b.data(),
                      .b_ld = b_ld,
                      .b_copy = copies ? copy.data() : nullptr,
                      .ahead = asks ? a.data() : nullptr,
                      .c = c.data(),
                      .c_ld = c_ld,
                      .cols = t.cols,
                      .alpha = t.alpha,
                      .beta = t.beta};
  const TileFunction tile = kernel.tile(form, t.cols, t.rows);
  if ((copies || asks) && (2 * t.rows < kernel.shape(vectors).rows || vectors > 2)) {
    ASSERT_EQ(tile, nullptr);
    return;
  }
  ASSERT_NE(tile, nullptr);
  tile(args);
  for (std::int64_t i = 0; copies && i < t.depth * width; ++i) {
    const std::int64_t k = i / width, j = i % width;
    ASSERT_EQ(copy[i], j < t.cols ? value(k, j + 5) : 0.0F)
        << kernel.target << " at (" << k << ", " << j << ")";
  }
  for (int i = 0; i < t.rows; ++i) {
    for (int j = 0; j < c_ld && (i + 1 < t.rows || j < t.cols); ++j) {
      double want = kUntouched;
      if (j < t.cols) {
        want = 0;
        for (std::int64_t k = 0; k < t.depth; ++k)
          want += static_cast<double>(value(i, k)) * value(k, j + 5);
        want = t.alpha * want + (t.beta == 0.0F ? 0.0 : t.beta * value(i + 3, j));
      }
      ASSERT_EQ(c[i * c_ld + j], want)
          << kernel.target << " form " << static_cast<int>(form) << ", " << t.rows << " x "
          << t.cols << " x " << t.depth << " at (" << i << ", " << j << ")";
    }
  }
}

TEST(MicroKernel, EveryTileOfEveryInstructionSetIsExactAndStaysInside) {
  const std::vector<MicroKernel> kernels = all_micro_kernels();
  ASSERT_FALSE(kernels.empty());
  for (const MicroKernel& kernel : kernels) {
    for (const Form form : {Form::kPacked, Form::kInColumns, Form::kInRows, Form::kPackedAhead,
                            Form::kInColumnsCopyB, Form::kInRowsCopyB}) {
      for (int cols = 1; cols <= MicroKernel::kMostVectors * kernel.lanes; ++cols) {
        const int vectors = (cols + kernel.lanes - 1) / kernel.lanes;
        for (int rows = 1; rows <= kernel.shape(vectors).rows; ++rows) {
          check(kernel, form, {rows, cols, 5, 1.0F, 0.0F});
          check(kernel, form, {rows, cols, 1, -2.0F, 3.0F});
          check(kernel, form, {rows, cols, 2 * kAheadSteps + 4, 1.0F, 1.0F});
        }
      }
    }
  }
}

// Non-temporal stores where the rows are whole aligned vectors, else ordinary ones.
TEST(MicroKernel, StreamedTilesAreTheSame) {
  for (const MicroKernel& kernel : all_micro_kernels()) {
    for (int vectors = 1; vectors <= MicroKernel::kMostVectors; ++vectors) {
      const auto [rows, width] = kernel.shape(vectors);
      for (const int cols : {width, width - 1}) {
        for (const int offset : {0, 1}) {
          alignas(64) float c[MicroKernel::kMostRows * 64 + 64];
          std::ranges::fill(c, kUntouched);
          std::vector<float> a(rows), b(width);
          for (int i = 0; i < rows; ++i) a[i] = value(i, 0);
          for (int j = 0; j < width; ++j) b[j] = value(0, j);
          const TileArgs args{.depth = 1,
                              .a = a.data(),
                              .a_ld = rows,
                              .b = b.data(),
                              .b_ld = width,
                              .c = c + offset,
                              .c_ld = 64,
                              .cols = cols,
                              .streams = true,
                              .alpha = 2.0F};
          kernel.tile(Form::kPacked, cols, rows)(args);
          kernel.flush();
          for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < 64 - offset; ++j) {
              ASSERT_EQ(c[i * 64 + offset + j],
                        j < cols ? 2.0F * value(i, 0) * value(0, j) : kUntouched)
                  << kernel.target << " " << rows << " x " << cols << " at (" << i << ", " << j
                  << ")";
            }
          }
        }
      }
    }
  }
}

TEST(MicroKernel, TheBestOneIsChosen) {
  EXPECT_STREQ(micro_kernel().target, choose_micro_kernel().target);
  for (const MicroKernel& kernel : all_micro_kernels())
    EXPECT_LE(kernel.lanes, micro_kernel().lanes);
}

TEST(MicroKernel, CopyAndTransposeReadNothingBeyondTheirLines) {
  for (const MicroKernel& kernel : all_micro_kernels()) {
    for (int lines = 1; lines <= kernel.shape(3).cols; ++lines) {
      for (const std::int64_t depth : {1, 3, 4, 7, 18, 37}) {
        const std::int64_t width = (lines + kernel.lanes - 1) / kernel.lanes * kernel.lanes;
        GuardedFloats lines_by_k(lines * depth), k_by_lines(lines * depth), out(depth * width);
        for (int i = 0; i < lines; ++i) {
          for (std::int64_t k = 0; k < depth; ++k)
            lines_by_k[i * depth + k] = k_by_lines[k * lines + i] = value(i, k);
        }
        kernel.copy(k_by_lines.data(), lines, lines, depth, out.data(), width);
        for (std::int64_t k = 0; k < depth; ++k) {
          for (int i = 0; i < width; ++i)
            ASSERT_EQ(out[k * width + i], i < lines ? value(i, k) : 0.0F) << kernel.target;
        }
        std::fill_n(out.data(), depth * width, kUntouched);
        kernel.transpose(lines_by_k.data(), depth, lines, depth, out.data(), width);
        for (std::int64_t k = 0; k < depth; ++k) {
          for (int i = 0; i < width; ++i) {
            ASSERT_EQ(out[k * width + i], i < lines ? value(i, k) : kUntouched)
                << kernel.target << " " << lines << " x " << depth;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ladder::host
