// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/plan.hpp"

#include <algorithm>

#include "gemm/plan/calls.hpp"
#include "gemm/plan/choice.hpp"
#include "gemm/plan/menus.hpp"
#include "problem/accept.hpp"

namespace ladder {
namespace {

std::string size(int m, int n, int k) {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

void put(CallPlan& to, std::string name, std::string value) {
  to.parts.emplace_back(std::move(name), std::move(value));
}
void put(CallPlan& to, std::string name, std::int64_t value) {
  put(to, std::move(name), std::to_string(value));
}

// Describes the assignment of tiles to blocks.
void put_shares(CallPlan& to, const Plan& plan) {
  put(to, "tiles", std::int64_t{plan.tiles_m} * plan.tiles_n);
  put(to, "blocks or clusters", plan.blocks);
  put(to, "whole tiles", plan.whole_tiles);
  put(to, "split tiles", plan.cut_tiles);
}

void put_tiles(CallPlan& to, const TensorPlan& chosen, const TileShape& t) {
  put(to, "tile", size(t.m, t.n, t.k));
  put(to, "cluster", t.blocks);
  put(to, "k-splits", std::max(chosen.parts, t.parts));
  if (chosen.plan.narrow.width > 0) put(to, "columns of the last tiles", chosen.plan.narrow.width);
  put_shares(to, chosen.plan);
}

constexpr TileShape kLargeTile{128, 256, 8, 1};  // of simt_tiles.cu
constexpr int kSlab = 64;                        // k per step of 16-bit elements

void put_split(CallPlan& to, const Problem& p, const SplitCost& cost, int bk, bool fused, int sms) {
  put(to, "split",
      fused ? "the larger operand in the product kernel, the other in a pre-pass" : "pre-pass");
  if (!fused) {
    const auto menu = split_tiles(bk);
    const TensorPlan chosen = plan_split_tiles(p, cost, menu, sms);
    return put_tiles(to, chosen, menu[chosen.tile]);
  }
  const FusedPlan chosen = plan_fused(p, kSlab, sms);
  put(to, "computes C^T", p.m > p.n ? "no" : "yes");
  put(to, "tile", size(128, chosen.wide ? 128 : 64, kSlab));
  put(to, "k-splits", chosen.parts);
  put_shares(to, chosen.plan);
}

void put_small(CallPlan& to, const Problem& p, int sms) {
  const SmallWay way = small_way(p);
  put(to, "kernel for",
      way == SmallWay::kOuter      ? "outer product"
      : way == SmallWay::kFewLines ? "few rows or columns"
                                   : "k-splits");
  if (way == SmallWay::kFewLines) put(to, "computes C^T", p.m <= p.n ? "no" : "yes");
  if (way != SmallWay::kPartsOfK) return;
  constexpr std::int64_t kMostRagged = std::int64_t{1} << 20;
  const SidedPartPlan chosen =
      plan_sides({p.m, p.n, p.k, p.op_a == Op::kNone, p.op_b != Op::kNone, p.lda % 4 == 0,
                  p.ldb % 4 == 0, std::max(p.lda, p.ldb) <= kMostRagged},
                 kPartTiles, sms);
  const PartTileCost& t = kPartTiles[static_cast<std::size_t>(chosen.part.tile)];
  put(to, "computes C^T", chosen.swapped ? "yes" : "no");
  put(to, "tile", size(t.bm, t.bn, t.bk));
  put(to, "cluster", chosen.part.cluster);
  put(to, "k-splits", chosen.part.parts);
  put(to, "edge rows and columns", chosen.part.rest_a + chosen.part.rest_b);
  to.clocks = chosen.part.cycles;
}

CallPlan on_cuda_cores(const Problem& original, const DeviceFacts& device) {
  const Problem p = as_row_major(original).problem;
  CallPlan to;
  if (has_few_tiles(original) && fits_few_tiles(original)) {
    to.kernel = "ladder_split_k";
    to.why = "C has too few tiles of 128x256 for the device";
    put_small(to, p, device.sms);
  } else {
    to.kernel = "ladder_large_tiles";
    to.why = "tiles of 128x256 fill the device";
    put(to, "tile", size(kLargeTile.m, kLargeTile.n, kLargeTile.k));
    put_shares(to, plan_large_tiles(p, kLargeTile.m, kLargeTile.n, kLargeTile.k, device.sms));
  }
  return to;
}

// `bytes`: size of an operand's element.
Result<CallPlan> on_tensor_cores(const Problem& p, std::string_view kernel, int bytes,
                                 std::span<const TileShape> menu, const DeviceFacts& device) {
  if (Status s = accept_for_tensor_maps(p); !s) return s;
  const auto on_lines = [&](std::int64_t ld) {
    return ld * bytes % 16 != 0 || ld * bytes % 128 == 0;  // else a copy is made for the tensor map
  };
  const TensorPlan chosen = plan_tensor_tiles(p, on_lines(p.lda) && on_lines(p.ldb), menu, device);
  CallPlan to{.kernel = kernel, .why = "the kernel of this precision", .parts = {}};
  put_tiles(to, chosen, menu[chosen.tile]);
  return to;
}

}  // namespace

Result<CallPlan> plan(const Problem& problem, Precision precision, int cc,
                      const DeviceFacts& device) {
  if (Status s = validate(problem); !s) return s;
  if (cc / 10 != 9)
    return Status(
        Code::kUnsupportedDevice,
        "plans are those of compute capability 9.0; elsewhere the highest rung that takes "
        "the problem runs");
  const auto [p, swapped] = as_row_major(problem);
  if (!reads_ab(p) || p.m == 0 || p.n == 0)
    return CallPlan{.kernel = "none", .why = "C is scaled only", .parts = {}};
  const bool words_take = fits_split(p);
  CallPlan to;
  constexpr SplitCost kHalves{3, 256, 128};
  if (precision == Precision::kAuto && gains_by_words(problem) && words_take &&
      guard_holds(static_cast<double>(p.k))) {
    to.kernel = "ladder_guarded";
    to.why = "tensor cores gain more than the split pre-pass and the range check cost";
    const bool aligned = (p.m > p.n ? p.lda : p.ldb) % 4 == 0;
    put_split(to, p, kHalves, kSlab, aligned && gains_by_guarded_fusing(p), device.sms);
    return to;
  }
  if (precision == Precision::kAuto || precision == Precision::kIeee)
    return on_cuda_cores(problem, device);
  to.why = "the kernel of this precision";
  if (precision == Precision::kTf32)
    return on_tensor_cores(problem, "ladder_tf32", 4, kTf32Tiles, device);
  if (precision == Precision::kBf16)
    return on_tensor_cores(problem, "ladder_bf16", 2, k16BitTiles, device);
  if (precision == Precision::kFp16)
    return on_tensor_cores(problem, "ladder_fp16", 2, k16BitTiles, device);
  if (!words_take) return Status(Code::kUnsupportedProblem, "takes sizes of at most 2^28");
  struct Words {
    Precision precision;
    std::string_view kernel;
    SplitCost cost;
    int bk;
  };
  constexpr Words kWords[]{{Precision::kFp16x3, "ladder_fp16x3", kHalves, kSlab},
                           {Precision::kBf16x3, "ladder_bf16x3", {3, 256, 128}, kSlab},
                           {Precision::kBf16x6, "ladder_bf16x6", {6, 192, 64}, 32},
                           {Precision::kBf16x9, "ladder_bf16x9", {9, 192, 64}, 32},
                           {Precision::kTf32x3, "ladder_tf32x3", {3, 256, 128}, 32}};
  for (const Words& words : kWords) {
    if (words.precision != precision) continue;
    to.kernel = words.kernel;
    const bool fused = precision == Precision::kFp16x3 && gains_by_fusing(p) &&
                       (p.m > p.n ? p.lda : p.ldb) % 4 == 0;
    put_split(to, p, words.cost, words.bk, fused, device.sms);
    return to;
  }
  return Status(Code::kInvalidArgument, "no call on f32 operands has this precision");
}

}  // namespace ladder
