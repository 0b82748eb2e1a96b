// SPDX-License-Identifier: Apache-2.0
#include "host/core_clock.hpp"

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
      asm volatile("" : "+r"(value));  // neither folded nor reordered
    }
  }
  return value;
}

double core_clock_now() {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t kFew = 512, kMany = 4096;
  const auto begin = Clock::now();
  (void)dependent_adds(kFew);
  const auto middle = Clock::now();
  (void)dependent_adds(kMany);
  const auto end = Clock::now();
  // What both have around them, the reading of the time, is in neither difference.
  const std::chrono::duration<double> difference = (end - middle) - (middle - begin);
  return difference.count() > 0 ? static_cast<double>(kMany - kFew) / difference.count() : 0;
}

}  // namespace ladder::host
