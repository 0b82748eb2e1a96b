// SPDX-License-Identifier: Apache-2.0
#include "operands/draw_device.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include "operands/device_element.cuh"

namespace ladder {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 14;

enum class Fill : std::uint8_t { kDrawn, kNan, kPoison };

template <class E>
__global__ void draw(Drawing drawing, Matrix which, Extent extent, std::int64_t guard, Fill fill,
                     typename E::Bits* memory) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const typename E::Bits gap = which == Matrix::kC ? E::kPoison : E::kNan;
  const std::int64_t elements =
      extent.lines == 0 || extent.used == 0 ? 0 : (extent.lines - 1) * extent.ld + extent.used;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < elements + 2 * guard; at += step) {
    const std::int64_t place = at - guard;
    typename E::Bits bits = gap;
    if (place >= 0 && place < elements) {
      const std::int64_t line = place / extent.ld;
      const std::int64_t column = place - line * extent.ld;
      if (column < extent.used && fill == Fill::kDrawn)
        bits = E::bits(drawing.at(which, line, column));
      if (column < extent.used && fill == Fill::kNan) bits = E::kNan;
    }
    memory[at] = bits;
  }
}

}  // namespace

Result<Buffer> draw_on_device(const Drawing& drawing, Matrix which, const Problem& problem,
                              std::size_t guard) {
  const Extent extent = which == Matrix::kA   ? extent_a(problem)
                        : which == Matrix::kB ? extent_b(problem)
                                              : extent_c(problem);
  Fill fill = Fill::kDrawn;
  if (which != Matrix::kC && drawing.nan_operands()) fill = Fill::kNan;
  if (which == Matrix::kC && !reads_c(problem)) fill = Fill::kPoison;
  const std::int64_t count = extent.elements() + 2 * static_cast<std::int64_t>(guard);
  const Type type = which == Matrix::kC ? problem.out : problem.in;
  auto buffer = Buffer::allocate(Place::kCuda, static_cast<std::size_t>(bytes_of(type) * count));
  if (!buffer || count == 0) return buffer;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((count + kThreads - 1) / kThreads, kMostBlocks));
  with_element(type, [&](auto element) {
    using E = decltype(element);
    draw<E><<<blocks, kThreads>>>(drawing, which, extent, static_cast<std::int64_t>(guard), fill,
                                  buffer.value().template as<typename E::Bits>());
  });
  if (Status status = cuda_status(cudaGetLastError(), "draw"); !status) return status;
  if (Status status = synchronize(); !status) return status;
  return buffer;
}

}  // namespace ladder
