// SPDX-License-Identifier: Apache-2.0
// Host: which tile a problem is cut into, and how tiles are shared out so that all SMs end together. A pure function of
// the shape and the number of SMs; times are in clocks of an SM, by the few constants below.
#pragma once
#include "device/schedule.cuh"
#include "kernels/cuda/launch.cuh"

#include <ladder/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace ladder {

struct TileShape {
  int m, n, k;  // outputs, and k of a stage
  int blocks;   // that compute it, sharing copies
};

struct TensorPlan {
  std::size_t tile = 0;  // of the shapes to choose from
  int parts = 1;         // into which every tile is cut along k, to be added by a second kernel
  Plan plan{};           // with parts > 1, of whole tiles
};

namespace plan_detail {

constexpr double kLoadBytesPerClock = 48;   // that L2 brings to an SM when all ask
constexpr double kOffLines = 0.6;           // of that, where lines of operands do not start on 128 bytes
constexpr double kTileClocks = 2500;        // of a tile, beside its steps: first copies, last stores
constexpr double kLaunchClocks = 4500;      // of a second kernel
constexpr double kAddBytesPerClock = 2000;  // of partial sums, written and read, by all SMs
constexpr double kHandOnClocks = 0.6;       // for each sum of a tile that is handed on and taken in
constexpr int kLeastSteps = 4;              // of a part

inline double clocks_of_step(const TileShape& t, bool on_lines) {
  constexpr double kLine = 128;  // bytes of a row or column of a stage, whatever its type
  const double m = t.blocks == 1 ? t.m : t.m / 2.0, n = t.n;
  const double products = m * n / 32;  // 64 x 256 x 16 in 128 clocks; tf32's stage is half as deep
  const double lines = t.blocks == 1 ? m + n : m + n / 2;
  return std::max(products, lines * kLine / (kLoadBytesPerClock * (on_lines ? 1 : kOffLines)));
}

}  // namespace plan_detail

// on_lines: whether the lines of A and B start on 128 bytes.
inline TensorPlan plan_tensor_tiles(const Problem& p, bool on_lines, std::span<const TileShape> shapes,
                                    int all_sms) {
  using namespace plan_detail;
  TensorPlan best;
  double best_clocks = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const TileShape& t = shapes[i];
    const int sms = std::max(1, all_sms / t.blocks);  // or pairs of them
    Plan plan{};
    plan.tiles_m = static_cast<int>(ceil_div(p.m, t.m));
    plan.tiles_n = static_cast<int>(ceil_div(p.n, t.n));
    plan.steps = static_cast<int>(ceil_div(p.k, t.k));
    plan.chain = plan.steps;  // sums stay in registers from a piece's first step to its last
    const int tiles = plan.tiles_m * plan.tiles_n, waves = static_cast<int>(ceil_div(tiles, sms));
    const double step = clocks_of_step(t, on_lines);
    const auto consider = [&](int parts, double clocks) {
      if (clocks >= best_clocks) return;
      best_clocks = clocks;
      best = {i, parts, plan};
    };
    // Whole tiles.
    plan.whole_tiles = tiles;
    plan.blocks = std::min(sms, tiles);
    consider(1, waves * (plan.steps * step + kTileClocks));
    // Whole tiles, the last ones cut so that all blocks have equal shares.
    const double share = static_cast<double>(tiles) * plan.steps / sms;
    if (tiles > sms) {
      plan.whole_tiles = std::max(waves - 2, 0) * sms;
      plan.cut_tiles = tiles - plan.whole_tiles;
      consider(1, share * step + kHandOnClocks * t.m * t.n / t.blocks + waves * kTileClocks);
      plan.whole_tiles = tiles;
      plan.cut_tiles = 0;
    }
    // Every tile cut into equal parts.
    for (int parts = 2; t.blocks == 1 && tiles * parts <= sms && plan.steps / parts >= kLeastSteps; ++parts) {
      plan.blocks = tiles * parts;
      const double bytes = 8.0 * tiles * parts * t.m * t.n;
      consider(parts, static_cast<double>(ceil_div(plan.steps, parts)) * step + 2 * kTileClocks +
                          kLaunchClocks + bytes / kAddBytesPerClock);
    }
  }
  return best;
}

// The order of one block where every tile is cut into plan.blocks / plan.whole_tiles parts: one of them.
class PartSchedule {
 public:
  __device__ __forceinline__ PartSchedule(const Plan& plan, int block) {
    const int parts = plan.blocks / plan.whole_tiles, part = block / plan.whole_tiles;
    work_ = {block % plan.whole_tiles, begin_of(plan, part, parts), begin_of(plan, part + 1, parts)};
  }
  __device__ __forceinline__ bool next(Work& work) {
    work = work_;
    const bool first = !done_;
    done_ = true;
    return first;
  }

 private:
  __device__ __forceinline__ static int begin_of(const Plan& plan, int part, int parts) {
    return static_cast<int>(std::int64_t{plan.steps} * part / parts);
  }
  Work work_;
  bool done_ = false;
};

}  // namespace ladder
