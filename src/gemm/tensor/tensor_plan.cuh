// SPDX-License-Identifier: Apache-2.0
// Host: which tile a problem is cut into, and how tiles are shared out so that all SMs end
// together. A pure function of the shape and the number of SMs; times are in clocks of an SM, by
// the few constants below.
#pragma once
#include "device/extents.cuh"
#include "device/tensor_cluster.cuh"

#include <ladder/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

namespace ladder {

struct TileShape {
  int m, n, k;     // outputs, and k of a stage
  int blocks;      // that compute it, sharing copies
  int narrow = 0;  // columns that its last tiles may have instead of n; 0: none
  int parts = 1;   // of k, a block each, in a cluster that adds them
};

// Tiles that are narrower than the others: the last ones, where those would leave SMs idle in the
// last wave. They begin in the band where the others end. Where their width is no multiple of a box
// of B, the whole boxes of all tiles of a line lie side by side from that line's first column on,
// and behind them their rests.
struct NarrowTiles {
  int first = std::numeric_limits<int>::max();  // their first tile
  int width;
  int m, rows, col;        // what is left of that band: tile rows from m on, columns from col on
  int columns, in_a_line;  // tiles along n there, and in the bands behind it
};

// A plan whose tiles may have two widths.
struct TilePlan : Plan {
  NarrowTiles narrow;
  bool once;  // no unit has a second piece of work
};

struct TensorPlan {
  std::size_t tile = 0;  // of the shapes to choose from
  int parts = 1;         // into which every tile is cut along k, to be added by a second kernel
  TilePlan plan{};       // with parts > 1, of whole tiles
};

// Where every unit begins with a whole tile of the first band, tile u of unit u: there a
// multiplication finds it, and the first copies wait for no division.
struct FirstTiles {
  bool known;
  int rows;  // of tiles in that band
  unsigned
      // kOne / rows, rounded up: exact for units, of which there are fewer than kOne / rows
      inverse;
  static constexpr int kOne = 1 << 16;
};

// Of a plan in bands of so many tile rows.
inline FirstTiles first_tiles(const TilePlan& plan, int band) {
  const int rows = std::min(band, plan.tiles_m);
  const int first = std::min({plan.whole_tiles, plan.narrow.first, rows * plan.tiles_n});
  return {plan.blocks <= first && plan.blocks < FirstTiles::kOne / rows, rows,
          static_cast<unsigned>(ceil_div(FirstTiles::kOne, rows))};
}

namespace plan_detail {

constexpr double kLoadBytesPerClock = 80;  // that L2 brings to an SM when all ask
constexpr double kFromMemory = 0.48;       // of that, where L2 does not hold A and B
constexpr double kOffLines = 0.36;     // of that, where lines of operands do not start on 128 bytes
constexpr double kPairClocks = 1200;   // of launching blocks in pairs or fours
constexpr double kFoursAtOnce = 0.92;  // of an H200's 33 fours 30 run: its GPCs have 10 to 18 SMs
constexpr double kTileClocks = 2500;   // of a tile, beside its steps: first copies, last stores
constexpr double kLaunchClocks = 4500;      // of a second kernel
constexpr double kAddBytesPerClock = 2000;  // of partial sums, written and read, by all SMs
constexpr double kMeetClocks = 2200;        // of a cluster's blocks that add their parts
constexpr double kHandOnClocks = 0.6;       // for each sum of a tile that is handed on and taken in
constexpr double kLastStoreClocks = 5000;   // of a large tile: no products hide it
constexpr int kSmallTile = 64 * 128;        // of a block, which stores it from registers
constexpr int kSharedTile = 128 * 128;      // of a block: shared memory binds, not the tensor cores
constexpr int kLeastSteps = 4;              // of a part
constexpr int kMostParts = 64;              // more are added no sooner than fewer end

// Of one block: what its tensor cores take, what its shared memory takes to be filled and read,
// what L2 takes to bring.
inline double clocks_of_step(const TileShape& t, int width, double bytes_per_clock) {
  constexpr double kLine = 128;  // bytes of a row or column of a stage; of shared memory, a clock
  constexpr int kTf32Step = 32, kWarpgroupLines = 64;
  const int sharing = t.blocks / t.parts;
  const bool tf32 = t.k == kTf32Step, along_n = sharing == 4 || tf32;
  const double m = along_n ? t.m : static_cast<double>(t.m) / sharing;  // of a block
  const double n = static_cast<double>(width) / (along_n ? sharing : 1);
  const double boxes =
      width == t.n ? n : static_cast<double>(ceil_div(width, t.k) * t.k);  // whole ones
  const double products = m * n / 32;  // 64 x 256 x 16 in 128 clocks; tf32's stage is half as deep
  // A warpgroup reads 64 lines of one operand and all of the other.
  const double read = (tf32 ? n : m) / kWarpgroupLines * (kWarpgroupLines + (tf32 ? m : n));
  const double shared = m * n <= kSharedTile ? read + m + boxes : 0;
  const double own = along_n ? m / sharing + boxes : m + boxes / sharing;
  return std::max({products, shared, own * kLine / bytes_per_clock});
}

constexpr int kBandRows = 2048;

// The narrow tiles behind at most `wide` others, and how many others there are then: as many as
// fill columns of their band.
inline int place_narrow(const TileShape& t, const Problem& p, const Plan& plan, int wide,
                        NarrowTiles& narrow) {
  const int band = kBandRows / t.m, in_band = band * plan.tiles_n, first = wide / in_band;
  narrow.width = t.narrow;
  narrow.m = first * band;
  narrow.rows = std::min(band, plan.tiles_m - narrow.m);
  const int columns = wide % in_band / narrow.rows;
  narrow.first = first * in_band + columns * narrow.rows;
  narrow.col = columns * t.n;
  narrow.columns = static_cast<int>(ceil_div(p.n - narrow.col, t.narrow));
  narrow.in_a_line = static_cast<int>(ceil_div(p.n, t.narrow));
  return narrow.rows * narrow.columns + (plan.tiles_m - narrow.m - narrow.rows) * narrow.in_a_line;
}

}  // namespace plan_detail

// What of a device decides.
struct PlanDevice {
  int sms = 132;
  int l2_bytes = 60 << 20;
};
inline cudaError_t plan_device(PlanDevice& device) {
  int current = 0;
  cudaError_t error = cudaGetDevice(&current);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&device.sms, cudaDevAttrMultiProcessorCount, current);
  }
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&device.l2_bytes, cudaDevAttrL2CacheSize, current);
  return error;
}

// on_lines: whether the lines of A and B start on 128 bytes.
inline TensorPlan plan_tensor_tiles(const Problem& p, bool on_lines,
                                    std::span<const TileShape> shapes, const PlanDevice& device) {
  using namespace plan_detail;
  TensorPlan best;
  double best_clocks = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const TileShape& t = shapes[i];
    const int sms =
        std::max(1, t.blocks == 4 ? static_cast<int>(device.sms / 4 * kFoursAtOnce)
                                  : device.sms / t.blocks);  // or pairs or fours of them
    const double bytes_ab = static_cast<double>(p.m + p.n) * static_cast<double>(p.k) * 128 / t.k;
    const double bytes_per_clock = kLoadBytesPerClock *
                                   (bytes_ab > device.l2_bytes ? kFromMemory : 1) *
                                   (on_lines ? 1 : kOffLines);
    const int outputs = t.m * t.n * t.parts / t.blocks;  // of a block
    const double launch =
        (t.blocks == 1 ? 0 : kPairClocks) + (outputs > kSharedTile ? kLastStoreClocks : 0);
    TilePlan plan{plan_whole_tiles(p.m, p.n, p.k, t.m, t.n, t.k, sms), {}, false};
    const int tiles = plan.whole_tiles, waves = static_cast<int>(ceil_div(tiles, sms));
    const double step = clocks_of_step(t, t.n, bytes_per_clock),
                 wave = plan.steps * step + kTileClocks;
    const auto consider = [&](int parts, double clocks) {
      clocks += launch;
      if (clocks >= best_clocks) return;
      best_clocks = clocks;
      best = {i, parts, plan};
    };
    // Parts of k, added within a cluster.
    if (t.parts > 1) {
      if (tiles <= sms && plan.steps / t.parts >= kLeastSteps) {
        consider(1, static_cast<double>(ceil_div(plan.steps, t.parts)) * step + kTileClocks +
                        kMeetClocks);
      }
      continue;
    }
    // Whole tiles.
    consider(1, waves * wave);
    // Whole tiles, those of the last waves narrower.
    for (int wide = std::max(0, waves - 3); t.narrow > 0 && wide < waves; ++wide) {
      const int narrow = place_narrow(t, p, plan, wide * sms, plan.narrow);
      plan.whole_tiles = plan.narrow.first + narrow;
      plan.blocks = std::min(sms, plan.whole_tiles);
      const auto narrow_waves = static_cast<double>(ceil_div(plan.whole_tiles, sms) - wide);
      consider(1, wide * wave +
                      narrow_waves * (plan.steps * clocks_of_step(t, t.narrow, bytes_per_clock) +
                                      kTileClocks));
    }
    plan.narrow = {};
    plan.blocks = std::min(sms, tiles);
    // Whole tiles, the last ones cut so that all blocks have equal shares.
    const double share = static_cast<double>(tiles) * plan.steps / sms;
    const bool leaves_alone = t.blocks == 4 || (t.blocks > 1 && outputs <= kSmallTile);
    if (tiles > sms && t.narrow == 0 && !leaves_alone) {
      plan.whole_tiles = std::max(waves - 2, 0) * sms;
      plan.cut_tiles = tiles - plan.whole_tiles;
      consider(1, share * step + kHandOnClocks * t.m * t.n / t.blocks + waves * kTileClocks);
      plan.cut_tiles = 0;
    }
    plan.whole_tiles = tiles;
    // Every tile cut into equal parts.
    for (int parts = 2; parts <= kMostParts && t.blocks == 1 && tiles * parts <= sms &&
                        plan.steps / parts >= kLeastSteps;
         ++parts) {
      plan.blocks = tiles * parts;
      const double bytes = 8.0 * tiles * parts * t.m * t.n;
      consider(parts, static_cast<double>(ceil_div(plan.steps, parts)) * step + 2 * kTileClocks +
                          kLaunchClocks + bytes / kAddBytesPerClock);
    }
  }
  return best;
}

// The same of a tile that may be a narrow one, whose rest, the columns behind its last whole box,
// lies apart.
struct TileOrigin : Origin {
  int width, rest;  // columns; where it would begin by the rest
  template <class T>
  __device__ __forceinline__ int col_of_box(int j) const {
    return (j * T::BK < kInWholeBoxes<T, T::kNarrow> ? col : rest) + j * T::BK;
  }
  __device__ __forceinline__ int col_by_rest() const { return rest; }
};
template <class T>
__device__ __forceinline__ TileOrigin wide_tile(const Origin& at) {
  return {at, T::BN, at.col};
}
template <class T>
__device__ __forceinline__ TileOrigin origin_of(const TilePlan& plan, int tile, int rank) {
  const NarrowTiles& narrow = plan.narrow;
  if (!T::kSharesB || tile < narrow.first) {
    // A block's first tile lies in the first band, as a rule, and its first copies wait for these
    // divisions.
    if (tile < T::kBand * plan.tiles_n) {
      const auto rows = static_cast<unsigned>(min(T::kBand, plan.tiles_m));
      const int n = static_cast<int>(static_cast<unsigned>(tile) / rows);
      return wide_tile<T>(origin_in<T>({tile - n * static_cast<int>(rows), n}, rank));
    }
    return wide_tile<T>(origin_of<T>(static_cast<const Plan&>(plan), tile, rank));
  }
  tile -= narrow.first;
  TilePlace pair{tile % narrow.rows, tile / narrow.rows};
  int col = narrow.col, in_a_line = narrow.columns;
  if (pair.n >= narrow.columns) {
    Plan behind{};
    behind.tiles_m = plan.tiles_m - narrow.m - narrow.rows;
    behind.tiles_n = in_a_line = narrow.in_a_line;
    pair = place_of<T::kBand>(behind, tile - narrow.rows * narrow.columns);
    pair.m += narrow.rows;
    col = 0;
  }
  constexpr int kBoxes = kInWholeBoxes<T, T::kNarrow>, kRest = T::kNarrow - kBoxes;  // columns
  return {{(narrow.m + pair.m) * T::kPairM + rank * T::BM, col + pair.n * kBoxes},
          T::kNarrow,
          col + (in_a_line - 1) * kBoxes + pair.n * kRest};
}

// The same of a unit's first tile, where it is known.
template <class T>
__device__ __forceinline__ TileOrigin first_origin(const FirstTiles& first, int unit, int rank) {
  const int n = static_cast<int>(static_cast<unsigned>(unit) * first.inverse / FirstTiles::kOne);
  return wide_tile<T>(origin_in<T>({unit - n * first.rows, n}, rank));
}

// The order of one unit where no tile is cut: round robin.
class WholeSchedule {
 public:
  __device__ __forceinline__ WholeSchedule(const Plan& plan, int unit) : plan_(plan), tile_(unit) {}
  __device__ __forceinline__ bool next(Work& work) {
    if (tile_ >= plan_.whole_tiles) return false;
    work = {tile_, 0, plan_.steps, 0, plan_.steps};
    tile_ += plan_.blocks;
    return true;
  }

  // Nothing follows what next() gave.
  __device__ __forceinline__ bool at_last() const { return tile_ >= plan_.whole_tiles; }

 private:
  const Plan& plan_;
  int tile_;
};

// The order of one block where every tile is cut into plan.blocks / plan.whole_tiles parts: one of
// them.
class PartSchedule {
 public:
  __device__ __forceinline__ PartSchedule(const Plan& plan, int block) {
    const int parts = plan.blocks / plan.whole_tiles, part = block / plan.whole_tiles;
    take(plan, block % plan.whole_tiles, part, parts);
  }
  __device__ __forceinline__ PartSchedule(const Plan& plan, int tile, int part, int parts) {
    take(plan, tile, part, parts);
  }
  __device__ __forceinline__ bool next(Work& work) {
    work = work_;
    const bool first = !done_;
    done_ = true;
    return first;
  }

 private:
  __device__ __forceinline__ void take(const Plan& plan, int tile, int part, int parts) {
    work_ = {tile, begin_of(plan, part, parts), begin_of(plan, part + 1, parts)};
  }
  __device__ __forceinline__ static int begin_of(const Plan& plan, int part, int parts) {
    // First copies wait for it, and a division of 64 bits takes a microsecond. Steps are at most
    // 2^25, parts 64.
    return static_cast<int>(static_cast<unsigned>(plan.steps) * static_cast<unsigned>(part) /
                            static_cast<unsigned>(parts));
  }
  Work work_;
  bool done_ = false;
};

}  // namespace ladder
