// SPDX-License-Identifier: Apache-2.0
#include "host/pack.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "host/per_thread.hpp"

namespace ladder::host {

Panels::Panels(const MicroKernel& kernel, Shape tile, Role role, const Operand& x, Piece lines,
               Piece depth, bool packed, float* memory)
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
  if (role_ == Role::kRows)
    return {i * least_ + std::min(i, wider_), least_ + (i < wider_ ? 1 : 0)};
  return {i * width_, std::min(width_, lines_.size - i * width_)};
}

std::int64_t Panels::stored_width(std::int64_t lines) const {
  return role_ == Role::kRows ? lines : pieces(lines, kernel_.lanes) * kernel_.lanes;
}

// Copies write whole vectors. The padding behind each panel lets threads pack neighbouring panels
// at the same time.
float* Panels::stored(std::int64_t i, std::int64_t begin) const {
  return memory_ + begin * depth_.size + (role_ == Role::kRows ? i * kernel_.lanes : 0);
}

void Panels::pack() const {
  for (std::int64_t i = 0; i < count_; ++i) pack(i);
}

void Panels::pack(std::int64_t i) const {
  if (!packed_) return;
  const auto [begin, lines] = part(i);
  const std::int64_t width = stored_width(lines);
  const float* x = x_.at(lines_.begin + begin, depth_.begin);
  float* y = stored(i, begin);
  if (x_.along_k) {
    if (lines != width) std::fill_n(y, width * depth_.size, 0.0F);
    kernel_.transpose(x, x_.ld, static_cast<int>(lines), depth_.size, y, width);
  } else {
    kernel_.copy(x, x_.ld, static_cast<int>(lines), depth_.size, y, width);
  }
}

std::optional<Panel> Panels::source(std::int64_t i) const {
  const auto [begin, lines] = part(i);
  if (!packed_ || x_.along_k || (lines % kernel_.lanes != 0 && !kernel_.partial_loads))
    return std::nullopt;
  return Panel{x_.at(lines_.begin + begin, depth_.begin), x_.ld, begin, static_cast<int>(lines)};
}

Panel Panels::at(std::int64_t i) const {
  const auto [begin, lines] = part(i);
  if (packed_) return {stored(i, begin), stored_width(lines), begin, static_cast<int>(lines)};
  return {x_.at(lines_.begin + begin, depth_.begin), x_.ld, begin, static_cast<int>(lines)};
}

void multiply_block(const MicroKernel& kernel, Form form, const Panels& pA, const Panels& pB,
                    const TileArgs& block) {
  if (pA.count() == 0) return;
  const Form copying = form == Form::kInRows ? Form::kInRowsCopyB : Form::kInColumnsCopyB;
  for (std::int64_t j = 0; j < pB.count(); ++j) {
    const Panel b = pB.at(j);
    const auto source = pB.source(j);
    if (source && kernel.tile(copying, source->lines, pA.at(0).lines) != nullptr) {
      multiply(kernel, copying, pA.at(0), *source, block, pB.target(j));
    } else {
      pB.pack(j);
      multiply(kernel, form, pA.at(0), b, block);
    }
  }
  // Each tile prefetches its part of the next panel of A from L3; after the last panel that is the
  // first again.
  constexpr std::int64_t kLine = 64 / sizeof(float);
  const std::int64_t part = (block.depth - 1) / kAheadSteps * kLine;
  for (std::int64_t i = 1; i < pA.count(); ++i) {
    const Panel a = pA.at(i), next = pA.at(i + 1 < pA.count() ? i + 1 : 0);
    for (std::int64_t j = 0; j < pB.count(); ++j) {
      const Panel b = pB.at(j);
      if (form == Form::kPacked && j * part < next.ld * block.depth &&
          kernel.tile(Form::kPackedAhead, b.lines, a.lines) != nullptr) {
        multiply(kernel, Form::kPackedAhead, a, b, block, nullptr, next.x + j * part);
      } else {
        multiply(kernel, form, a, b, block);
      }
    }
  }
  if (block.streams) kernel.flush();
}

void multiply_in_place(const MicroKernel& kernel, const Problem& p, const Way& way,
                       const Operand& a, const Operand& b, Piece rows, Piece cols, float* c) {
  const TileArgs part{.depth = p.k,
                      .c = c + rows.begin * p.ldc + cols.begin,
                      .c_ld = p.ldc,
                      .c_is_far = way.c_is_far,
                      .streams = way.streams,
                      .alpha = p.alpha,
                      .beta = p.beta};
  const int m = static_cast<int>(rows.size), n = static_cast<int>(cols.size);
  if (m == 0) return;
  // Rows per panel, and how many panels have one more row. One panel is the common case, and
  // divisions are slow compared with a small tile.
  int panels = 1, least = m, wider = 0;
  if (m > way.tile.rows) {
    panels = (m + way.tile.rows - 1) / way.tile.rows;
    least = m / panels;
    wider = m % panels;
  }
  const auto tile = [&](int i, int lines, int j) {
    multiply(kernel, way.form, {a.at(rows.begin + i, 0), a.ld, i, lines},
             {b.at(cols.begin + j, 0), b.ld, j, std::min(way.tile.cols, n - j)}, part);
  };
  const auto lines_of = [&](int panel) { return least + (panel < wider ? 1 : 0); };
  // Along the rows of C: few pages are in use at a time.
  if (n > 2 * way.tile.cols || way.c_is_far || way.streams) {
    for (int panel = 0, i = 0; panel < panels; i += lines_of(panel++)) {
      for (int j = 0; j < n; j += way.tile.cols) tile(i, lines_of(panel), j);
    }
    if (way.streams) kernel.flush();
    return;
  }
  for (int j = 0; j < n; j += way.tile.cols) {
    for (int panel = 0, i = 0; panel < panels; i += lines_of(panel++)) tile(i, lines_of(panel), j);
  }
}

// Allocates on huge pages if the system provides them. With small pages, streaming through slivers
// needs a new page translation every 450 cycles.
static float* allocate(std::size_t floats) {
  constexpr std::size_t kPage = 2 << 20;
  if (floats > std::numeric_limits<std::size_t>::max() / (2 * sizeof(float))) return nullptr;
  const std::size_t bytes = floats * sizeof(float);
  const std::size_t unit = bytes < kPage / 2 ? 64 : kPage;
  const std::size_t size = (bytes + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, size);
#ifdef MADV_HUGEPAGE
  if (memory != nullptr && unit == kPage) madvise(memory, size, MADV_HUGEPAGE);
#endif
  return static_cast<float*>(memory);
}

namespace {

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
struct Buffer {
  std::unique_ptr<float, Free> memory;
  std::size_t size = 0;
};
struct Buffers {
  Buffer of_use[2];
};
const PerThread<Buffers> all_buffers;

}  // namespace

float* workspace(Use use, std::size_t floats) {
  Buffers* const buffers = all_buffers.get();
  if (buffers == nullptr) return nullptr;
  Buffer& buffer = buffers->of_use[static_cast<int>(use)];
  if (floats > buffer.size) {
    buffer = {};
    buffer.memory.reset(allocate(floats));
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
