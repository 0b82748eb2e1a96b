// SPDX-License-Identifier: Apache-2.0
#include "host/pack.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>

namespace ladder::host {

Panels::Panels(const MicroKernel& kernel, Shape tile, Role role, const Operand& x, Piece lines, Piece depth,
               bool packed, float* memory)
    : kernel_(kernel),
      x_(x),
      lines_(lines),
      depth_(depth),
      memory_(memory),
      width_(role == Role::kRows ? tile.rows : tile.cols),
      count_(pieces(lines.size, width_)),
      least_(count_ > 0 ? lines.size / count_ : 0),
      wider_(count_ > 0 ? lines.size % count_ : 0),
      role_(role),
      packed_(packed) {}

Piece Panels::part(std::int64_t i) const {
  if (role_ == Role::kRows) return {i * least_ + std::min(i, wider_), least_ + (i < wider_ ? 1 : 0)};
  return {i * width_, std::min(width_, lines_.size - i * width_)};
}

std::int64_t Panels::stored_width(std::int64_t lines) const {
  return role_ == Role::kRows ? lines : pieces(lines, kernel_.lanes) * kernel_.lanes;
}

// Copying writes whole vectors: room behind each panel, so that threads can pack neighbours at the same time.
float* Panels::stored(std::int64_t i, std::int64_t begin) const {
  return memory_ + begin * depth_.size + (role_ == Role::kRows ? i * kernel_.lanes : 0);
}

void Panels::pack() const {
  // Columns that lie side by side, a kilobyte of a row together: narrower pieces of rows far apart come slower.
  const std::int64_t most = role_ == Role::kCols && !x_.along_k ? std::max<std::int64_t>(1, 256 / width_) : 1;
  for (std::int64_t i = 0; i < count_; i += most) pack(i, std::min(most, count_ - i));
}

void Panels::pack(std::int64_t i) const { pack(i, 1); }

void Panels::pack(std::int64_t i, std::int64_t panels) const {
  if (!packed_) return;
  const auto [begin, first_lines] = part(i);
  const auto [last_begin, last_lines] = part(i + panels - 1);
  const std::int64_t lines = last_begin + last_lines - begin, width = stored_width(first_lines);
  const float* x = x_.at(lines_.begin + begin, depth_.begin);
  float* y = stored(i, begin);
  if (x_.along_k) {
    if (lines != width) std::fill_n(y, width * depth_.size, 0.0F);
    kernel_.transpose(x, x_.ld, static_cast<int>(lines), depth_.size, y, width);
  } else {
    kernel_.copy(x, x_.ld, static_cast<int>(lines), depth_.size, y, static_cast<int>(width));
  }
}

Panel Panels::at(std::int64_t i) const {
  const auto [begin, lines] = part(i);
  if (packed_) return {stored(i, begin), stored_width(lines), begin, static_cast<int>(lines)};
  return {x_.at(lines_.begin + begin, depth_.begin), x_.ld, begin, static_cast<int>(lines)};
}

void multiply_in_place(const MicroKernel& kernel, const Problem& p, const Way& way, const Operand& a,
                       const Operand& b, Piece rows, Piece cols, float* c) {
  const TileArgs part{.depth = p.k,
                      .c = c + rows.begin * p.ldc + cols.begin,
                      .c_ld = p.ldc,
                      .c_is_far = way.c_is_far,
                      .alpha = p.alpha,
                      .beta = p.beta};
  const int m = static_cast<int>(rows.size), n = static_cast<int>(cols.size);
  if (m == 0) return;
  // Rows of a panel, and how many panels have one more. One panel is common, and divisions are slow beside a small tile.
  int panels = 1, least = m, wider = 0;
  if (m > way.tile.rows) {
    panels = (m + way.tile.rows - 1) / way.tile.rows;
    least = m / panels;
    wider = m % panels;
  }
  for (int j = 0; j < n; j += way.tile.cols) {
    const Panel panel_b{b.at(cols.begin + j, 0), b.ld, j, std::min(way.tile.cols, n - j)};
    for (int panel = 0, i = 0; panel < panels; ++panel) {
      const int lines = least + (panel < wider ? 1 : 0);
      multiply(kernel, way.form, {a.at(rows.begin + i, 0), a.ld, i, lines}, panel_b, part);
      i += lines;
    }
  }
}

float* workspace(Use use, std::size_t floats) {
  struct Buffer {
    hwy::AlignedFreeUniquePtr<float[]> memory;
    std::size_t size = 0;
  };
  static thread_local Buffer buffers[2];
  Buffer& buffer = buffers[static_cast<int>(use)];
  if (floats > buffer.size) {
    buffer = {};
    buffer.memory = hwy::AllocateAligned<float>(floats);
    if (buffer.memory) buffer.size = floats;
  }
  return buffer.memory.get();
}

void scale(const Problem& p, float* c) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    float* line = c + i * p.ldc;
    for (std::int64_t j = 0; j < p.n; ++j) line[j] = p.beta == 0.0F ? 0.0F : p.beta * line[j];
  }
}

}  // namespace ladder::host
