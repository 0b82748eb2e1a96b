// SPDX-License-Identifier: Apache-2.0
// Launches of the products on tensor cores: the kernels of a menu of tiles. The planner chooses the
// tile by shape, whether the last tiles are narrower or split along k, and whether all tiles are
// split along k.
#pragma once
#include "gemm/call.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/tensor/tensor_kernel.cuh"
#include "gemm/tensor/tma_operands.cuh"

#include <array>

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
