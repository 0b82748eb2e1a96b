// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ladder::test {

// Integers from -4 to 4: every sum of products is exact in every precision, so that results are
// compared with ==.
inline std::vector<float> integers(std::int64_t count, unsigned seed) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(seed >> 16) % 9 - 4);
  }
  return x;
}

}  // namespace ladder::test
