// SPDX-License-Identifier: Apache-2.0
// Splits a range of lines over the machine's cores. Results must not depend on the split.
#pragma once
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace ladder {

inline constexpr std::int64_t kParallelGrain = 1 << 15;  // elements for which a thread pays

// Calls work(begin, end) for disjoint pieces that together are [0, count). A piece has at least `grain`
// items, so that small problems start no thread.
template <class Work>
void parallel_for(std::int64_t count, std::int64_t grain, const Work& work) {
  const std::int64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::int64_t pieces = std::clamp<std::int64_t>(count / std::max<std::int64_t>(1, grain), 1, cores);
  std::vector<std::jthread> threads;  // joined at the end, and where starting one fails
  threads.reserve(static_cast<std::size_t>(pieces - 1));
  for (std::int64_t p = 1; p < pieces; ++p) {
    threads.emplace_back(
        [&work, begin = count * p / pieces, end = count * (p + 1) / pieces] { work(begin, end); });
  }
  work(std::int64_t{0}, count / pieces);
}

}  // namespace ladder
