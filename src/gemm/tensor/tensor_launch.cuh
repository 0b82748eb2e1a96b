// SPDX-License-Identifier: Apache-2.0
// Launches of the products on tensor cores: the kernels of a menu of tiles. The planner chooses the
// tile by shape, whether the last tiles are narrower or split along k, and whether all tiles are
// split along k. Operands whose rows are not 16-byte aligned are first copied to aligned rows.
#pragma once
#include "device/extents.cuh"
#include "device/launch_dependent.cuh"
#include "device/ptx/dependent.cuh"
#include "device/runtime.cuh"
#include "device/tensor_map.cuh"
#include "gemm/call.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/tensor/tensor_kernel.cuh"
#include "problem/accept.hpp"

#include <algorithm>
#include <array>
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

namespace ladder::tensor_tiles {

template <class T>
Status launch_tile(const Problem& p, const Operands& o, const TensorPlan& chosen, Stream stream) {
  StartPlan plan{chosen.plan, first_tiles(chosen.plan, T::kBand)};
  plan.once = plan.whole_tiles <= plan.blocks && plan.split_tiles == 0;
  constexpr int kPartial = T::BM * T::BN;
  const std::int64_t blocks = plan.blocks * T::kCluster;
  const std::int64_t pieces = chosen.parts > 1       ? std::int64_t{plan.whole_tiles} * chosen.parts
                              : plan.split_tiles > 0 ? blocks
                                                     : 0;
  TensorLaunch<T> l;
  if (Status s = prepare<T>(p, o, stream, l, pieces * kPartial * 4, blocks * T::kWarpgroups); !s)
    return s;
  if constexpr (T::kScaled) {
    l.maps.scales = {o.scales_a, o.scales_b, extent_scales_b(p).ld, l.c.m, l.c.n};
  }
  const Exchange x{reinterpret_cast<float*>(l.memory.scratch()), l.memory.flags()};
  if constexpr (T::Store::kTail > 0) {
    if (l.by_map) {
      if (Status s = make_tensor_map(l.maps.c_tail, kTypeOf<typename T::Out>, o.c, p.m, p.n, p.ldc,
                                     T::Store::kRows, T::Store::kTail);
          !s) {
        return s;
      }
    }
  }
  const auto launch = [&](auto* run, const auto& c, std::size_t shared) {
    return launch_dependent("tensor_tiles", run, blocks, T::kCluster, T::kThreads, shared, stream,
                            l.maps, c, plan, x);
  };
  if constexpr (T::kCluster == 1) {
    if (chosen.parts > 1) {
      // Partial sums are FP32 whatever the type of C: one kernel per type of operands.
      using Sums = Tile<typename T::In, float, T::BM, T::BN, T::STAGES>;
      const Target<float> extent{nullptr, l.c.ld, l.c.m, l.c.n, 1.0F, 0.0F, false};
      if (Status s = launch(kernel<Sums, Finish::kParts>, extent, sizeof(typename Sums::Shared));
          !s)
        return s;
      constexpr int kManyParts = 32;
      const auto add = chosen.parts < kManyParts ? add_parts<T, 4> : add_parts<T, 16>;
      const int slices = chosen.parts < kManyParts ? 1 : 4;
      return launch_dependent(
          "add_parts", add, plan.whole_tiles * T::kWarpgroups * kFloat4s<T> * slices, 1,
          kAddThreads, 0, stream, l.c, x.gPartial, static_cast<const Tiling&>(plan), chosen.parts);
    }
  }
  return launch(l.by_map ? kernel<T, Finish::kStore> : kernel<T, Finish::kDirect>, l.c,
                sizeof(typename T::Shared));
}

// The kernels of a menu's tiles, in the menu's order.
template <class T>
constexpr TileShape kShapeOf{T::kPairM,
                             T::kPairN,
                             T::BK,
                             T::kCluster,
                             T::kNarrow == T::BN ? 0 : T::kNarrow,
                             T::kSplitsK ? T::kCluster : 1};
template <class... T>
struct Kernels {
  static constexpr std::array kShapes{kShapeOf<T>...};
  static constexpr std::array kLaunch{launch_tile<T>...};
};
template <class Tiles, class In>
Status launch_menu(const Problem& p, const Operands& o, Stream stream) {
  static_assert(Tiles::kShapes == Tiles::kTiles, "a kernel for each tile of the menu");
  return launch_row_major(p, o, stream, [&](const RowMajorCall& call) {
    const TensorPlan chosen = plan_tensor(p, sizeof(In), call.at, call.device);
    return Tiles::kLaunch[chosen.tile](p, o, chosen, stream);
  });
}

}  // namespace ladder::tensor_tiles
