// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/tile_plan.hpp"

#include <algorithm>

#include "gemm/plan/choice.hpp"
#include "gemm/plan/costs.hpp"
#include "gemm/plan/menus.hpp"

namespace ladder {
namespace {

constexpr int kSmallTile = 64 * 128;    // outputs per block, stored from registers
constexpr int kSharedTile = 128 * 128;  // up to which shared memory limits

// Clocks per step of one block: the maximum of the times of the tensor cores, of filling and
// reading shared memory, and of loading from L2.
double clocks_of_step(const TileShape& t, int width, double bytes_per_clock) {
  constexpr double kRowBytes = 128;  // per row or column and stage; shared memory: per clock
  constexpr int kTf32Step = 32, kScaledStep = 128, kWarpgroupRows = 64;
  // Blocks that share copies by multicast: of A, if they are neighbours along n, else of B.
  const int sharing = t.blocks / t.parts;
  const bool tf32 = t.k == kTf32Step, along_n = sharing == 4 || tf32;
  const double m = along_n ? t.m : static_cast<double>(t.m) / sharing;  // per block
  const double n = static_cast<double>(width) / (along_n ? sharing : 1);
  const double boxes =
      width == t.n ? n : static_cast<double>(ceil_div(width, t.k) * t.k);  // whole boxes
  const double products = m * n / 32;  // 64 x 256 x 16 in 128 clocks; tf32's stage is half as deep
  // A warpgroup reads 64 rows of one operand and all of the other.
  const double read = (tf32 ? n : m) / kWarpgroupRows * (kWarpgroupRows + (tf32 ? m : n));
  const double shared = m * n <= kSharedTile ? read + m + boxes : 0;
  // Rows and columns that a block copies itself.
  const double own = along_n ? m / sharing + boxes : m + boxes / sharing;
  // Of 8-bit operands, whose sums are promoted after each stage.
  const double serial = t.k == kScaledStep ? tensor_cost::scaled_columns * n / 128 +
                                                 tensor_cost::scaled_stage * m / kWarpgroupRows
                                           : 0;
  return std::max({products, serial, shared, own * kRowBytes / bytes_per_clock});
}

constexpr int kBandRows = 2048;

// Places the narrow tiles after at most `wide` others, rounded down so that the others fill whole
// tile columns of their band. Returns the number of narrow tiles.
int place_narrow(const TileShape& t, const Problem& p, const Tiling& plan, int wide,
                 NarrowTiles& narrow) {
  const int band = kBandRows / t.m, in_band = band * plan.tiles_n, first = wide / in_band;
  narrow.width = t.narrow;
  narrow.m = first * band;
  narrow.rows = std::min(band, plan.tiles_m - narrow.m);
  const int columns = wide % in_band / narrow.rows;
  narrow.first = first * in_band + columns * narrow.rows;
  narrow.col = columns * t.n;
  narrow.columns = static_cast<int>(ceil_div(p.n - narrow.col, t.narrow));
  narrow.later_columns = static_cast<int>(ceil_div(p.n, t.narrow));
  return narrow.rows * narrow.columns +
         (plan.tiles_m - narrow.m - narrow.rows) * narrow.later_columns;
}

}  // namespace

TensorPlan plan_tensor_tiles(const Problem& p, bool aligned, std::span<const TileShape> shapes,
                             const DeviceFacts& device) {
  TensorPlan best{.clocks = std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const TileShape& t = shapes[i];
    const int units = device.sms / t.blocks;  // SMs, or clusters of two or four
    const int sms = std::max(
        1, t.blocks == 4 ? static_cast<int>(units * tensor_cost::clusters_of_four) : units);
    const double bytes_ab = static_cast<double>(p.m + p.n) * static_cast<double>(p.k) * 128 / t.k;
    const double bytes_per_clock = tensor_cost::load_bytes_per_clock *
                                   (bytes_ab > device.l2_bytes ? tensor_cost::from_memory : 1) *
                                   (aligned ? 1 : tensor_cost::unaligned);
    const int outputs = t.m * t.n * t.parts / t.blocks;  // per block
    const double launch = (t.blocks == 1 ? 0 : tensor_cost::pair_clocks) +
                          (outputs > kSharedTile ? tensor_cost::last_store_clocks : 0);
    TilePlan plan{plan_whole_tiles(p.m, p.n, p.k, t.m, t.n, t.k, sms), {}, false};
    const int tiles = plan.whole_tiles, waves = static_cast<int>(ceil_div(tiles, sms));
    const double step = clocks_of_step(t, t.n, bytes_per_clock),
                 wave = plan.steps * step + tensor_cost::tile_clocks;
    const auto consider = [&](int parts, double clocks) {
      clocks += launch;
      if (clocks < best.clocks) best = {i, parts, plan, t, clocks};
    };
    // Split-K within a cluster.
    if (t.parts > 1) {
      if (tiles <= sms && plan.steps / t.parts >= limit::k_split_steps) {
        consider(1, static_cast<double>(ceil_div(plan.steps, t.parts)) * step +
                        tensor_cost::tile_clocks + tensor_cost::cluster_sum_clocks);
      }
      continue;
    }
    // Whole tiles.
    consider(1, waves * wave);
    // Whole tiles, narrower ones in the last waves.
    for (int wide = std::max(0, waves - 3); t.narrow > 0 && wide < waves; ++wide) {
      const int narrow = place_narrow(t, p, plan, wide * sms, plan.narrow);
      plan.whole_tiles = plan.narrow.first + narrow;
      plan.blocks = std::min(sms, plan.whole_tiles);
      const auto narrow_waves = static_cast<double>(ceil_div(plan.whole_tiles, sms) - wide);
      consider(1, wide * wave +
                      narrow_waves * (plan.steps * clocks_of_step(t, t.narrow, bytes_per_clock) +
                                      tensor_cost::tile_clocks));
    }
    plan.narrow = {};
    plan.blocks = std::min(sms, tiles);
    // Whole tiles, then stream-K: the last tiles are split so that all blocks have equal shares.
    const double share = static_cast<double>(tiles) * plan.steps / sms;
    const bool leaves_alone = t.blocks == 4 || (t.blocks > 1 && outputs <= kSmallTile);
    if (tiles > sms && t.narrow == 0 && !leaves_alone) {
      plan.whole_tiles = std::max(waves - 2, 0) * sms;
      plan.split_tiles = tiles - plan.whole_tiles;
      consider(1, share * step + tensor_cost::fixup_clocks * t.m * t.n / t.blocks +
                      waves * tensor_cost::tile_clocks);
      plan.split_tiles = 0;
    }
    plan.whole_tiles = tiles;
    // Split-K of every tile, added by a second kernel.
    for (int parts = 2; parts <= limit::k_splits && t.blocks == 1 && tiles * parts <= sms &&
                        plan.steps / parts >= limit::k_split_steps;
         ++parts) {
      plan.blocks = tiles * parts;
      const double bytes = 8.0 * tiles * parts * t.m * t.n;
      consider(parts, static_cast<double>(ceil_div(plan.steps, parts)) * step +
                          2 * tensor_cost::tile_clocks + tensor_cost::launch_clocks +
                          bytes / tensor_cost::add_bytes_per_clock);
    }
  }
  return best;
}

TensorPlan plan_split_tiles(const Problem& p, const SplitCost& cost,
                            std::span<const TileShape> shapes, int sms, bool second_kernel) {
  TensorPlan best{.clocks = std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const TileShape& t = shapes[i];
    Tiling plan = plan_whole_tiles(p.m, p.n, p.k, t.m, t.n, t.k, sms);
    const int tiles = plan.whole_tiles, waves = static_cast<int>(ceil_div(tiles, sms));
    // Narrow tiles read as much of A for fewer products. Tiles whose warpgroups alternate slabs are
    // not split along k.
    const double narrow = t.n >= 256   ? 1.0
                          : t.n >= 128 ? tensor_cost::columns_128
                                       : tensor_cost::columns_64;
    const bool alternates = t.m < 128;
    const double products = cost.products * narrow * t.m * t.n / 32.0 * cost.term_bytes / 128.0;
    const double step =
        std::max(products, (t.m + t.n) * cost.bytes / tensor_cost::load_bytes_per_clock);
    const auto consider = [&](int parts, double clocks) {
      if (clocks < best.clocks) best = {i, parts, {plan, {}, false}, t, clocks};
    };
    consider(1, waves * (plan.steps * step + tensor_cost::tile_clocks));
    // Stream-K: the tiles of the last two waves (all tiles, if there are fewer waves) are split so
    // that all blocks have equal shares.
    const double fixup = tensor_cost::fixup_clocks * t.m * t.n;
    if (alternates) continue;
    if (tiles > sms) {
      plan.whole_tiles = std::max(waves - 2, 0) * sms;
      plan.split_tiles = tiles - plan.whole_tiles;
      consider(1,
               tensor_cost::stream_k_gain * (static_cast<double>(tiles) * plan.steps / sms * step +
                                             fixup + waves * tensor_cost::tile_clocks));
      plan.whole_tiles = tiles;
      plan.split_tiles = 0;
    }
    for (int parts = 2; tiles * parts <= sms && plan.steps / parts >= limit::k_split_steps;
         ++parts) {
      const double share = static_cast<double>(ceil_div(plan.steps, parts)) * step;
      plan.blocks = tiles * parts;
      // Either each block forwards its partial sums to the next one, or all write them to device
      // memory and a second kernel adds them.
      plan.whole_tiles = 0;
      plan.split_tiles = tiles;
      consider(1, share + tensor_cost::tile_clocks + (parts - 1) * fixup);
      plan.whole_tiles = tiles;
      plan.split_tiles = 0;
      if (!second_kernel) continue;
      const double bytes = 8.0 * tiles * parts * t.m * t.n;
      consider(parts, share + 2 * tensor_cost::tile_clocks + tensor_cost::launch_clocks +
                          bytes / tensor_cost::add_bytes_per_clock);
    }
  }
  return best;
}

TensorPlan plan_tensor(const Problem& p, int bytes, const Alignment& at,
                       const DeviceFacts& device) {
  // Rows that no tensor map takes are copied to aligned ones.
  const auto aligned = [&](int address, std::int64_t ld) {
    return address % 16 != 0 || ld * bytes % 16 != 0 ||
           (address % 128 == 0 && ld * bytes % 128 == 0);
  };
  const std::span<const TileShape> menu = bytes == 4   ? std::span<const TileShape>(kTf32Tiles)
                                          : bytes == 1 ? std::span<const TileShape>(k8BitTiles)
                                                       : k16BitTiles;
  return plan_tensor_tiles(p, aligned(at.a, p.lda) && aligned(at.b, p.ldb), menu, device);
}

FusedPlan plan_fused(const Problem& p, int sms) {
  const auto [few, many] = std::minmax(p.m, p.n);
  FusedPlan chosen{raw_is_a(p), few > kNarrowFusedTile.n ? kWideFusedTile : kNarrowFusedTile};
  const TileShape& t = chosen.shape;
  Tiling& plan = chosen.plan;
  plan = plan_whole_tiles(many, few, p.k, t.m, t.n, t.k, sms);
  const int tiles = plan.whole_tiles, waves = static_cast<int>(ceil_div(tiles, sms));
  // Stream-K: if the last tiles do not fill a wave, all blocks receive equal shares of them.
  plan.blocks = static_cast<int>(std::min<std::int64_t>(sms, std::int64_t{tiles} * plan.steps));
  plan.whole_tiles = tiles % sms == 0 ? tiles : std::max(waves - 2, 0) * sms;
  plan.split_tiles = tiles - plan.whole_tiles;
  if (limit::fused_chain * tiles > sms) return chosen;
  // Split-K with a second kernel: with so many k-splits, blocks that forward partial sums to one
  // another would wait too long.
  chosen.parts = static_cast<int>(std::max<std::int64_t>(
      1, std::min<std::int64_t>(sms / tiles, plan.steps / limit::k_split_steps)));
  if (chosen.parts == 1) return chosen;
  plan.blocks = tiles * chosen.parts;
  plan.whole_tiles = 0;
  plan.split_tiles = tiles;
  return chosen;
}

}  // namespace ladder
