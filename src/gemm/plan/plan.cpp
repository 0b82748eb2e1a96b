// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/plan.hpp"

#include <algorithm>
#include <cmath>

#include "gemm/plan/menus.hpp"
#include "gemm/plan/part_plan.hpp"
#include "problem/accept.hpp"

namespace ladder {

namespace {

Status needs(const KernelChoice& choice, int least, int cc) {
  const auto capability = [](int of) {
    return std::to_string(of / 10) + "." + std::to_string(of % 10);
  };
  return {Code::kUnsupportedDevice, std::string(choice.kernel) + " needs compute capability " +
                                        capability(least) + ", not " + capability(cc)};
}

}  // namespace

Result<Plan> plan(const Problem& problem, Precision precision, const DeviceFacts& device,
                  const Alignment& at) {
  if (Status s = validate(problem); !s) return s;
  const Problem p = as_row_major(problem).problem;
  if (!reads_ab(p) || p.m == 0 || p.n == 0) return Plan{{"none", "C is scaled only"}, {}};
  const KernelChoice choice = choose_kernel(problem, precision, device);
  if (const EveryGpuTile* tile = find_every_gpu_tile(choice.kernel)) {
    if (device.cc < tile->min_cc) return needs(choice, tile->min_cc, device.cc);
    const auto clocks = [&](const EveryGpuTile& of) {
      const double found = every_gpu_clocks(of, p, device);
      return std::isfinite(found) ? found : 0;
    };
    const EveryGpuTile sized = tile_for(*tile, p.m, p.n, 1, device.sms);
    return Plan{choice, EveryGpuPlan{sized, ceil_div(p.m, sized.m), ceil_div(p.n, sized.n),
                                     clocks(*tile), clocks(kEveryGpuTiles[0])}};
  }
  if (device.cc != kHopper) return needs(choice, kHopper, device.cc);
  if (choice.kernel == "ladder_large_tiles")
    return Plan{choice, plan_large_tiles(p, at, device.sms)};
  if (choice.kernel == "ladder_split_k") return Plan{choice, plan_small(p, at, device)};
  const bool is_tf32 = precision == Precision::kTf32;
  if (is_tf32 || precision == Precision::kBf16 || precision == Precision::kFp16) {
    if (Status s = accept_for_tensor_maps(problem); !s) return s;
    return Plan{choice, plan_tensor(p, is_tf32 ? 4 : 2, at, device)};
  }
  if (Status s = accept_split_extents(p); !s) return s;
  const bool guarded = precision == Precision::kAuto;
  if ((guarded || precision == Precision::kFp16x3) && takes_fused(p, at, guarded, device.sms))
    return Plan{choice, plan_fused(p, device.sms)};
  const SplitFormat& format = split_format(guarded ? Precision::kFp16x3 : precision);
  return Plan{choice, plan_split_tiles(p, format.cost, split_tiles(format.bk), device.sms)};
}

namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

void put(Words& to, std::string name, std::string value) {
  to.emplace_back(std::move(name), std::move(value));
}
void put(Words& to, std::string name, std::int64_t value) {
  put(to, std::move(name), std::to_string(value));
}
void put_tile(Words& to, int m, int n, int k) {
  put(to, "tile", std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k));
}
void put_tiling(Words& to, const Tiling& tiling) {
  put(to, "tiles", std::int64_t{tiling.tiles_m} * tiling.tiles_n);
  put(to, "blocks or clusters", tiling.blocks);
  put(to, "whole tiles", tiling.whole_tiles);
  put(to, "split tiles", tiling.split_tiles);
}

void put_plan(Words& /*to*/, std::monostate /*scaled*/) {}

void put_plan(Words& to, const LargePlan& plan) {
  put_tile(to, plan.shape().m, plan.shape().n, plan.shape().k);
  put_tiling(to, plan.tiling);
  put(to, "packs unaligned operands", plan.packs ? "yes" : "no");
}

void put_plan(Words& to, const SmallPlan& plan) {
  const auto& [part, swapped] = plan.sided;
  put(to, "kernel for",
      plan.kernel == SmallKernel::kOuterProduct ? "outer product"
      : plan.kernel == SmallKernel::kSplitK     ? "k-splits"
      : plan.thin.kind == ThinKind::kDirect     ? "the smallest products"
      : plan.thin.kind == ThinKind::kDots       ? "few elements of C"
                                                : "few rows or columns");
  if (plan.kernel == SmallKernel::kOuterProduct) return;
  put(to, "computes C^T", swapped ? "yes" : "no");
  if (plan.kernel == SmallKernel::kThin && plan.thin.kind == ThinKind::kDots) {
    put(to, "elements of C per block", plan.thin.outputs);
    put(to, "threads per block", 1 << plan.thin.lanes);
    return;
  }
  if (plan.kernel == SmallKernel::kThin) {
    put(to, "threads per column", 1 << plan.thin.lanes);
    put(to, "k-splits", plan.thin.parts);
    return;
  }
  const PartTileCost& t = kPartTiles[static_cast<std::size_t>(part.tile)];
  put_tile(to, t.bm, t.bn, t.bk);
  put(to, "cluster", part.cluster);
  put(to, "k-splits", part.parts);
}

void put_plan(Words& to, const TensorPlan& chosen) {
  put_tile(to, chosen.shape.m, chosen.shape.n, chosen.shape.k);
  put(to, "cluster", chosen.shape.blocks);
  put(to, "k-splits", std::max(chosen.parts, chosen.shape.parts));
  if (chosen.plan.narrow.width > 0) put(to, "columns of the last tiles", chosen.plan.narrow.width);
  put_tiling(to, chosen.plan);
}

void put_plan(Words& to, const FusedPlan& chosen) {
  put(to, "split", "the larger operand in the product kernel, the other in a pre-pass");
  put(to, "computes C^T", chosen.raw_is_a ? "no" : "yes");
  put_tile(to, chosen.shape.m, chosen.shape.n, chosen.shape.k);
  put(to, "k-splits", chosen.parts);
  put_tiling(to, chosen.plan);
}

void put_plan(Words& to, const EveryGpuPlan& chosen) {
  if (chosen.tile.products > 1) put(to, "split", "in registers");
  put_tile(to, chosen.tile.m, chosen.tile.n, chosen.tile.k);
  put(to, "tiles", chosen.tiles_m * chosen.tiles_n);
  if (chosen.clocks_of_ieee > 0 && chosen.tile.products > 1)
    put(to, "predicted on CUDA cores",
        std::to_string(std::llround(chosen.clocks_of_ieee)) + " clocks per SM");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> describe(const Plan& plan) {
  Words to;
  if (std::holds_alternative<TensorPlan>(plan.tiles) && plan.choice.splits)
    put(to, "split", "pre-pass");
  std::visit([&](const auto& of) { put_plan(to, of); }, plan.tiles);
  return to;
}

double predicted_clocks(const Plan& plan) {
  if (const auto* large = std::get_if<LargePlan>(&plan.tiles)) return large->cycles;
  if (const auto* small = std::get_if<SmallPlan>(&plan.tiles)) return small->cycles();
  if (const auto* tensor = std::get_if<TensorPlan>(&plan.tiles)) return tensor->clocks;
  if (const auto* every = std::get_if<EveryGpuPlan>(&plan.tiles)) return every->clocks;
  return 0;
}

}  // namespace ladder
