// SPDX-License-Identifier: Apache-2.0
// The rules of access.hpp. access.cpp compiles them for any host, the executor for each of its
// instruction sets.
#pragma once
#include "memory/access.hpp"
#include "memory/lane_sets.hpp"

namespace vgpu::access_count {

[[gnu::always_inline]] inline std::uint32_t size(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(__builtin_popcount(lanes));
}

// Of the lanes in `mask`, the first one of each value of its address >> shift.
template <class Address>
[[gnu::always_inline]] inline std::uint32_t firsts(const Address* addresses, std::uint32_t mask,
                                                   std::uint32_t shift) {
  if (mask == 0) return 0;
  alignas(64) std::uint32_t keys[kWarpSize];
  if (keys_of(addresses, mask, shift, keys)) return first_lanes(keys, mask);
  std::uint32_t found = 0;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const std::uint32_t lane = static_cast<std::uint32_t>(__builtin_ctz(left));
    bool is_first = true;
    for (std::uint32_t before = found; before != 0; before &= before - 1)
      is_first &= addresses[__builtin_ctz(before)] >> shift != addresses[lane] >> shift;
    found |= static_cast<std::uint32_t>(is_first) << lane;
  }
  return found;
}

constexpr std::uint32_t kSectorShift = 5;

[[gnu::always_inline]] inline std::uint32_t sectors(const std::uint64_t* addresses,
                                                    std::uint32_t mask) {
  return size(firsts(addresses, mask, kSectorShift));
}

// The sectors of atomics and reductions. Lanes with the same address are serialised, and the
// sectors of each pass are counted again. Measured on an H200.
[[gnu::always_inline]] inline std::uint32_t sectors_in_turns(const std::uint64_t* addresses,
                                                             std::uint32_t mask) {
  std::uint32_t sum = 0;
  while (mask != 0) {
    const std::uint32_t turn = firsts(addresses, mask, 0);
    sum += sectors(addresses, turn);
    mask &= ~turn;
  }
  return sum;
}

// An access of several words occupies as many neighbouring banks, and is aligned to its size. So
// two accesses need the same banks or none of the other's, and share all words or none. The
// addresses of the cost are those of accesses of whole words by one group.
[[gnu::always_inline]] inline AccessCost passes(const std::uint32_t* addresses, std::uint32_t mask,
                                                std::uint32_t words, std::uint32_t group) {
  constexpr std::uint32_t kBanks = 32, kWordShift = 2;
  const std::uint32_t shift = kWordShift + static_cast<std::uint32_t>(__builtin_ctz(words));
  alignas(64) std::uint32_t places[kWarpSize], banks[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) places[i] = addresses[i] >> shift;
  for (int i = 0; i < kWarpSize; ++i) banks[i] = places[i] & (kBanks / words - 1);
  AccessCost cost;
  for (std::uint32_t first = 0; first < kWarpSize; first += group) {
    const std::uint32_t lanes = mask & (group == kWarpSize ? ~0u : ((1u << group) - 1) << first);
    const std::uint32_t firsts_of = first_lanes(places, lanes);
    cost.addresses += size(firsts_of);
    cost.units += firsts_of == 0 ? 0 : most_of_one_key(banks, firsts_of);
  }
  return cost;
}

// Whether lanes n and n^distance have the same address, for all pairs of `lanes` with both lanes
// active. strict: a pair with one active lane has not.
[[gnu::always_inline]] inline bool paired(const std::uint32_t* addresses, std::uint32_t mask,
                                          std::uint32_t lanes, std::uint32_t distance,
                                          bool strict) {
  std::uint32_t apart = 0;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    const std::uint32_t other = lane ^ distance, inside = lanes >> lane & 1,
                        one = mask >> lane & inside, two = mask >> other & inside;
    apart |= (addresses[lane] ^ addresses[other]) & (0u - (one & two));
    apart |= (one ^ two) & static_cast<std::uint32_t>(strict);
  }
  return apart == 0;
}

[[gnu::always_inline]] inline std::uint32_t words_of(std::uint32_t bytes) {
  return bytes < 4 ? 1 : bytes / 4;
}

// The cost of an access whose passes serve groups of `group` lanes.
[[gnu::always_inline]] inline AccessCost wavefronts(const std::uint32_t* addresses,
                                                    std::uint32_t mask, std::uint32_t bytes,
                                                    std::uint32_t group) {
  AccessCost cost = passes(addresses, mask, words_of(bytes), group);
  if (bytes != 4) cost.addresses = size(firsts(addresses, mask, 0));
  return cost;
}

[[gnu::always_inline]] inline AccessCost store_cost(const std::uint32_t* addresses,
                                                    std::uint32_t mask, std::uint32_t bytes) {
  return wavefronts(addresses, mask, bytes, kWarpSize / words_of(bytes));
}

// Whether two groups of a load, `lanes`, that have no bank conflicts take one wavefront: if
// pairs of lanes n and n^1, or n and n^2, have the same address. Of 16-byte loads, the lower half
// warp needs no pairs where the last lane is inactive, and whole pairs where it is active. Measured
// on an H200 with 829 patterns.
[[gnu::always_inline]] inline bool are_joined(const std::uint32_t* addresses, std::uint32_t mask,
                                              std::uint32_t lanes) {
  constexpr std::uint32_t kLowerHalf = 0xffff;
  const bool last = mask >> (kWarpSize - 1) != 0, strict = lanes == kLowerHalf;
  return (strict && !last) || paired(addresses, mask, lanes, 1, strict) ||
         paired(addresses, mask, lanes, 2, strict);
}

[[gnu::always_inline]] inline AccessCost load_cost(const std::uint32_t* addresses,
                                                   std::uint32_t mask, std::uint32_t bytes) {
  const std::uint32_t words = words_of(bytes), two_groups = 2 * kWarpSize / words;
  if (words == 1) return wavefronts(addresses, mask, bytes, kWarpSize);
  AccessCost cost{0, size(firsts(addresses, mask, 0))};
  for (std::uint32_t first = 0; first < kWarpSize; first += two_groups) {
    const std::uint32_t lanes = ~0u >> (kWarpSize - two_groups) << first;
    const std::uint32_t joined = passes(addresses, mask & lanes, words, kWarpSize).units;
    cost.units += joined <= 1 && are_joined(addresses, mask, lanes)
                      ? joined
                      : passes(addresses, mask & lanes, words, two_groups / 2).units;
  }
  return cost;
}

}  // namespace vgpu::access_count
