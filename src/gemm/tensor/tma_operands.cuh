// SPDX-License-Identifier: Apache-2.0
// Host code common to the products that use TMA. Operands whose rows are not 16-byte aligned are
// first copied to aligned rows.
#pragma once
#include "device/extents.cuh"
#include "device/launch_dependent.cuh"
#include "device/ptx/dependent.cuh"
#include "device/runtime.cuh"
#include "device/tensor_map.cuh"
#include "gemm/tensor/tile_store.cuh"
#include "problem/accept.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ladder {

constexpr int kCopyThreads = 256;

// Copies rows of `used` elements to rows of ld_y elements, padded with zeros.
template <class Word>
struct RowCopy {
  const Word* gX;
  std::int64_t ld, lines, used;
  Word* gY;
  std::int64_t ld_y;
};
template <class Word>
struct RowCopies {
  RowCopy<Word> of[2];
};

// One copy per blockIdx.y, 16 bytes per thread.
template <class Word>
__global__ void __launch_bounds__(kCopyThreads)
    copy_rows(const __grid_constant__ RowCopies<Word> copies) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(Word));
  const RowCopy<Word>& c = copies.of[blockIdx.y];
  const std::int64_t in_row = c.ld_y / kWidth, all = c.lines * in_row;
  ptx::launch_dependents();
  for (std::int64_t at = std::int64_t{blockIdx.x} * kCopyThreads + threadIdx.x; at < all;
       at += std::int64_t{gridDim.x} * kCopyThreads) {
    const std::int64_t row = at / in_row, col = at % in_row * kWidth;
    alignas(16) Word r[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i) r[i] = col + i < c.used ? c.gX[row * c.ld + col + i] : Word{0};
    *reinterpret_cast<uint4*>(c.gY + row * c.ld_y + col) = *reinterpret_cast<const uint4*>(r);
  }
}

template <class Out>
Target<Out> target_of(const Problem& p, const Operands& o) {
  Out* const gC = o.c_as<Out>();
  const bool pairs =
      reinterpret_cast<std::uintptr_t>(gC) % (2 * sizeof(Out)) == 0 && p.ldc % 2 == 0;
  return {gC, p.ldc, static_cast<int>(p.m), static_cast<int>(p.n), p.alpha, p.beta, pairs};
}

// Launch parameters of a kernel that uses TMA.
template <class T>
struct TensorLaunch {
  MapsOf<T> maps;
  Target<typename T::Out> c;
  bool by_map;        // C may be stored by TMA, which permits alpha but no beta
  CallMemory memory;  // its scratch begins with the requested bytes
};

// Prepares a problem that reads A and B: takes memory and creates the tensor maps of A (boxes of
// T::kBoxRows rows), of B, and of C if it is stored by TMA. Enqueues copies of unaligned operands.
// Errors: kLaunchFailed.
template <class T>
Status prepare(const Problem& p, const Operands& o, cudaStream_t stream, TensorLaunch<T>& launch,
               std::int64_t scratch_bytes = 0, std::int64_t flags = 0) {
  using In = typename T::In;
  using Out = typename T::Out;
  using Store = TileStore<T>;
  using Word =
      std::conditional_t<sizeof(In) == 1, std::uint8_t,
                         std::conditional_t<sizeof(In) == 2, std::uint16_t, std::uint32_t>>;
  constexpr std::int64_t kSize = sizeof(In), kMostBlocks = 4096;
  struct Matrix {
    CUtensorMap& map;
    const float* g;
    std::int64_t lines, used, ld;
    int box_rows;
    bool is_copied = !tensor_map_takes(g, ld* kSize);
    // Whole rows of the swizzle.
    std::int64_t copied_ld = is_copied ? ceil_div(used, T::BK) * T::BK : 0;
    std::int64_t copied() const { return lines * copied_ld; }
  };
  const Matrix matrices[] = {
      {launch.maps.a, o.a, p.m, p.k, p.lda, T::kBoxRows},
      {launch.maps.b, o.b, T::kScaled ? p.n : p.k, T::kScaled ? p.k : p.n, p.ldb, T::kBoxCols}};
  scratch_bytes = ceil_div(scratch_bytes, 256) * 256;
  const std::int64_t copied_bytes = (matrices[0].copied() + matrices[1].copied()) * kSize;
  if (Status s = launch.memory.take(stream, scratch_bytes + copied_bytes, flags); !s) return s;
  auto* gFree = reinterpret_cast<Word*>(launch.memory.scratch() + scratch_bytes);
  RowCopies<Word> copies{};
  unsigned count = 0;
  for (const Matrix& x : matrices) {
    const void* g = x.g;
    if (x.is_copied) {
      copies.of[count++] = {
          reinterpret_cast<const Word*>(x.g), x.ld, x.lines, x.used, gFree, x.copied_ld};
      g = gFree;
      gFree += x.copied();
    }
    if (Status s = make_tensor_map(x.map, kTypeOf<In>, g, x.lines, x.used,
                                   x.is_copied ? x.copied_ld : x.ld, x.box_rows, T::BK);
        !s)
      return s;
  }
  if (count > 0) {
    const std::int64_t most = std::max(matrices[0].copied(), matrices[1].copied()) * kSize / 16;
    const auto blocks = std::clamp<std::int64_t>(ceil_div(most, kCopyThreads), 1, kMostBlocks);
    if (Status s = launch_kernel("copy_rows", copy_rows<Word>, {blocks, count}, kCopyThreads, 0,
                                 stream, copies);
        !s)
      return s;
  }
  launch.c = target_of<Out>(p, o);
  // TMA bounds a row only at multiples of 16 bytes: a store to a row that ends within 16 bytes
  // continues to their end (observed on an H200; loads end at the element).
  constexpr std::int64_t kOutSize = sizeof(Out);
  launch.by_map =
      p.beta == 0.0F && p.n * kOutSize % 16 == 0 && tensor_map_takes(o.c, p.ldc * kOutSize);
  if (!launch.by_map) return Status::ok();
  return make_tensor_map(launch.maps.c, kTypeOf<Out>, o.c, p.m, p.n, p.ldc, Store::kRows,
                         Store::kCols);
}

}  // namespace ladder
