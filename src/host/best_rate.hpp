// SPDX-License-Identifier: Apache-2.0
// Measures the rate of an operation: the best of several windows of a few milliseconds, because
// other load on the machine can only lower a rate.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace ladder::host {

// Units of work per second. `work(n)` does n units; `least` is the initial n.
template <class Work>
double best_rate(std::int64_t least, const Work& work) {
  using Clock = std::chrono::steady_clock;
  constexpr int kWindows = 8;
  constexpr double kWindow = 5e-3;  // seconds
  std::int64_t units = least;
  double best = 0;
  for (int window = 0; window < kWindows;) {
    const auto begin = Clock::now();
    work(units);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds < kWindow) {
      units *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(units) / seconds);
    ++window;
  }
  return best;
}

}  // namespace ladder::host
