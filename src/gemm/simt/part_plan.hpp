// SPDX-License-Identifier: Apache-2.0
// Which tile a small, thin or deep product takes and into how many parts of k it is cut: the one
// with the shortest predicted time, of a model in cycles whose constants were fitted to 1,900
// products measured on an H200. No device is asked.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace ladder {

// A (lines_a, k) times B (k, lines_b). An operand lies along k or along its lines; quads: aligned
// for copies of 16 bytes. ragged: both begin so, whatever their leading dimensions.
struct PartShape {
  std::int64_t lines_a, lines_b, k;
  bool a_along, b_along, a_quads, b_quads, ragged = false;
};

struct PartTileCost {
  bool along;  // for A that lies along k; else it is turned as it is copied
  int bm, bn, bk, wk, threads, blocks_of_sm, sums;  // of a thread
  double rate;  // of the multiply-adds that the SM could do, with many warps
  bool ragged =
      // for ragged operands: A as `along` says, B across k; also takes a few lines beyond whole
      // tiles
      false;
};

struct PartPlan {
  int tile = 0, cluster = 1, parts = 1;
  double cycles = 0;
  int rest_a = 0, rest_b = 0;  // lines at the end that are left to blocks of their own
};

namespace part_cost {

constexpr double kMultipliesOfSm = 128,
                 kWarpsForHalf = 0.47;  // warps a scheduler that reach half the rate
// Cycles of copying: per 128 elements in quads, per 32 single ones.
constexpr double kQuads = 2.7, kSingles = 1.4, kTurned = 4.4;
// Of copies by as many bytes as each line takes, beside those of 4 bytes; of blocks for a few lines
// of their own.
constexpr double kRagged = 0.7, kRest = 600;
constexpr int kMostRagged = 3;  // as if so many were on an SM: what clusters cost there beside that
constexpr double kWave = 3400, kStore = 260, kCluster = 370, kParts = 4100, kRound = 2000;
constexpr double kBytesOfSm = 23;  // from L2, a cycle
// SMs of a processing cluster, in which all blocks of a cluster of blocks run.
constexpr int kFewOfGpc = 16, kManyOfGpc = 18;

inline double copy(std::int64_t elements, bool along_k, bool quads, bool turned) {
  if (turned && along_k) return kTurned * static_cast<double>(elements) / 32;
  return static_cast<double>(elements) * (quads ? kQuads / 128 : kSingles / 32);
}

// Blocks that run at once where an SM has `of_sm`, in clusters. Large clusters leave room that none
// fits into.
inline std::int64_t capacity(int sms, int of_sm, int cluster) {
  double share = 1;
  for (const int gpc : {kFewOfGpc, kManyOfGpc})
    share = std::min(
        share, static_cast<double>((gpc * of_sm / cluster - (cluster > 2 ? 1 : 0)) * cluster) /
                   (gpc * of_sm));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(sms * of_sm * share) / cluster) *
         cluster;
}

inline double cycles(const PartShape& x, const PartTileCost& t, int sms, int cluster, int parts) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t tiles = up(x.lines_a, t.bm) * up(x.lines_b, t.bn), steps = up(x.k, t.bk);
  const std::int64_t of_block = up(steps, cluster * parts), blocks = tiles * cluster * parts;
  const double multiplies = static_cast<double>(t.bm) * t.bn * t.bk;
  const double copies = t.ragged ? kRagged * (copy(std::int64_t{t.bm} * t.bk, false, false, false) +
                                              copy(std::int64_t{t.bn} * t.bk, false, false, false))
                                 : copy(std::int64_t{t.bm} * t.bk, x.a_along, x.a_quads, !t.along) +
                                       copy(std::int64_t{t.bn} * t.bk, x.b_along, x.b_quads, true);
  const double independent = t.sums >= 128 ? 1.6 : t.sums >= 64 ? 1 : t.sums >= 32 ? 0.62 : 0.45;
  const auto together = [&](int of_sm) {
    const double warps = of_sm * t.threads / 128.0 * independent;
    const double rate = kMultipliesOfSm * t.rate * warps / (warps + kWarpsForHalf);
    return static_cast<double>(of_sm * of_block) * (multiplies / rate + copies);
  };
  const std::int64_t slots = capacity(sms, t.blocks_of_sm, cluster), waves = blocks / slots,
                     rest = blocks % slots;
  double sum = static_cast<double>(waves) * (together(t.blocks_of_sm) + kWave);
  if (rest > 0) {
    int of_sm = 1;
    while (of_sm < t.blocks_of_sm && capacity(sms, of_sm, cluster) < rest) ++of_sm;
    // Blocks are placed unevenly: where room is left, some SM has one more.
    if (cluster > 2 || of_sm > 1)
      of_sm = std::min(of_sm + 1, t.ragged ? kMostRagged : t.blocks_of_sm);
    sum += together(of_sm) + kWave;
  }
  const std::int64_t tile = std::int64_t{t.bm} * t.bn;
  sum += kStore * static_cast<double>(std::min(blocks, slots)) / sms *
         static_cast<double>(tile * t.wk) / 4096;
  if (cluster > 1) sum += kCluster * cluster;
  if (parts > 1) {
    constexpr std::int64_t kQuadsOfThread = 4, kPartsAtOnce = 4;
    const std::int64_t rounds =
        up(tile / 4, std::int64_t{cluster} * t.threads * kQuadsOfThread) * up(parts, kPartsAtOnce);
    sum += kParts + kRound * static_cast<double>(rounds);
  }
  const double bytes = 4.0 * static_cast<double>(tiles) * static_cast<double>(x.k) * (t.bm + t.bn);
  return std::max(sum, bytes / (kBytesOfSm * sms));
}

}  // namespace part_cost

// The lines beyond whole tiles of so many, where they are few beside those.
inline int rest_of(std::int64_t lines, int tile) {
  constexpr int kMostRest = 2;
  const auto rest = static_cast<int>(lines % tile);
  return lines > tile && rest <= kMostRest ? rest : 0;
}

// The tile and the parts of least predicted time. Of tiles for A along k none is taken where A does
// not lie so.
inline PartPlan plan_parts(const PartShape& whole, std::span<const PartTileCost> tiles, int sms) {
  constexpr int kMostParts = 40;
  PartPlan best;
  const auto consider = [&](const PartShape& x, std::size_t tile, int rest_a, int rest_b) {
    const PartTileCost& t = tiles[tile];
    // Lines of their own are read with all lines of the other operand.
    const double rest_bytes = 4.0 * static_cast<double>(x.k) *
                              static_cast<double>(rest_a * whole.lines_b + rest_b * whole.lines_a);
    const double rest =
        rest_a + rest_b > 0 ? part_cost::kRest + rest_bytes / (part_cost::kBytesOfSm * sms) : 0;
    const std::int64_t count = ((x.lines_a + t.bm - 1) / t.bm) * ((x.lines_b + t.bn - 1) / t.bn);
    const std::int64_t steps = std::max<std::int64_t>(1, (x.k + t.bk - 1) / t.bk);
    for (const int cluster : {1, 2, 4, 8}) {
      if (cluster > steps || (cluster > 1 && count >= std::int64_t{sms} * t.blocks_of_sm)) break;
      int before = 0;
      for (int of_sm = 1; of_sm <= t.blocks_of_sm; ++of_sm) {
        const std::int64_t fit = part_cost::capacity(sms, of_sm, cluster) / (count * cluster);
        const int parts = static_cast<int>(
            std::clamp<std::int64_t>(fit, 1, std::min<std::int64_t>(kMostParts, steps / cluster)));
        if (parts == before) continue;
        before = parts;
        const double cycles = rest + part_cost::cycles(x, t, sms, cluster, parts);
        if (best.cycles == 0 || cycles < best.cycles)
          best = {static_cast<int>(tile), cluster, parts, cycles, rest_a, rest_b};
      }
    }
  };
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const PartTileCost& t = tiles[i];
    if (t.along && !whole.a_along) continue;
    if (t.ragged && (!whole.ragged || t.along != whole.a_along || whole.b_along)) continue;
    consider(whole, i, 0, 0);
    if (!t.ragged) continue;
    const int rest_a = rest_of(whole.lines_a, t.bm), rest_b = rest_of(whole.lines_b, t.bn);
    if (rest_a + rest_b == 0) continue;
    PartShape less = whole;
    less.lines_a -= rest_a;
    less.lines_b -= rest_b;
    consider(less, i, rest_a, rest_b);
  }
  return best;
}

}  // namespace ladder
