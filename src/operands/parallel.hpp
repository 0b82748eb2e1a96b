// SPDX-License-Identifier: Apache-2.0
// Splits a range of lines over the machine's cores. Results must not depend on the split.
#pragma once
#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace ladder {

inline constexpr std::int64_t kParallelGrain = 1 << 15;  // elements for which a thread pays

// Calls work(begin, end) for disjoint pieces that together are [0, count). A piece has at least
// `grain` items, so that small problems start no thread.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t grain, const Work& work) {
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t pieces =
      std::clamp<std::int64_t>(count / std::max<std::int64_t>(1, grain), 1, cores);
  const auto part = [&](std::int64_t p) { work(count * p / pieces, count * (p + 1) / pieces); };
  std::vector<std::jthread> threads;  // joined at the end, and where starting one fails
  threads.reserve(static_cast<std::size_t>(pieces - 1));
  std::int64_t next = 1;
  try {
    for (; next < pieces; ++next) threads.emplace_back([&part, next] { part(next); });
  } catch (const std::system_error&) {  // no more threads: this one does the rest
  }
  part(0);
  for (; next < pieces; ++next) part(next);
}

}  // namespace ladder
