// SPDX-License-Identifier: Apache-2.0
#include "host/core_clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace ladder::host {

std::uint64_t dependent_adds(std::int64_t count) {
  constexpr int kUnrolled = 16;
  std::uint64_t value = 1;
  const auto step = static_cast<std::uint64_t>(count);
  for (std::int64_t i = 0; i < count; i += kUnrolled) {
#pragma GCC unroll 16
    for (int add = 0; add < kUnrolled; ++add) {
      value += step;
      asm volatile("" : "+r"(value));  // prevents folding and reordering
    }
  }
  return value;
}

double core_clock_now() {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr std::int64_t kAdds = 1024;
  constexpr int kPieces = 3;
  constexpr double kSame = 0.03;
  static const Seconds reading = [] {
    Seconds least{1};
    for (int i = 0; i < 100; ++i) {
      const auto begin = Clock::now();
      least = std::min(least, Seconds(Clock::now() - begin));
    }
    return least;
  }();
  std::array<Clock::time_point, kPieces + 1> at;
  at[0] = Clock::now();
  for (int i = 0; i < kPieces; ++i) {
    (void)dependent_adds(kAdds);
    at[i + 1] = Clock::now();
  }
  std::array<double, kPieces> hz{};
  for (int i = 0; i < kPieces; ++i)
    hz[i] =
        static_cast<double>(kAdds) / std::max(1e-9, (Seconds(at[i + 1] - at[i]) - reading).count());
  std::ranges::sort(hz);
  return hz.back() <= (1 + kSame) * hz.front() ? hz[kPieces / 2] : 0;
}

}  // namespace ladder::host
