// SPDX-License-Identifier: Apache-2.0
#include "memory/access.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "memory/access_count.hpp"

namespace vgpu {

std::uint32_t global_sectors(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t) {
  return access_count::sectors(addresses, mask);
}

std::uint32_t shared_store_wavefronts(const std::uint32_t* addresses, std::uint32_t mask,
                                      std::uint32_t bytes) {
  return access_count::store_cost(addresses, mask, bytes).units;
}

std::uint32_t shared_load_wavefronts(const std::uint32_t* addresses, std::uint32_t mask,
                                     std::uint32_t bytes) {
  return access_count::load_cost(addresses, mask, bytes).units;
}

std::uint32_t word_runs(const std::uint32_t* distances, std::uint32_t mask, std::uint32_t bytes,
                        WordRun* runs) {
  constexpr std::int32_t kWordBytes = 4;
  std::array<std::int32_t, kWarpSize> firsts;
  std::size_t n = 0;
  for (; mask != 0; mask &= mask - 1)
    firsts[n++] = static_cast<std::int32_t>(distances[__builtin_ctz(mask)]) / kWordBytes;
  std::sort(firsts.begin(), firsts.begin() + static_cast<std::ptrdiff_t>(n));
  const std::uint32_t words = bytes / kWordBytes;
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    WordRun* const last = count == 0 ? nullptr : &runs[count - 1];
    const std::int32_t end =
        last == nullptr ? 0 : last->first + static_cast<std::int32_t>(last->words);
    if (last != nullptr && firsts[i] <= end) {
      const std::int32_t new_end = std::max(end, firsts[i] + static_cast<std::int32_t>(words));
      last->words = static_cast<std::uint32_t>(new_end - last->first);
    } else if (count == kMostRuns) {
      return 0;
    } else {
      runs[count++] = {firsts[i], words};
    }
  }
  return count;
}

}  // namespace vgpu
