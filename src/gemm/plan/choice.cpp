// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gemm/plan/costs.hpp"
#include "gemm/plan/large_plan.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/plan/tuned_plans.hpp"
#include "problem/accept.hpp"
#include "problem/rates.hpp"
#include "problem/split_error.hpp"

namespace ladder {
namespace {

constexpr std::string_view kTuned = "LADDER_PLANS has a measured plan";

// Predicted cycles on CUDA cores: of ladder_split_k (`small`) and ladder_large_tiles (`large`).
struct CudaCoreCycles {
  double small, large;
};
CudaCoreCycles cuda_core_cycles(const Problem& p, const DeviceFacts& device) {
  if (p.m == 0 || p.n == 0) return {0, 0};
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const double large = plan_large_tiles(p, {}, device.sms).cycles;
  if (!fits_split_k(p)) return {kNever, large};
  const SmallPlan small = plan_small(p, {}, device);
  return {small.kernel == SmallKernel::kOuterProduct ? 0 : small.cycles(), large};
}

// Whether the guard of a fused split tolerates enough elements below its level in the last slab
// along k: where it tolerates few, ordinary data would fail by chance.
bool allows_last_slab(std::int64_t k, const SlabRule& rule) {
  constexpr std::int64_t kLeastAllowed = 24;
  const std::int64_t missing = (kSlab - k % kSlab) % kSlab;
  return rule.allowed - missing >= kLeastAllowed;
}

// Whether a fused split is possible; of a guarded product, whether ordinary data pass its guard.
bool may_fuse(const Problem& p, const Alignment& at, bool guarded) {
  if (!fits_fused(p, at) || !reads_ab(p) || std::min(p.m, p.n) == 0) return false;
  if (!guarded) return true;
  const auto rule = slab_rule(static_cast<double>(p.k));
  return rule && allows_last_slab(p.k, *rule);
}

// Predicted cycles of a guarded kernel with a fused split of the larger operand.
double fused_cycles(const Problem& p, int sms) {
  const auto few = static_cast<double>(std::min(p.m, p.n)),
             many = static_cast<double>(std::max(p.m, p.n)), k = static_cast<double>(p.k);
  const FusedPlan fused = plan_fused(p, sms);
  const Tiling& plan = fused.plan;
  const double outputs = 1.0 * fused.shape.m * fused.shape.n,  // of a tile
      tiles = 1.0 * plan.tiles_m * plan.tiles_n, steps = tiles * plan.steps / plan.blocks;
  // A block forwards its partial sums to the tile's next block, or a second kernel adds them.
  const bool forwards = fused.parts == 1;
  const double sums = forwards ? guarded_cost::fused_hop * std::max(plan.blocks / tiles - 1, 0.0)
                               : guarded_cost::fused_sum * fused.parts * tiles / sms;
  return guarded_cost::fused +
         std::max(
             outputs * (guarded_cost::fused_step * steps + sums) +
                 (guarded_cost::fused_few * few * k + guarded_cost::fused_outputs * few * many) /
                     sms,
             guarded_cost::fused_memory * memory_cycles(4 * (few + many) * k, sms));
}

// The same with a pre-pass over both operands.
double prepass_cycles(const Problem& p, int sms) {
  const double k = static_cast<double>(p.k) / sms;
  const SplitFormat& format = split_format(Precision::kFp16x3);
  const bool a_along = p.op_a == Op::kNone, b_along = p.op_b != Op::kNone;
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n),
               along = (a_along ? m : 0) + (b_along ? n : 0), across = m + n - along;
  return guarded_cost::launch +
         guarded_cost::product *
             plan_split_tiles(p, format.cost, split_tiles(format.bk), sms).clocks +
         (guarded_cost::along_k * along + guarded_cost::across_k * across) * k +
         (p.k > kStripsDepth ? guarded_cost::deep * across * k : 0) +
         (across > 0 ? guarded_cost::transposes : 0) + guarded_cost::outputs * m * n / sms;
}

// Whether a guarded kernel is predicted to be faster than CUDA cores. Those take at least as long
// as their multiply-adds, so that their plans need not be compared where that decides.
bool gains_by_split(const Problem& p, const DeviceFacts& device) {
  const auto form = TunedPlans::of_process().find_form(part_shape(p, {}), device.sms);
  if (!form && std::min(p.m, p.n) <= kThinVectors) return false;
  const GuardedCycles guarded = guarded_cycles(p, {}, device.sms);
  const double cycles = std::min(guarded.prepass, guarded.fused);
  if (form) return *form != AutoForm::kCudaCores && std::isfinite(cycles);
  if (cycles < flops(p) / 2 / (fp32_lanes_per_sm(device.cc) * device.sms)) return true;
  const CudaCoreCycles cuda_cores = cuda_core_cycles(p, device);
  return cycles < std::min(cuda_cores.small, cuda_cores.large);
}

// The first tile whose member `key` has this value, or null.
template <class Value>
const EveryGpuTile* find_tile(Value EveryGpuTile::*key, const Value& value) {
  const auto* const at = std::ranges::find(kEveryGpuTiles, value, key);
  return at == std::end(kEveryGpuTiles) ? nullptr : at;
}

const EveryGpuTile* every_gpu_tile(Precision precision) {
  return find_tile(&EveryGpuTile::precision, precision);
}

double tiles_of(const EveryGpuTile& tile, std::int64_t m, std::int64_t n) {
  return static_cast<double>(ceil_div(m, tile.m)) * static_cast<double>(ceil_div(n, tile.n));
}

// Of auto: the fastest whose error bound is no larger than SGEMM's. The kernels of mma.sync hold
// theirs for all operands, since they compute products in FP32 where terms would not hold them.
KernelChoice choose_by_clocks(const Problem& p, const DeviceFacts& device) {
  const auto k = static_cast<double>(p.k);
  const EveryGpuTile* best = every_gpu_tile(Precision::kIeee);
  double least = every_gpu_clocks(*best, p, device);
  for (const EveryGpuTile& tile : kEveryGpuTiles) {
    if (tile.products == 1 || !tile.automatic || device.cc < tile.min_cc) continue;
    if (split_error(tile.precision, k).products > ieee_error(k)) continue;
    const double clocks = every_gpu_clocks(tile, p, device);
    if (clocks >= least) continue;
    best = &tile;
    least = clocks;
  }
  if (best->products == 1)
    return {best->kernel, device.cc < kAmpere
                              ? "before compute capability 8.0 there are no bf16 tensor cores"
                              : "no kernel on tensor cores is predicted to be faster with an "
                                "error bound as small as IEEE's"};
  return {best->kernel,
          "tensor cores are predicted to be faster than CUDA cores, and the error bound is no "
          "larger than IEEE's",
          true};
}

KernelChoice choose_of_hopper(const Problem& p, Precision precision, const DeviceFacts& device) {
  switch (precision) {
    case Precision::kAuto:
      if (gains_by_split(p, device)) {
        const bool tuned =
            TunedPlans::of_process().find_form(part_shape(p, {}), device.sms).has_value();
        return {"ladder_guarded",
                tuned ? kTuned
                      : "tensor cores gain more than the split pre-pass and the range check cost",
                true};
      }
      [[fallthrough]];
    case Precision::kIeee: {
      if (const auto tuned = TunedPlans::of_process().find(part_shape(p, {}), device.sms)) {
        return {tuned->large ? "ladder_large_tiles" : "ladder_split_k", kTuned};
      }
      const CudaCoreCycles cycles = cuda_core_cycles(p, device);
      if (cycles.small <= cycles.large)
        return {"ladder_split_k", "it is predicted to be faster than large tiles"};
      return {"ladder_large_tiles", "large tiles are predicted to be faster than small ones"};
    }
    case Precision::kTf32: return {"ladder_tf32", "the kernel of this precision"};
    case Precision::kBf16: return {"ladder_bf16", "the kernel of this precision"};
    case Precision::kFp16: return {"ladder_fp16", "the kernel of this precision"};
    default: return {split_format(precision).kernel, "the kernel of this precision", true};
  }
}

}  // namespace

const EveryGpuTile* find_every_gpu_tile(std::string_view kernel) {
  return find_tile(&EveryGpuTile::kernel, kernel);
}

EveryGpuTile tile_for(EveryGpuTile tile, std::int64_t m, std::int64_t n, std::int64_t count,
                      int sms) {
  if (tile.products == 1 && tiles_of(tile, m, n) * static_cast<double>(count) < sms) {
    tile.m = tile.n = 64;
    tile.k = 16;
  }
  return tile;
}

double every_gpu_clocks(const EveryGpuTile& given, const Problem& p, const DeviceFacts& device) {
  const EveryGpuTile tile = tile_for(given, p.m, p.n, 1, device.sms);
  const double rate = tile.rate > 0 ? tile.rate / 2 * tensor_flop_per_cycle(device.cc) *
                                          mma_sync_share(device.cc) * every_gpu_cost::tensor_share
                                    : fp32_lanes_per_sm(device.cc) * every_gpu_cost::fp32_share;
  if (rate <= 0) return std::numeric_limits<double>::infinity();
  const double of_sm = std::ceil(tiles_of(tile, p.m, p.n) / std::max(1, device.sms)),
               products = 1.0 * tile.m * tile.n * static_cast<double>(p.k) * tile.products;
  return of_sm * (products / rate + every_gpu_cost::tile_clocks);
}

bool fits_split_k(const Problem& p) {
  constexpr std::int64_t kLeastTile = 16;
  return accept_split_extents(p) &&
         ceil_div(p.m, kLeastTile) * ceil_div(p.n, kLeastTile) <= kMaxExtent;
}

bool takes_outer_product(const Problem& p) {
  if (p.n < limit::outer_columns) return false;
  const bool aligned = (p.n | p.ldc) % 4 == 0;
  return !reads_ab(p) || (p.k <= limit::outer_k && aligned && p.m * p.n > limit::direct_elements);
}

KernelChoice choose_kernel(const Problem& problem, Precision precision, const DeviceFacts& device) {
  const Problem p = as_row_major(problem).problem;
  if (device.cc != kHopper) {
    if (precision == Precision::kAuto) return choose_by_clocks(p, device);
    if (precision == Precision::kIeee)
      return {every_gpu_tile(precision)->kernel, "the kernel of GPUs that are no Hopper"};
    if (const EveryGpuTile* tile = every_gpu_tile(precision))
      return {tile->kernel, "the kernel of this precision", true};
  }
  return choose_of_hopper(p, precision, device);
}

bool gains_by_one_launch(const Problem& problem, std::int64_t count, Precision precision,
                         const DeviceFacts& device) {
  const Problem p = as_row_major(problem).problem;
  if (count < 2 || device.cc != kHopper || !reads_ab(p) || !fits_split_k(p)) return false;
  if (precision != Precision::kIeee && precision != Precision::kAuto) return false;
  const std::string_view alone = choose_kernel(problem, precision, device).kernel;
  return alone == "ladder_split_k" ||
         (alone == "ladder_large_tiles" &&
          ceil_div(p.m, kLargeTiles[0].m) * ceil_div(p.n, kLargeTiles[0].n) < device.sms);
}

double guard_budget(double k) {
  return ieee_error(k) - (1 + 0x1p-23) * split_error(Precision::kFp16x3, k).products - 0x1p-23;
}

// The share of a chain's k at which both elements must reach 2^-level of the largest for the bound
// to hold, if both operands have tiny elements (gemm/split/choice.cuh).
static double share_needed(double k, int level) {
  const double lost = 1.01 * 2 * 0x1p-10, least = guard_budget(k) * std::ldexp(1.0, 28 - 2 * level);
  return least > 0 ? lost / least : HUGE_VAL;
}

bool guard_holds(double k) {
  constexpr double kMostShare = 0.5;
  return share_needed(k, 6) <= kMostShare &&
         split_error(Precision::kBf16x6, k).products <= ieee_error(k);
}

std::optional<SlabRule> slab_rule(double k) {
  constexpr int kMostLeft = 16;
  for (const int level : {8, 6}) {
    const double left = std::max(1.0, std::ceil(kSlab * share_needed(k, level)));
    if (left <= kMostLeft)
      return SlabRule{level, static_cast<unsigned>(kSlab - static_cast<int>(left))};
  }
  return std::nullopt;
}

bool fits_fused(const Problem& p, const Alignment& at) {
  return (raw_is_a(p) ? at.a : at.b) % 16 == 0 && (raw_is_a(p) ? p.lda : p.ldb) % 4 == 0;
}

GuardedCycles guarded_cycles(const Problem& p, const Alignment& at, int sms) {
  if (!accept_split_extents(p) || !guard_holds(static_cast<double>(p.k))) return {};
  GuardedCycles cycles{.prepass = prepass_cycles(p, sms)};
  if (may_fuse(p, at, true)) cycles.fused = fused_cycles(p, sms);
  return cycles;
}

bool takes_fused(const Problem& p, const Alignment& at, bool guarded, int sms) {
  if (!may_fuse(p, at, guarded)) return false;
  if (const auto form = TunedPlans::of_process().find_form(part_shape(p, at), sms); guarded && form)
    return *form == AutoForm::kFused;
  return fused_cycles(p, sms) < prepass_cycles(p, sms);
}

}  // namespace ladder
