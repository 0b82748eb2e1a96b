// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/part_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "gemm/plan/menus.hpp"
#include "gemm/plan/thin_plan.hpp"
#include "gemm/plan/tuned_plans.hpp"

namespace ladder {
namespace {

constexpr double kMultipliesOfSm = 128;  // FMAs per cycle
// Models the further cost of clusters of ragged tiles as this many blocks per SM.
constexpr int kMostRagged = 3;
constexpr int kMostWaves = 5;  // of split tiles
// SMs per GPC (fewest, most); all blocks of a cluster run in one GPC.
constexpr int kFewOfGpc = 16, kManyOfGpc = 18;

double copy(std::int64_t elements, bool k_major, bool aligned, bool transposes) {
  if (transposes && k_major) return parts_cost::transposed * static_cast<double>(elements) / 32;
  return static_cast<double>(elements) *
         (aligned ? parts_cost::copies_of_16 / 128 : parts_cost::copies_of_4 / 32);
}

double cycles_of(const PartShape& x, const PartTileCost& t, int sms, int cluster, int parts) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t tiles = up(x.rows, t.bm) * up(x.cols, t.bn) * x.batch, steps = up(x.k, t.bk);
  const std::int64_t of_block = up(steps, cluster * parts), blocks = tiles * cluster * parts;
  const double multiplies = static_cast<double>(t.bm) * t.bn * t.bk;
  const double copies =
      t.ragged ? parts_cost::ragged * (copy(std::int64_t{t.bm} * t.bk, false, false, false) +
                                       copy(std::int64_t{t.bn} * t.bk, false, false, false))
               : copy(std::int64_t{t.bm} * t.bk, x.a_k_major, x.a_aligned, !t.k_major) +
                     copy(std::int64_t{t.bn} * t.bk, x.b_k_major, x.b_aligned, true);
  const double independent = t.sums >= 64 ? 1 : t.sums >= 32 ? 0.94 : 0.77;
  const auto together = [&](int of_sm) {
    const double warps = of_sm * t.threads / 128.0 * independent;
    const double rate = kMultipliesOfSm * t.rate * warps / (warps + parts_cost::warps_for_half);
    return static_cast<double>(of_sm * of_block) * (multiplies / rate + copies);
  };
  const std::int64_t slots = part_capacity(sms, t.blocks_of_sm, cluster), waves = blocks / slots,
                     rest = blocks % slots;
  double sum = static_cast<double>(waves) * (together(t.blocks_of_sm) + parts_cost::wave);
  if (rest > 0) {
    int of_sm = 1;
    while (of_sm < t.blocks_of_sm && part_capacity(sms, of_sm, cluster) < rest) ++of_sm;
    // Blocks are distributed unevenly: if SMs have room, one of them has one block more.
    if (cluster > 2 || of_sm > 1)
      of_sm = std::min(of_sm + 1, t.ragged ? kMostRagged : t.blocks_of_sm);
    sum += together(of_sm) + parts_cost::wave;
  }
  const std::int64_t tile = std::int64_t{t.bm} * t.bn;
  sum += parts_cost::store * static_cast<double>(std::min(blocks, slots)) / sms *
             static_cast<double>(tile * t.wk) / 4096 +
         4.0 * static_cast<double>(x.rows * x.batch) * static_cast<double>(x.cols) /
             (parts_cost::store_bytes * sms);
  if (cluster > 1) sum += parts_cost::cluster;
  if (parts > 1) {
    constexpr std::int64_t kVectorsOfThread = 4, kPartsAtOnce = 4;
    const std::int64_t rounds = up(tile / 4, std::int64_t{cluster} * t.threads * kVectorsOfThread) *
                                up(parts, kPartsAtOnce);
    sum += parts_cost::k_splits + parts_cost::round * static_cast<double>(rounds) +
           8.0 * static_cast<double>(tiles * tile * (parts - 1)) / (parts_cost::bytes_of_sm * sms);
  }
  const double bytes = 4.0 * static_cast<double>(tiles) * static_cast<double>(x.k) * (t.bm + t.bn);
  return std::max(sum, bytes / (parts_cost::bytes_of_sm * sms));
}

std::int64_t capacity_of(int sms, int of_sm, int cluster) {
  double share = 1;
  for (const int gpc : {kFewOfGpc, kManyOfGpc})
    share = std::min(
        share, static_cast<double>((gpc * of_sm / cluster - (cluster > 2 ? 1 : 0)) * cluster) /
                   (gpc * of_sm));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(sms * of_sm * share) / cluster) *
         cluster;
}

// Number of rows or columns beyond whole tiles, if they are few; else 0.
int edge_of(std::int64_t size, int tile) {
  const auto edge = static_cast<int>(size % tile);
  return size > tile && edge <= limit::edge_vectors ? edge : 0;
}

}  // namespace

std::int64_t part_capacity(int sms, int of_sm, int cluster) {
  // A plan asks for the same few numbers some hundred times.
  constexpr int kMostOfSm = 8, kClusters = 4;
  constexpr auto at = [](int of, int log) {
    return static_cast<std::size_t>((of - 1) * kClusters + log);
  };
  static thread_local int known_sms = 0;
  static thread_local std::array<std::int64_t, kMostOfSm * kClusters> known;
  const int log = std::countr_zero(static_cast<unsigned>(cluster));
  if (of_sm > kMostOfSm || log >= kClusters || cluster != 1 << log)
    return capacity_of(sms, of_sm, cluster);
  if (known_sms != sms) {
    for (int of = 1; of <= kMostOfSm; ++of) {
      for (int i = 0; i < kClusters; ++i) known[at(of, i)] = capacity_of(sms, of, 1 << i);
    }
    known_sms = sms;
  }
  return known[at(of_sm, log)];
}

double part_cycles(const PartShape& whole, const PartPlan& plan,
                   std::span<const PartTileCost> tiles, int sms) {
  PartShape x = whole;
  x.rows -= plan.edge_rows;
  x.cols -= plan.edge_cols;
  const double cycles =
      cycles_of(x, tiles[static_cast<std::size_t>(plan.tile)], sms, plan.cluster, plan.parts);
  if (plan.edge_rows + plan.edge_cols == 0) return cycles;
  // The separate blocks of an edge read all of the other operand.
  const double bytes =
      4.0 * static_cast<double>(x.k) *
      static_cast<double>(plan.edge_rows * whole.cols + plan.edge_cols * whole.rows);
  return cycles + parts_cost::edge_blocks + bytes / (parts_cost::bytes_of_sm * sms);
}

template <class Visit>
static void each_plan(const PartShape& whole, std::span<const PartTileCost> tiles, int sms,
                      Visit visit) {
  const auto consider = [&](const PartShape& x, std::size_t tile, int edge_rows, int edge_cols) {
    const PartTileCost& t = tiles[tile];
    const std::int64_t count =
        ((x.rows + t.bm - 1) / t.bm) * ((x.cols + t.bn - 1) / t.bn) * x.batch;
    const std::int64_t steps = std::max<std::int64_t>(1, (x.k + t.bk - 1) / t.bk);
    for (const int cluster : {1, 2, 4, 8}) {
      if (cluster > steps || (cluster > 1 && count >= std::int64_t{sms} * t.blocks_of_sm)) break;
      std::int64_t before = 0;
      const std::int64_t most = x.batch > 1
                                    ? 1
                                    : std::min({limit::cuda_core_k_splits, steps / cluster,
                                                1 + limit::sent_sums / (count * t.bm * t.bn)});
      const auto with_parts = [&](std::int64_t wanted) {
        const std::int64_t parts = std::clamp<std::int64_t>(wanted, 1, most);
        if (parts <= before) return;
        before = parts;
        PartPlan plan{
            static_cast<int>(tile), cluster, static_cast<int>(parts), 0, edge_rows, edge_cols};
        plan.cycles = part_cycles(whole, plan, tiles, sms);
        visit(plan);
      };
      for (int of_sm = 1; of_sm <= t.blocks_of_sm; ++of_sm)
        with_parts(part_capacity(sms, of_sm, cluster) / (count * cluster));
      // More of them, in several waves, fill the last wave.
      for (int waves = 2; waves <= kMostWaves && before < most && cluster == 1; ++waves)
        with_parts(waves * std::int64_t{sms} * t.blocks_of_sm / count);
    }
  };
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const PartTileCost& t = tiles[i];
    if (t.k_major && !whole.a_k_major) continue;
    if (whole.batch > 1 && !t.of_batch) continue;
    if (t.ragged && (!whole.ragged || t.k_major != whole.a_k_major || whole.b_k_major)) continue;
    consider(whole, i, 0, 0);
    if (!t.ragged) continue;
    const int edge_rows = edge_of(whole.rows, t.bm), edge_cols = edge_of(whole.cols, t.bn);
    if (edge_rows + edge_cols == 0) continue;
    PartShape less = whole;
    less.rows -= edge_rows;
    less.cols -= edge_cols;
    consider(less, i, edge_rows, edge_cols);
  }
}

void each_part_plan(const PartShape& whole, std::span<const PartTileCost> tiles, int sms,
                    const std::function<void(const PartPlan&)>& visit) {
  each_plan(whole, tiles, sms, visit);
}

PartPlan plan_parts(const PartShape& whole, std::span<const PartTileCost> tiles, int sms) {
  PartPlan best;
  each_plan(whole, tiles, sms, [&](const PartPlan& plan) {
    if (best.cycles == 0 || plan.cycles < best.cycles) best = plan;
  });
  return best;
}

PartShape part_shape(const Problem& p, const Alignment& at) {
  const bool a_aligned = at.a % 16 == 0, b_aligned = at.b % 16 == 0;
  return {p.m,
          p.n,
          reads_ab(p) ? p.k : 0,
          p.op_a == Op::kNone,
          p.op_b != Op::kNone,
          a_aligned && p.lda % 4 == 0,
          b_aligned && p.ldb % 4 == 0,
          a_aligned && b_aligned && std::max(p.lda, p.ldb) <= kMostRaggedLd};
}

PartShape swapped(const PartShape& x) {
  PartShape other = x;
  std::swap(other.rows, other.cols);
  std::swap(other.a_k_major, other.b_k_major);
  std::swap(other.a_aligned, other.b_aligned);
  return other;
}

SidedPartPlan plan_sides(const PartShape& x, std::span<const PartTileCost> tiles, int sms) {
  const PartPlan straight = plan_parts(x, tiles, sms), turned = plan_parts(swapped(x), tiles, sms);
  if (turned.cycles < straight.cycles) return {turned, true};
  return {straight, false};
}

namespace {

// plan(), whose result is kept for each shape and number of SMs.
template <class Plan>
Plan plan_once(const PartShape& shape, int sms, Plan (*plan)(const PartShape&, int)) {
  static std::mutex mutex;
  static std::map<std::pair<PartShape, int>, Plan> known;
  constexpr std::size_t kMostKnown = 4096;
  const std::lock_guard lock(mutex);
  if (known.size() >= kMostKnown) known.clear();
  const auto [found, is_new] = known.try_emplace({shape, sms});
  if (is_new) found->second = plan(shape, sms);
  return found->second;
}

SidedPartPlan plan_of_menu(const PartShape& shape, int sms) {
  return plan_sides(shape, kPartTiles, sms);
}

// With few rows or columns, or with tiles.
SmallPlan plan_few_or_tiles(const PartShape& shape, int sms) {
  SmallPlan best{SmallKernel::kSplitK, plan_of_menu(shape, sms)};
  double least = best.sided.part.cycles;
  for (const bool is_swapped : {false, true}) {
    const ThinPlan thin = plan_thin(is_swapped ? swapped(shape) : shape, sms);
    if (thin.cycles == 0 || thin.cycles >= least) continue;
    best = {SmallKernel::kThin, {{}, is_swapped}, thin};
    least = thin.cycles;
  }
  return best;
}

}  // namespace

SmallPlan plan_small(const Problem& p, const Alignment& at, const DeviceFacts& device) {
  const PartShape shape = part_shape(p, at);
  if (const auto tuned = TunedPlans::of_process().find(shape, device.sms);
      tuned && !tuned->large_tiles)
    return tuned->small;
  if (takes_outer_product(p)) return {SmallKernel::kOuterProduct, {{}, p.m > p.n}};
  return plan_once(shape, device.sms, plan_few_or_tiles);
}

SidedPartPlan plan_batch(const Problem& p, const Alignment& at, std::int64_t count,
                         const DeviceFacts& device) {
  PartShape shape = part_shape(p, at);
  shape.batch = count;
  return plan_once(shape, device.sms, plan_of_menu);
}

}  // namespace ladder
