// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set (foreach_target), like the register tile.
#include "host/rates.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/rates.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace ladder::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag{}));
// Two multiply-adds issue per cycle with a latency of four or five cycles; ten independent chains
// hide it and fit 16 registers.
inline constexpr int kChains = 10;

template <int... kChain>
HWY_NOINLINE float multiply_add(std::int64_t rounds, std::integer_sequence<int, kChain...>) {
  const Tag d;
  const Vector x = hn::Set(d, 0.999F), y = hn::Set(d, 1e-3F);
  Vector sum[kChains] = {hn::Set(d, static_cast<float>(kChain))...};
  for (; rounds > 0; --rounds) ((sum[kChain] = hn::MulAdd(sum[kChain], x, y)), ...);
  Vector total = hn::Zero(d);
  ((total = hn::Add(total, sum[kChain])), ...);
  return hn::GetLane(hn::SumOfLanes(d, total));
}
float multiply_adds(std::int64_t rounds) {
  return multiply_add(rounds, std::make_integer_sequence<int, kChains>{});
}

// Rows of a two-vector tile that fits the registers, and steps of k whose operands stay in L1.
inline constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON ? 12 : 5;
inline constexpr int kTileDepth = 64;
std::int64_t tile_floats() { return std::int64_t{kTileDepth} * (kTileRows + 2 * kLanes); }

// `x`: tile_floats() floats.
HWY_NOINLINE float tile(std::int64_t rounds, const float* x) {
  const Tag d;
  Vector sum[kTileRows][2];
  for (auto& row : sum) row[0] = row[1] = hn::Zero(d);
  for (; rounds > 0; --rounds) {
    const float* a = x;
    const float* b = x + kTileDepth * kTileRows;
    for (int k = 0; k < kTileDepth; ++k, a += kTileRows, b += 2 * kLanes) {
      const Vector b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + kLanes);
#pragma GCC unroll 12
      for (int i = 0; i < kTileRows; ++i) {
        const Vector element = hn::Set(d, a[i]);
        sum[i][0] = hn::MulAdd(element, b0, sum[i][0]);
        sum[i][1] = hn::MulAdd(element, b1, sum[i][1]);
      }
    }
  }
  Vector total = hn::Zero(d);
  for (const auto& row : sum) total = hn::Add(total, hn::Add(row[0], row[1]));
  return hn::GetLane(hn::SumOfLanes(d, total));
}
int flops_per_tile_round() { return 2 * kTileDepth * kTileRows * 2 * kLanes; }

template <int... kPart>
HWY_NOINLINE float read(const float* x, std::int64_t floats, std::integer_sequence<int, kPart...>) {
  const Tag d;
  Vector sum[] = {hn::Set(d, static_cast<float>(kPart))...};
  constexpr int kStep = kLanes * static_cast<int>(sizeof...(kPart));
  for (std::int64_t i = 0; i + kStep <= floats; i += kStep)
    ((sum[kPart] = hn::Add(sum[kPart], hn::LoadU(d, x + i + kPart * kLanes))), ...);
  Vector total = hn::Zero(d);
  ((total = hn::Add(total, sum[kPart])), ...);
  return hn::GetLane(hn::SumOfLanes(d, total));
}
float reads(const float* x, std::int64_t floats) {
  return read(x, floats, std::make_integer_sequence<int, 8>{});
}

const char* target() { return hwy::TargetName(HWY_TARGET); }
int flops_per_round() { return 2 * kLanes * kChains; }

}  // namespace ladder::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/aligned_allocator.h>

#include <atomic>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "host/best_rate.hpp"
#include "host/blocking.hpp"
#include "host/core_clock.hpp"

namespace ladder::host {
namespace {

HWY_EXPORT(tile_floats);
HWY_EXPORT(tile);
HWY_EXPORT(flops_per_tile_round);
HWY_EXPORT(multiply_adds);
HWY_EXPORT(reads);
HWY_EXPORT(target);
HWY_EXPORT(flops_per_round);

// Buffer in total, bytes; larger than any L3 available today.
constexpr std::int64_t kMemory = 512 << 20;

// Results are stored here so that the compiler does not remove the loops.
std::atomic<float> sink;

double clock_rate() {
  return best_rate(1 << 20,
                   [](std::int64_t adds) { sink = static_cast<float>(dependent_adds(adds)); });
}

// The best rate of `work`, and the core clock directly after it.
template <class Work>
double rate_and_clock(std::int64_t least, double& clock_hz, const Work& work) {
  std::vector<double> clocks;
  const double rate = best_rate(least, [&](std::int64_t units) {
    work(units);
    if (const double clock = core_clock_now(); clock > 0) clocks.push_back(clock);
  });
  clock_hz = 0;
  if (clocks.empty()) return rate;
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  clock_hz = *middle;
  return rate;
}

double multiply_add_rate(double& clock_hz) {
  return rate_and_clock(
             1 << 12, clock_hz,
             [](std::int64_t rounds) { sink = HWY_DYNAMIC_DISPATCH(multiply_adds)(rounds); }) *
         HWY_DYNAMIC_DISPATCH(flops_per_round)();
}

double tile_rate(double& clock_hz) {
  const std::int64_t floats = HWY_DYNAMIC_DISPATCH(tile_floats)();
  const auto memory = hwy::AllocateAligned<float>(static_cast<std::size_t>(floats));
  if (!memory) return 0;
  // Values with full mantissas and alternating signs, as in a real product: zeros take less power.
  for (std::int64_t i = 0; i < floats; ++i)
    memory[i] = (i % 2 == 0 ? 1.0F : -1.0F) / static_cast<float>(i % 97 + 3);
  return rate_and_clock(1, clock_hz,
                        [&](std::int64_t rounds) {
                          sink = HWY_DYNAMIC_DISPATCH(tile)(rounds, memory.get());
                        }) *
         HWY_DYNAMIC_DISPATCH(flops_per_tile_round)();
}

double read_rate(std::int64_t bytes) {
  const auto floats = bytes / static_cast<std::int64_t>(sizeof(float));
  const auto memory = hwy::AllocateAligned<float>(static_cast<std::size_t>(floats));
  if (!memory) return 0;
  std::fill_n(memory.get(), floats, 1.0F);
  return best_rate(1,
                   [&](std::int64_t passes) {
                     for (std::int64_t pass = 0; pass < passes; ++pass)
                       sink = HWY_DYNAMIC_DISPATCH(reads)(memory.get(), floats);
                   }) *
         static_cast<double>(bytes);
}

Rates measure_one(std::int64_t memory_bytes) {
  const CacheSizes caches = cache_sizes();
  Rates out;
  out.clock_hz = clock_rate();
  out.fma_flops = multiply_add_rate(out.fma_clock_hz);
  out.tile_flops = tile_rate(out.tile_clock_hz);
  out.l1_bandwidth = read_rate(caches.l1 / 2);
  out.l2_bandwidth = read_rate(caches.l2 / 2);
  out.memory_bandwidth = read_rate(memory_bytes);
  return out;
}

}  // namespace

Rates measure_rates(int threads) {
  Rates all;
  std::mutex mutex;
  threads = std::max(1, threads);
  const std::int64_t share = kMemory / threads;
  const auto measure = [&] {
    const Rates one = measure_one(share);
    const std::lock_guard lock(mutex);
    ++all.threads;
    all.clock_hz = std::max(all.clock_hz, one.clock_hz);
    all.fma_clock_hz = std::max(all.fma_clock_hz, one.fma_clock_hz);
    all.fma_flops += one.fma_flops;
    all.tile_flops += one.tile_flops;
    all.tile_clock_hz = std::max(all.tile_clock_hz, one.tile_clock_hz);
    all.l1_bandwidth += one.l1_bandwidth;
    all.l2_bandwidth += one.l2_bandwidth;
    all.memory_bandwidth += one.memory_bandwidth;
  };
  {
    std::vector<std::jthread> team;
    team.reserve(static_cast<std::size_t>(threads));
    try {
      while (std::ssize(team) < threads - 1) team.emplace_back(measure);
    } catch (const std::system_error&) {
      // no more threads available: measures with those created so far
    }
    threads = static_cast<int>(team.size()) + 1;
    measure();
  }
  all.target = HWY_DYNAMIC_DISPATCH(target)();
  return all;
}

}  // namespace ladder::host
#endif
