// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/access.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace vgpu {
namespace {

constexpr std::uint32_t kFullMask = 0xffffffffu;
constexpr std::uint32_t kBanks = 32;
constexpr std::uint32_t kWordBytes = 4;

// Words that one bank must deliver: at most one for each lane of a group, or each word of one.
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

// One pass over the lanes of `mask`: the busiest bank's distinct words.
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

// Whether lanes n and n^distance have one address, wherever both take part.
bool paired(const std::uint32_t* addresses, std::uint32_t mask, std::uint32_t distance) {
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint32_t other = lane ^ distance;
    if ((mask >> lane & mask >> other & 1) != 0 && addresses[lane] != addresses[other]) return false;
  }
  return true;
}

std::uint32_t words_of(std::uint32_t bytes) { return std::max(bytes / kWordBytes, 1u); }

// Every lane the same address.
template <class Address>
bool is_uniform(const Address* addresses) {
  Address difference = 0;
  for (int i = 1; i < kWarpSize; ++i) difference |= addresses[i] ^ addresses[0];
  return difference == 0;
}

// Lane i follows lane i - 1 without a gap.
template <class Address>
bool is_consecutive(const Address* addresses, std::uint32_t bytes) {
  Address difference = 0;
  for (int i = 1; i < kWarpSize; ++i) {
    difference |= addresses[i] ^ (addresses[0] + static_cast<Address>(i) * bytes);
  }
  return difference == 0;
}

}  // namespace

std::uint32_t global_sectors(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes) {
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
  std::sort(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(n));
  const auto end = std::unique(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(n));
  return static_cast<std::uint32_t>(end - sectors.begin());
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
