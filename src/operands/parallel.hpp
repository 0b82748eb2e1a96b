// SPDX-License-Identifier: Apache-2.0
// Divides a range of items among the cores. Results must not depend on the division.
#pragma once
#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace ladder {

inline constexpr std::int64_t kParallelGrain = 1 << 15;  // elements that justify starting a thread

// Calls work(begin, end) for disjoint ranges that together cover [0, count). Each range has at
// least `grain` items, so that small problems start no thread.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t grain, const Work& work) {
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t pieces =
      std::clamp<std::int64_t>(count / std::max<std::int64_t>(1, grain), 1, cores);
  const auto part = [&](std::int64_t p) { work(count * p / pieces, count * (p + 1) / pieces); };
  std::vector<std::jthread> threads;  // joined at the end of scope, also if starting a thread fails
  threads.reserve(static_cast<std::size_t>(pieces - 1));
  std::int64_t next = 1;
  try {
    for (; next < pieces; ++next) threads.emplace_back([&part, next] { part(next); });
    // no more threads available: this thread does the remaining ranges
  } catch (const std::system_error&) {
  }
  part(0);
  for (; next < pieces; ++next) part(next);
}

}  // namespace ladder
