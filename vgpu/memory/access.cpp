// SPDX-License-Identifier: Apache-2.0
#include "memory/access.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace vgpu {
namespace {

constexpr std::uint32_t kFullMask = 0xffffffffu;
constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kWordBytes = 4;

// Words that one bank must deliver: at most one per lane of a group, or all words of one lane.
struct Bank {
  std::uint32_t words[kWarpSize];
  std::uint32_t count = 0;

  void add(std::uint32_t word) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (words[i] == word) return;
    }
    words[count++] = word;
  }
};

// One pass over the lanes of `mask`. Returns the number of distinct words in the busiest bank.
std::uint32_t pass(const std::uint32_t* addresses, std::uint32_t mask, std::uint32_t words_each) {
  std::array<Bank, kBanks> banks;
  std::uint32_t busiest = 0;
  for (; mask != 0; mask &= mask - 1) {
    const std::uint32_t first = addresses[__builtin_ctz(mask)] / kWordBytes;
    for (std::uint32_t word = first; word != first + words_each; ++word) {
      Bank& bank = banks[word % kBanks];
      bank.add(word);
      busiest = std::max(busiest, bank.count);
    }
  }
  return busiest;
}

std::uint32_t passes(const std::uint32_t* addresses, std::uint32_t mask, std::uint32_t words_each,
                     std::uint32_t group) {
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < kWarpSize; first += group) {
    const std::uint32_t lanes = group == kWarpSize ? kFullMask : ((1u << group) - 1) << first;
    if ((mask & lanes) != 0) sum += pass(addresses, mask & lanes, words_each);
  }
  return sum;
}

// Whether lanes n and n^distance have the same address, for all pairs with both lanes active.
bool paired(const std::uint32_t* addresses, std::uint32_t mask, std::uint32_t distance) {
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint32_t other = lane ^ distance;
    if ((mask >> lane & mask >> other & 1) != 0 && addresses[lane] != addresses[other])
      return false;
  }
  return true;
}

std::uint32_t words_of(std::uint32_t bytes) { return std::max(bytes / kWordBytes, 1u); }

// Whether all lanes have the same address.
template <class Address>
bool is_uniform(const Address* addresses) {
  Address difference = 0;
  for (int i = 1; i < kWarpSize; ++i) difference |= addresses[i] ^ addresses[0];
  return difference == 0;
}

// Whether lane i's access directly follows lane i - 1's.
template <class Address>
bool is_consecutive(const Address* addresses, std::uint32_t bytes) {
  Address difference = 0;
  for (int i = 1; i < kWarpSize; ++i) {
    difference |= addresses[i] ^ (addresses[0] + static_cast<Address>(i) * bytes);
  }
  return difference == 0;
}

// Number of distinct values among the first `n`; sorts them.
template <class Value>
std::uint32_t count_distinct(std::array<Value, kWarpSize>& values, std::size_t n) {
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(n);
  std::sort(values.begin(), end);
  return static_cast<std::uint32_t>(std::unique(values.begin(), end) - values.begin());
}

template <class Address>
std::uint32_t distinct(const Address* addresses, std::uint32_t mask) {
  std::array<Address, kWarpSize> active;
  std::size_t n = 0;
  for (; mask != 0; mask &= mask - 1) active[n++] = addresses[__builtin_ctz(mask)];
  return count_distinct(active, n);
}

}  // namespace

std::uint32_t distinct_addresses(const std::uint64_t* addresses, std::uint32_t mask) {
  return distinct(addresses, mask);
}
std::uint32_t distinct_addresses(const std::uint32_t* addresses, std::uint32_t mask) {
  return distinct(addresses, mask);
}

std::uint32_t global_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                             std::uint32_t bytes) {
  constexpr std::uint64_t kSector = 32;
  if (mask == 0) return 0;
  if (mask == kFullMask) {
    if (is_uniform(addresses)) return 1;
    if (is_consecutive(addresses, bytes)) {
      const std::uint64_t last = addresses[0] + kWarpSize * std::uint64_t{bytes} - 1;
      return static_cast<std::uint32_t>(last / kSector - addresses[0] / kSector + 1);
    }
  }
  std::array<std::uint64_t, kWarpSize> sectors;
  std::size_t n = 0;
  for (; mask != 0; mask &= mask - 1) sectors[n++] = addresses[__builtin_ctz(mask)] / kSector;
  return count_distinct(sectors, n);
}

std::uint32_t word_runs(const std::uint32_t* distances, std::uint32_t mask, std::uint32_t bytes,
                        WordRun* runs) {
  std::array<std::int32_t, kWarpSize> firsts;
  std::size_t n = 0;
  for (; mask != 0; mask &= mask - 1) {
    firsts[n++] = static_cast<std::int32_t>(distances[__builtin_ctz(mask)]) /
                  static_cast<std::int32_t>(kWordBytes);
  }
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

std::uint32_t atomic_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                             std::uint32_t bytes) {
  std::uint32_t sectors = 0;
  while (mask != 0) {
    std::uint32_t turn = 0;  // first lane of each remaining address
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      bool is_first = true;
      for (std::uint32_t before = turn; before != 0; before &= before - 1) {
        is_first = is_first && addresses[__builtin_ctz(before)] != addresses[lane];
      }
      if (is_first) turn |= 1u << lane;
    }
    sectors += global_sectors(addresses, turn, bytes);
    mask &= ~turn;
  }
  return sectors;
}

std::uint32_t shared_store_wavefronts(const std::uint32_t* addresses, std::uint32_t mask,
                                      std::uint32_t bytes) {
  const std::uint32_t words = words_of(bytes);
  if (mask == kFullMask && bytes >= kWordBytes && is_consecutive(addresses, bytes)) return words;
  return passes(addresses, mask, words, kWarpSize / words);
}

std::uint32_t shared_load_wavefronts(const std::uint32_t* addresses, std::uint32_t mask,
                                     std::uint32_t bytes) {
  const std::uint32_t words = words_of(bytes);
  if (mask == kFullMask && bytes >= kWordBytes && is_consecutive(addresses, bytes)) return words;
  if (words == 1) return passes(addresses, mask, words, kWarpSize);
  const bool pairs = paired(addresses, mask, 1) || paired(addresses, mask, 2);
  return passes(addresses, mask, words, (pairs ? 2 : 1) * kWarpSize / words);
}

}  // namespace vgpu
