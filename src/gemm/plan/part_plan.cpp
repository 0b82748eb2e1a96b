// SPDX-License-Identifier: Apache-2.0
#include "gemm/plan/part_plan.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "device/tiling.hpp"
#include "gemm/plan/costs.hpp"
#include "gemm/plan/tuned_plans.hpp"

namespace ladder {
namespace {

constexpr double kMultipliesOfSm = 128;  // FMAs per cycle
constexpr int kMostWaves = 5;            // of split tiles

// The share of a copy's or a store's cost where the matrix fills `share` of the tiles.
double filled(double share) { return parts_cost::beyond + (1 - parts_cost::beyond) * share; }

// The share of the tiles' rows or columns that are the matrix's.
double fill_of(std::int64_t size, int tile) {
  const std::int64_t tiles = std::max<std::int64_t>(1, ceil_div(size, tile));
  return static_cast<double>(size) / static_cast<double>(tiles * tile);
}

// The times of one tile's plans.
class TileTimes {
 public:
  TileTimes(const PartShape& x, const PartTileCost& t, int sms)
      : tile_(t),
        sms_(sms),
        tiles_(ceil_div(x.rows, t.bm) * ceil_div(x.cols, t.bn) * x.batch),
        steps_(ceil_div(x.k, t.bk)) {
    const auto floats = [](std::int64_t count) { return 4.0 * static_cast<double>(count); };
    const double rows = fill_of(x.rows, t.bm), columns = fill_of(x.cols, t.bn),
                 operands = floats((x.rows + x.cols) * x.k * x.batch);
    once_ = t.start + operands / (parts_cost::operands * sms);
    least_ = std::max(
        {floats(tiles_ * x.k) * (t.bm * rows + t.bn * columns) / (parts_cost::bytes_of_sm * sms),
         memory_cycles(operands, sms),
         floats(x.rows * x.cols * x.batch) / (large_cost::stores_per_cycle * sms)});
    store_ = (x.turned ? parts_cost::store_turned : 1) * parts_cost::store * t.bm * t.bn * t.wk /
             4096 / sms * filled(rows * columns);
    const auto copy = [&t](int vectors, bool transposes, bool aligned, double share) {
      const double of_element = transposes ? t.transposed / 32
                                : aligned  ? parts_cost::copies_of_16 / 128
                                           : parts_cost::copies_of_4 / 32;
      return vectors * t.bk * of_element * filled(share);
    };
    const double multiplies = static_cast<double>(t.bm) * t.bn * t.bk / (kMultipliesOfSm * t.rate),
                 copies = copy(t.bm, x.a_k_major && !t.k_major,
                               x.a_aligned && (x.a_k_major ? x.k : x.rows) % 4 == 0, rows) +
                          copy(t.bn, x.b_k_major, x.b_aligned && x.cols % 4 == 0, columns);
    constexpr int kWarp = 32, kSchedulers = 4;
    const int warps = t.threads / kWarp;
    for (int of_sm = 1; of_sm <= t.blocks_of_sm; ++of_sm) {
      const int of_fullest = kSchedulers * ((of_sm * warps + kSchedulers - 1) / kSchedulers);
      const double waiting = kSchedulers * parts_cost::warps_for_half;
      step_[of_sm] = multiplies * (of_fullest + waiting) / warps + of_sm * copies;
    }
  }
  std::int64_t tiles() const { return tiles_; }
  std::int64_t steps() const { return steps_; }

  // No plan takes less.
  double least() const {
    return once_ + step_[tile_.blocks_of_sm] / tile_.blocks_of_sm *
                       static_cast<double>(tiles_ * steps_) / sms_;
  }

  double cycles(int cluster, int parts) const {
    const auto of_block = static_cast<double>(ceil_div(steps_, std::int64_t{cluster} * parts));
    const int most = tile_.of_sm(cluster);
    const std::int64_t blocks = tiles_ * cluster * parts,
                       slots = part_capacity(sms_, most, cluster), waves = blocks / slots,
                       rest = blocks % slots;
    const bool early = releases_early(blocks, slots);
    const double all_waves = static_cast<double>(blocks) / static_cast<double>(slots);
    double sum = once_ + static_cast<double>(waves) * of_block * step_[most] +
                 parts_cost::wave * tile_.start * std::max(0.0, all_waves - 1);
    if (rest > 0) {
      int of_sm = 1;
      while (of_sm < most && part_capacity(sms_, of_sm, cluster) < rest) ++of_sm;
      double last = step_[of_sm];
      // Clusters are distributed unevenly, unless the kernel is released early.
      if (waves == 0 && cluster > 1 && !early)
        last += parts_cost::uneven * (step_[std::min(of_sm + 1, most)] - step_[of_sm]);
      sum += of_block * last;
    }
    sum += store_ * static_cast<double>(std::min(blocks, slots));
    if (early) sum -= parts_cost::early;
    if (cluster > 1) sum += parts_cost::cluster;
    if (parts > 1) {
      // A thread adds its vectors one after the other, eight partial sums of each at once.
      constexpr std::int64_t kPartsAtOnce = 8;
      const std::int64_t elements = std::int64_t{tile_.bm} * tile_.bn;
      const std::int64_t rounds = ceil_div(elements / 4, std::int64_t{cluster} * tile_.threads) *
                                  ceil_div(parts - 1, kPartsAtOnce);
      sum += parts_cost::k_splits + parts_cost::round * static_cast<double>(rounds) +
             8.0 * static_cast<double>(tiles_ * elements * (parts - 1)) /
                 (parts_cost::bytes_of_sm * sms_);
    }
    return std::max(sum, least_);
  }

 private:
  static constexpr int kMostOfSm = 8;
  const PartTileCost& tile_;
  int sms_;
  std::int64_t tiles_, steps_;
  double once_, least_, store_;
  double step_[kMostOfSm + 1]{};  // of as many blocks of an SM, each a step of k
};

// The plan of least predicted time, or `best` if none is faster. best.cycles = 0: there is none.
PartPlan plan_faster(const PartShape& x, int sms, PartPlan best) {
  const auto is_faster = [&](double cycles) { return best.cycles == 0 || cycles < best.cycles; };
  each_part_plan(
      x, sms,
      [&](const PartPlan& plan) {
        if (is_faster(plan.cycles)) best = plan;
      },
      is_faster);
  return best;
}

}  // namespace

double memory_cycles(double bytes, int sms) {
  return bytes > thin_cost::cached_bytes ? bytes / (parts_cost::memory_bytes * sms) : 0;
}

std::int64_t part_capacity(int sms, int of_sm, int cluster) {
  const double share = cluster > 2 ? tensor_cost::clusters_of_four : 1;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(sms * of_sm * share) / cluster) *
         cluster;
}

double part_cycles(const PartShape& x, const PartPlan& plan, const PartTileCost& tile, int sms) {
  return TileTimes(x, tile, sms).cycles(plan.cluster, plan.parts);
}

void each_part_plan(const PartShape& x, int sms, const std::function<void(const PartPlan&)>& visit,
                    const std::function<bool(double)>& may_be_best) {
  for (std::size_t i = 0; i < kPartTiles.size(); ++i) {
    const PartTileCost& t = kPartTiles[i];
    if (t.k_major && !x.a_k_major) continue;
    if (x.batch > 1 && !t.of_batch) continue;
    const TileTimes times(x, t, sms);
    if (may_be_best && !may_be_best(times.least())) continue;
    const std::int64_t count = times.tiles(), steps = std::max<std::int64_t>(1, times.steps());
    for (int cluster = 1; cluster <= kMostCluster; cluster *= 2) {
      if (cluster > steps || (cluster > 1 && count >= std::int64_t{sms} * t.blocks_of_sm)) break;
      std::int64_t before = 0;
      const std::int64_t most = x.batch > 1
                                    ? 1
                                    : std::min({limit::cuda_core_k_splits, steps / cluster,
                                                1 + limit::sent_sums / (count * t.bm * t.bn)});
      const auto with_parts = [&](std::int64_t fit) {
        const std::int64_t parts = std::clamp<std::int64_t>(fit, 1, most);
        if (parts <= before) return;
        before = parts;
        visit(PartPlan{static_cast<int>(i), cluster, static_cast<int>(parts),
                       times.cycles(cluster, static_cast<int>(parts))});
      };
      for (int of_sm = 1; of_sm <= t.of_sm(cluster) && before < most; ++of_sm)
        with_parts(part_capacity(sms, of_sm, cluster) / (count * cluster));
      // More of them, in several waves, fill the last wave.
      for (int waves = 2; waves <= kMostWaves && before < most && cluster == 1; ++waves)
        with_parts(waves * std::int64_t{sms} * t.blocks_of_sm / count);
    }
  }
}

PartPlan plan_parts(const PartShape& x, int sms) { return plan_faster(x, sms, {}); }

PartShape part_shape(const Problem& p, const Alignment& at) {
  const bool a_aligned = at.a % 16 == 0, b_aligned = at.b % 16 == 0;
  return {p.m,
          p.n,
          reads_ab(p) ? p.k : 0,
          is_a_k_major(p),
          is_b_k_major(p),
          a_aligned && (p.lda % 4 == 0 || (p.m == 1 && is_a_k_major(p))),
          b_aligned && (p.ldb % 4 == 0 || (p.n == 1 && is_b_k_major(p)))};
}

PartShape swapped(const PartShape& x) {
  PartShape other = x;
  std::swap(other.rows, other.cols);
  std::swap(other.a_k_major, other.b_k_major);
  std::swap(other.a_aligned, other.b_aligned);
  other.turned = !other.turned;
  return other;
}

SidedPartPlan plan_sides(const PartShape& x, int sms) {
  const PartPlan straight = plan_parts(x, sms), best = plan_faster(swapped(x), sms, straight);
  return {best, best.cycles < straight.cycles};
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

// With few rows or columns, or with tiles.
SmallPlan plan_few_or_tiles(const PartShape& shape, int sms) {
  SmallPlan best{SmallKernel::kSplitK, plan_sides(shape, sms)};
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
  if (const auto tuned = TunedPlans::of_process().find(shape, device.sms); tuned && !tuned->large)
    return tuned->small;
  if (takes_outer_product(p)) return {SmallKernel::kOuterProduct, {{}, p.m > p.n}};
  return plan_once(shape, device.sms, plan_few_or_tiles);
}

SidedPartPlan plan_batch(const Problem& p, const Alignment& at, std::int64_t count,
                         const DeviceFacts& device) {
  PartShape shape = part_shape(p, at);
  shape.batch = count;
  return plan_once(shape, device.sms, plan_sides);
}

}  // namespace ladder
