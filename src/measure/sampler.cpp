// SPDX-License-Identifier: Apache-2.0
#include "measure/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ladder {
namespace {

// Duration of the launches enqueued at once, so that a short kernel never waits for the host.
constexpr double kBatchS = 0.005;
constexpr int kMaxBatchRounds = 32;
constexpr double kReadingS = 0.02;  // interval between telemetry readings
constexpr double kFalls = 0.99;     // a window faster by less than this factor is noise
// relative; clocks change in steps of 15 MHz at about 2000 MHz
constexpr double kSameClock = 0.01;
constexpr double kSamePower = 0.05;      // relative
constexpr double kLongestWarmUps = 10;   // multiple of warmup_s after which warm-up ends unsettled
constexpr double kThrottledBudgets = 3;  // multiple of the budget if samples are discarded

bool near(std::optional<double> a, std::optional<double> b, double tolerance) {
  return !a || !b || std::abs(*a - *b) <= tolerance * std::max(*a, *b);
}

// Rounds to 0.1 ns: far below the resolution of CUDA events; more digits only make files larger.
double rounded(double ms) {
  constexpr double kSteps = 1e7;
  return std::round(ms * kSteps) / kSteps;
}

struct WarmUp {
  int batch = 1;  // rounds enqueued at once
  double seconds = 0, settled_mhz = 0;
};

Result<WarmUp> warm_up(Rig& rig, const MeasureOptions& options) {
  const auto interrupted = [&] { return options.interrupted && options.interrupted(); };
  const double start = rig.seconds();
  std::vector<WarmUpWindow> windows;
  WarmUp result;
  double round_s = 0;
  while (true) {
    const double window = rig.seconds(), beside = rig.seconds_beside();
    std::vector<double> rounds;
    do {
      auto times = rig.run(1);
      if (!times) return times.status();
      double sum = 0;
      for (const double ms : times.value()) sum += ms;
      rounds.push_back(sum);
    } while (!interrupted() && rig.seconds() - window < options.warmup_s / 4);
    round_s = (rig.seconds() - window - (rig.seconds_beside() - beside)) /
              static_cast<double>(rounds.size());
    windows.push_back({describe(rounds).median, rig.read()});
    result.seconds = rig.seconds() - start;
    if (interrupted()) break;
    if (result.seconds >= options.warmup_s && settled(windows)) break;
    if (result.seconds >= std::max(kLongestWarmUps * options.warmup_s, 3 * round_s)) break;
  }
  result.settled_mhz = windows.back().telemetry.sm_clock_mhz.value_or(0);
  result.batch =
      std::clamp(static_cast<int>(kBatchS / std::max(round_s, 1e-6)), 1, kMaxBatchRounds);
  return result;
}

}  // namespace

bool settled(std::span<const WarmUpWindow> windows) {
  if (windows.size() < 2) return false;
  const WarmUpWindow& last = windows.back();
  const WarmUpWindow& before = windows[windows.size() - 2];
  return last.round_ms >= kFalls * before.round_ms &&
         near(last.telemetry.sm_clock_mhz, before.telemetry.sm_clock_mhz, kSameClock) &&
         near(last.telemetry.power_w, before.telemetry.power_w, kSamePower);
}

bool throttled(const Telemetry& reading, double settled_mhz, double share) {
  if (reading.clock_reasons && (*reading.clock_reasons & kHeldBack) != 0) return true;
  return reading.sm_clock_mhz && *reading.sm_clock_mhz < share * settled_mhz;
}

Result<std::vector<Measurement>> sample(Rig& rig, const MeasureOptions& options) {
  const std::size_t kernels = rig.kernels();
  const auto warmed = warm_up(rig, options);
  if (!warmed) return warmed.status();
  const WarmUp& warm = warmed.value();

  std::vector<Measurement> results(kernels);
  std::vector<Telemetry> telemetry;
  // samples since the last reading; the next reading decides whether they count
  std::vector<double> pending;
  std::size_t discarded = 0;  // rounds
  const double start = rig.seconds();
  double last_reading = start;
  while (true) {
    auto times = rig.run(warm.batch);
    if (!times) return times.status();
    for (const double ms : times.value()) {
      if (!(ms > 0))
        return Status(Code::kLaunchFailed, "a launch took no time: nothing was measured");
    }
    pending.insert(pending.end(), times.value().begin(), times.value().end());
    const bool stop = options.interrupted && options.interrupted();
    const double share = (rig.seconds() - start) / static_cast<double>(kernels);
    const auto taken =
        static_cast<int>(results.front().samples_ms.size() + pending.size() / kernels);
    const bool enough =
        taken >= options.max_samples || (taken >= options.min_samples && share >= options.budget_s);
    if (!stop && !enough && rig.seconds() - last_reading < kReadingS) continue;
    telemetry.push_back(rig.read());
    last_reading = rig.seconds();
    if (throttled(telemetry.back(), warm.settled_mhz, options.throttle)) {
      discarded += pending.size() / kernels;
    } else {
      for (std::size_t at = 0; at < pending.size(); ++at)
        results[at % kernels].samples_ms.push_back(rounded(pending[at]));
    }
    pending.clear();
    if (stop) break;
    const int n = static_cast<int>(results.front().samples_ms.size());
    if (n < options.min_samples) {
      if (discarded > 0 && share >= kThrottledBudgets * options.budget_s) break;
      continue;
    }
    if (n >= options.max_samples || share >= options.budget_s) break;
    const bool quiet = std::ranges::all_of(results, [&](const Measurement& m) {
      return describe(m.samples_ms).noise() <= options.noise;
    });
    if (quiet && share >= options.settled_s) break;
  }
  if (results.front().samples_ms.empty()) {
    return Status(Code::kLaunchFailed,
                  fmt::format("all {} rounds were throttled: no time can be believed", discarded));
  }
  const TelemetrySummary summary = summarize(telemetry);
  for (Measurement& result : results) {
    result.ms = describe(result.samples_ms);
    result.telemetry = summary;
    result.warmup_s = warm.seconds;
    result.throttled = discarded;
  }
  return results;
}

}  // namespace ladder
