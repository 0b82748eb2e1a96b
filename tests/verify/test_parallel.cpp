// SPDX-License-Identifier: Apache-2.0
// Every item is processed once, by any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "../support/no_threads.hpp"
#include "operands/parallel.hpp"

namespace ladder {
namespace {

std::vector<std::atomic<int>> count_each(std::int64_t items) {
  std::vector<std::atomic<int>> times(static_cast<std::size_t>(items));
  parallel_for(items, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
  });
  return times;
}

bool once(const std::vector<std::atomic<int>>& times) {
  return std::ranges::all_of(times, [](const auto& n) { return n == 1; });
}

TEST(ParallelFor, WorksOnEveryItemOnce) {
  for (const std::int64_t items : {0, 1, 2, 1000}) EXPECT_TRUE(once(count_each(items))) << items;
}

TEST(ParallelFor, NeedsNoThreads) {
  const test::NoThreads none;
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  EXPECT_TRUE(once(count_each(1000)));
}

}  // namespace
}  // namespace ladder
