// SPDX-License-Identifier: Apache-2.0
// Plans of products of few rows.
#include "gemm/plan/part_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "device/tiling.hpp"
#include "gemm/plan/costs.hpp"

namespace ladder {
namespace {

int rows_of(std::int64_t rows) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(rows)));
}

// A direct product: every thread reads all that it multiplies, a few k at once.
double direct_cycles(const PartShape& x, const ThinPlan& plan, int sms) {
  const bool wide = plan.along_k ? x.a_aligned && x.b_aligned && x.a_k_major && x.k % 4 == 0
                                 : x.b_aligned && x.cols % 4 == 0;
  const int lanes = 1 << plan.lanes, vector = wide ? 4 : 1;
  const int at_once = plan.along_k ? lanes * (wide ? 8 : 4) : 8;
  const auto rows = static_cast<double>(x.rows), cols = static_cast<double>(x.cols);
  const auto batches = static_cast<double>(ceil_div(std::max<std::int64_t>(x.k, 1), at_once));
  const double threads = plan.along_k ? cols * lanes : std::ceil(cols / vector);
  const double blocks = std::ceil(threads / kThinThreads) * rows;
  const double warps =
      std::ceil(blocks / sms) * std::ceil(std::min<double>(kThinThreads, threads) / 32);
  // Cache lines that a warp's store reaches. If lanes span k and A is not K-major, each k of a
  // block is a cache line of A.
  const double of_a = plan.along_k && !x.a_k_major && x.rows > 1 ? static_cast<double>(x.k) : 0,
               of_c = x.turned ? (plan.along_k ? 32.0 / lanes : 32 * vector) : vector;
  const double sum = thin_cost::direct_launch + thin_cost::direct_latency * batches +
                     warps * thin_cost::direct_stored_line * of_c +
                     blocks * (thin_cost::block + thin_cost::direct_a_line / sms * of_a);
  // Each row of C reads all of B.
  return std::max(sum,
                  4.0 * rows * static_cast<double>(x.k) * cols / (parts_cost::bytes_of_sm * sms));
}

// How a block reads an operand of `extent` vectors, per 128 k: load instructions, and the cache
// lines that they reach.
struct DotReads {
  double loads, lines;
};
DotReads dot_reads(int vectors, bool along, bool k_major, bool across, std::int64_t extent,
                   bool neighbours) {
  constexpr int kOfK = 4;
  if (along) return {1.0 * vectors, 1.0 * kOfK * vectors};
  const double loads = kOfK * (across && vectors == 4 ? 1 : vectors),
               step = static_cast<double>(k_major ? 1 : extent) * (neighbours ? kOfK : 1);
  return {loads, loads * std::min(step, 32.0)};
}

// Dot products: every block reads all k of its tile, a thread four k at once.
double dot_cycles(const PartShape& x, const ThinPlan& plan, int sms) {
  constexpr int kThreadsOfSm = 2048, kMostBlocksOfSm = 32;
  const int rows = dot_rows(plan.outputs), cols = dot_columns(plan.outputs),
            threads = 1 << plan.lanes;
  const bool a_along = x.a_k_major && x.a_aligned && x.k % 4 == 0,
             b_along = x.b_k_major && x.b_aligned && x.k % 4 == 0, along = a_along || b_along;
  const DotReads a = dot_reads(rows, a_along, x.a_k_major, x.a_aligned && x.rows % 4 == 0, x.rows,
                               along),
                 b = dot_reads(cols, b_along, x.b_k_major, x.b_aligned && x.cols % 4 == 0, x.cols,
                               along);
  const std::int64_t blocks = ceil_div(x.rows, rows) * ceil_div(x.cols, cols);
  const auto k = static_cast<double>(x.k);
  const auto rounds = static_cast<double>(ceil_div(x.k, 4 * threads * dots_at_once(plan)));
  const auto of_sm = static_cast<double>(ceil_div(blocks, sms));
  // The more registers a thread has, the fewer blocks an SM has at once.
  const int at_once = std::min(kMostBlocksOfSm, kThreadsOfSm / threads / std::min(plan.outputs, 4));
  const double loads = thin_cost::dots_load * (a.loads + b.loads) +
                       thin_cost::dots_line * (a.lines + b.lines),
               early = releases_early(blocks, sms) ? thin_cost::dots_early : 0;
  const double sum =
      thin_cost::dots_launch + thin_cost::dots_output * plan.outputs +
      rounds * (plan.outputs == 1 ? thin_cost::dots_latency : thin_cost::dots_latency_of_tile) +
      of_sm * std::ceil(k / 128) * loads + thin_cost::dots_block * static_cast<double>(blocks) +
      thin_cost::dots_wave * (std::ceil(of_sm / at_once) - 1) - early;
  const double from_l2 = 4 * k * static_cast<double>(blocks * (rows + cols));
  return std::max({sum, from_l2 / (parts_cost::bytes_of_sm * sms),
                   memory_cycles(4 * k * static_cast<double>(x.rows + x.cols), sms)});
}

}  // namespace

int thin_columns(const ThinPlan& plan) {
  const int lanes = 1 << plan.lanes;
  return plan.along_k ? kThinThreads / lanes * 4 : 4 * lanes;
}

std::int64_t thin_capacity(const ThinPlan& plan, int rows, int sms) {
  const int padded = rows_of(rows);
  return std::int64_t{sms} *
         (plan.along_k ? thin_blocks_along(padded) : thin_blocks_across(padded));
}

double thin_cycles(const PartShape& x, const ThinPlan& plan, int sms) {
  if (plan.kind == ThinKind::kDirect) return direct_cycles(x, plan, sms);
  if (plan.kind == ThinKind::kDots) return dot_cycles(x, plan, sms);
  const int rows = rows_of(x.rows), lanes = 1 << plan.lanes;
  const int columns = thin_columns(plan);
  const auto share =
      static_cast<double>(ceil_div(ceil_div(x.k, kThinStep), plan.parts) * kThinStep);
  const auto tiles = static_cast<double>(ceil_div(x.cols, columns)), blocks = tiles * plan.parts;
  const double of_sm = std::ceil(blocks / sms);
  // Threads of a block read this many groups of four elements, one after the other.
  const double at_once = plan.along_k ? kThinLoadsAlong : thin_loads_across(rows);
  const double groups =
      std::ceil(share / (plan.along_k ? 4.0 * lanes : static_cast<double>(kThinThreads) / lanes));
  const std::int64_t capacity = thin_capacity(plan, rows, sms);
  const double waves = std::ceil(of_sm / static_cast<double>(capacity / sms));
  const double bytes = 4.0 * static_cast<double>(x.k) * static_cast<double>(x.cols);
  const bool cached = bytes <= thin_cost::cached_bytes;
  const double latency = waves * std::ceil(groups / at_once) *
                         (cached ? thin_cost::latency : thin_cost::memory_latency);
  // Of B, whole sectors of eight elements are read. Rows whose length is no multiple of eight begin
  // inside a sector.
  const int inside = plan.along_k || x.cols % 8 == 0 ? 0 : x.b_aligned ? 4 : 7;
  const double of_b = of_sm * share * std::max(plan.along_k ? 1 : 8, columns + inside),
               of_a = of_sm * share * rows;
  // A warp's load of more cache lines takes longer.
  const double of_lines = std::min(1.0, lanes / (x.b_aligned ? 8.0 : 32.0));
  const double rate = (x.b_aligned ? thin_cost::elements_of_16 : thin_cost::elements_of_4) *
                      std::pow(of_lines, thin_cost::lines);
  // Memory is read faster in longer pieces.
  constexpr double kLanesOfCost = 16;
  const double memory_rate =
      thin_cost::memory_elements * std::pow(lanes / kLanesOfCost, thin_cost::memory_lines);
  const double loads =
      of_b * (1 / (cached ? rate : std::min(rate, memory_rate)) + thin_cost::multiply * rows) +
      of_a / thin_cost::copied_elements;
  const double sums = static_cast<double>(rows) * columns;
  const double of_rows = rows * (plan.along_k ? thin_cost::row_along_k : thin_cost::row);
  double cycles =
      thin_cost::launch + of_rows * waves + std::hypot(latency, loads) + blocks * thin_cost::block;
  if (releases_early(static_cast<std::int64_t>(blocks), capacity)) cycles -= thin_cost::early;
  if (plan.parts > 1) {
    const double threads = std::max(1.0, kThinThreads / sums);
    cycles += thin_cost::part * (plan.parts - 1) + thin_cost::round *
                                                       std::ceil(sums / kThinThreads) *
                                                       std::ceil((plan.parts - 1) / threads / 16);
  }
  return cycles;
}

void each_thin_plan(const PartShape& x, int sms,
                    const std::function<void(const ThinPlan&)>& visit) {
  ThinPlan plan;
  plan.along_k = x.b_k_major;
  if (x.k <= limit::direct_k && x.rows <= limit::direct_rows &&
      x.rows * x.cols <= limit::direct_elements) {
    plan.kind = ThinKind::kDirect;
    plan.outputs = 1;
    const int widest = plan.along_k ? 5 : 0;
    for (plan.lanes = 0; plan.lanes <= widest && (plan.lanes == 0 || 1 << plan.lanes < 2 * x.k);
         ++plan.lanes) {
      plan.cycles = thin_cycles(x, plan, sms);
      visit(plan);
    }
  }
  const bool few_bytes = 4 * x.k * (x.rows + x.cols) <= limit::dots_bytes;
  for (const int outputs : {1, 4, 16}) {
    const int rows = dot_rows(outputs), cols = dot_columns(outputs);
    const bool is_same_turned = rows == cols && x.turned;  // the launch chooses the side
    if (!few_bytes || x.k < limit::dots_k || is_same_turned || (rows > 1 && x.rows == 1) ||
        (cols > 1 && x.cols == 1) ||
        ceil_div(x.rows, rows) * ceil_div(x.cols, cols) > limit::dots_blocks)
      continue;
    plan.kind = ThinKind::kDots;
    plan.outputs = outputs;
    for (plan.lanes = 5;
         1 << plan.lanes <= kMostDotThreads && (plan.lanes == 5 || 2 << plan.lanes < x.k);
         ++plan.lanes) {
      plan.cycles = thin_cycles(x, plan, sms);
      visit(plan);
    }
  }
  plan.kind = ThinKind::kRows;
  plan.outputs = 4;
  if (x.rows < 1 || x.rows > kThinVectors) return;
  const std::int64_t steps = std::max<std::int64_t>(1, ceil_div(x.k, kThinStep));
  const auto with_parts = [&] {
    const std::int64_t tiles = ceil_div(x.cols, thin_columns(plan)),
                       sums = std::int64_t{rows_of(x.rows)} * thin_columns(plan) * tiles;
    int before = 0;
    for (const double of_sm : {0.0, 0.25, 0.5, 1.0, 2.0, 4.0}) {
      const auto parts = static_cast<std::int64_t>(of_sm * sms) / tiles;
      plan.parts = static_cast<int>(
          std::clamp<std::int64_t>(parts, 1, std::min(steps, 1 + limit::thin_sums / sums)));
      if (plan.parts == before) continue;
      before = plan.parts;
      plan.cycles = thin_cycles(x, plan, sms);
      visit(plan);
    }
  };
  const int most = plan.along_k ? kMostThinLanes : 5;
  for (plan.lanes = 0; plan.lanes <= most; ++plan.lanes) {
    const std::int64_t four = std::int64_t{4} << plan.lanes;
    if (plan.lanes > 0 && four >= 2 * (plan.along_k ? std::max<std::int64_t>(x.k, 1) : x.cols))
      break;
    if (plan.along_k && plan.lanes == 0 && x.k > 4) continue;
    with_parts();
  }
}

ThinPlan plan_thin(const PartShape& x, int sms) {
  ThinPlan best;
  each_thin_plan(x, sms, [&](const ThinPlan& plan) {
    if (best.cycles == 0 || plan.cycles < best.cycles) best = plan;
  });
  return best;
}

}  // namespace ladder
