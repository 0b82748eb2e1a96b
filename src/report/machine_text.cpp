// SPDX-License-Identifier: Apache-2.0
#include "report/machine_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/table.hpp"

namespace ladder {
namespace {

constexpr double kGiga = 1e9, kGib = 1024.0 * 1024 * 1024;

// Plausible ranges: what existing cores reach, with a margin on both sides.
constexpr double kLeastClock = 1e8, kMostClock = 1e10;  // Hz
constexpr double kMostFlopsPerCycle = 512;              // FP32: 4 multiply-adds of 64 floats
constexpr double kLeastFlops = 1e7, kMostFlops = 5e12;  // per second, where the clock is unknown
constexpr double kLeastBandwidth = 1e7, kMostBandwidth = 5e12;  // bytes per second
constexpr double kSame =
    1.25;  // tolerance for noise when a cache is measured as slower than the next level

bool between(double value, double least, double most) {  // false for NaN
  return value >= least && value <= most;
}

std::optional<double> plausible_clock(double hz) {
  return between(hz, kLeastClock, kMostClock) ? std::optional(hz) : std::nullopt;
}

std::optional<double> plausible_flops(double flops, std::optional<double> clock_hz) {
  const double most = clock_hz ? *clock_hz * kMostFlopsPerCycle : kMostFlops;
  return between(flops, kLeastFlops, most) ? std::optional(flops) : std::nullopt;
}

}  // namespace

std::string processors_text(const std::optional<std::string>& name, const host::Processors& p) {
  std::string text = name.value_or("name unknown");
  const auto known = p.online ? p.online : p.allowed;
  if (!known)
    return text + ", number of threads unknown (/sys/devices/system/cpu, /proc/self/status)";
  text += fmt::format(", {} thread{}", *known, *known == 1 ? "" : "s");
  if (p.allowed && *p.allowed < *known)
    text += fmt::format(", of which this process may use {}", *p.allowed);
  if (p.quota && *p.quota < p.allowed.value_or(*known))
    text += fmt::format("; a control group limits it to the time of {}", figure(*p.quota));
  return text;
}

std::string memory_text(std::optional<std::uint64_t> bytes) {
  constexpr double kMost = 1e6;  // GiB
  const double gib = bytes ? static_cast<double>(*bytes) / kGib : 0;
  if (!bytes || gib > kMost) return "available memory unknown (/proc/meminfo)";
  return gib < 1 ? fmt::format("{:.0f} MiB available", gib * 1024)
                 : fmt::format("{:.1f} GiB available", gib);
}

std::string rates_text(const host::Rates& r) {
  std::vector<std::string> shown, missing;
  const auto rate = [&](double flops, double clock_hz, const char* what) {
    const auto clock = plausible_clock(clock_hz);
    const auto value = plausible_flops(flops, clock);
    if (!value) return missing.emplace_back(what), void();
    shown.push_back(fmt::format("{} GFLOP/s of {}{}", figure(*value / kGiga), what,
                                clock ? fmt::format(" at {} GHz", figure(*clock / kGiga)) : ""));
    if (!clock) missing.push_back(fmt::format("the clock under {}", what));
  };
  rate(r.fma_flops, r.fma_clock_hz, "FP32 multiply-adds");
  rate(r.tile_flops, r.tile_clock_hz, "those with operands from L1");
  // Vector code lowers a clock and never raises it. If a chain of scalar additions appears slower,
  // another process shared the core.
  const bool shared = r.clock_hz * kSame < std::max(r.fma_clock_hz, r.tile_clock_hz);
  if (const auto clock = plausible_clock(r.clock_hz); clock && !shared) {
    shown.push_back(fmt::format("{} GHz with scalar additions", figure(*clock / kGiga)));
  } else {
    missing.emplace_back("the clock with scalar additions");
  }
  std::vector<std::string> reads;
  double nearer = kMostBandwidth;
  for (const auto& [bandwidth, where] :
       {std::pair{r.l1_bandwidth, "L1"}, {r.l2_bandwidth, "L2"}, {r.memory_bandwidth, "memory"}}) {
    if (!between(bandwidth, kLeastBandwidth, kMostBandwidth) || bandwidth > kSame * nearer) {
      missing.push_back(fmt::format("reads from {}", where));
      continue;
    }
    nearer = bandwidth;
    reads.push_back(fmt::format("{} GB/s from {}", figure(bandwidth / kGiga), where));
  }
  if (!reads.empty()) shown.push_back(fmt::format("reads {}", fmt::join(reads, ", ")));
  std::string text = shown.empty() ? "nothing measured" : fmt::format("measured, {}: ", r.target);
  text += fmt::format("{}", fmt::join(shown, "; "));
  if (!missing.empty())
    text += fmt::format(
        "; left out, because what was measured cannot be true or changed meanwhile (a shared or "
        "virtual machine): {}",
        fmt::join(missing, ", "));
  return text;
}

}  // namespace ladder
