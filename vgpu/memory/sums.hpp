// SPDX-License-Identifier: Apache-2.0
// What a launch adds to floats in device memory, in the order in which it adds it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vgpu {

struct Sum {
  void (*add)(std::uint64_t address, std::uint64_t value);
  std::uint64_t address, value;
};

// In parts, the first one first.
using Sums = std::vector<std::vector<Sum>>;

inline constexpr std::size_t kMostSums = std::size_t{1} << 23;

}  // namespace vgpu
