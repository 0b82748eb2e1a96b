// SPDX-License-Identifier: Apache-2.0
// Access counting, compared with references that restate the rules as sets, and with values
// measured on hardware.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "memory/access_count.hpp"

namespace vgpu {
namespace {

constexpr std::uint32_t kAll = 0xffffffffu;
template <class Address>
using Lanes = std::array<Address, kWarpSize>;

// std::mt19937 with values of 32 bits, where that has 64.
struct Random {
  using result_type = std::uint32_t;
  explicit Random(std::uint32_t seed) : engine(seed) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffu; }
  result_type operator()() { return static_cast<result_type>(engine()); }
  std::mt19937 engine;
};

bool is_active(std::uint32_t mask, int lane) { return (mask >> lane & 1) != 0; }

std::uint32_t reference_sectors(const Lanes<std::uint64_t>& lanes, std::uint32_t mask,
                                std::uint32_t bytes) {
  std::set<std::uint64_t> sectors;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!is_active(mask, lane)) continue;
    for (std::uint32_t b = 0; b < bytes; ++b) sectors.insert((lanes[lane] + b) / 32);
  }
  return static_cast<std::uint32_t>(sectors.size());
}

// The wavefronts of the lanes [first, end) together.
std::uint32_t together(const Lanes<std::uint32_t>& lanes, std::uint32_t mask, std::uint32_t bytes,
                       int first, int end) {
  std::map<std::uint32_t, std::set<std::uint32_t>> words;  // by bank
  for (int lane = first; lane < end; ++lane) {
    if (!is_active(mask, lane)) continue;
    for (std::uint32_t b = 0; b < bytes; ++b) {
      const std::uint32_t word = (lanes[lane] + b) / 4;
      words[word % 32].insert(word);
    }
  }
  std::size_t busiest = 0;
  for (const auto& [bank, distinct] : words) busiest = std::max(busiest, distinct.size());
  return static_cast<std::uint32_t>(busiest);
}

std::uint32_t reference_wavefronts(const Lanes<std::uint32_t>& lanes, std::uint32_t mask,
                                   std::uint32_t bytes, bool is_load) {
  const int group = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  std::uint32_t wavefronts = 0;
  if (!is_load || bytes <= 4) {
    for (int first = 0; first < kWarpSize; first += group)
      wavefronts += together(lanes, mask, bytes, first, first + group);
    return wavefronts;
  }
  for (int first = 0; first < kWarpSize; first += 2 * group) {
    const int middle = first + group, end = middle + group;
    const bool lower_half = bytes == 16 && first == 0, last = is_active(mask, kWarpSize - 1);
    bool joined = lower_half && !last;
    for (const int distance : {1, 2}) {
      bool same = true;
      for (int lane = first; lane < end; ++lane) {
        const int other = lane ^ distance;
        if (is_active(mask, lane) && is_active(mask, other))
          same = same && lanes[lane] == lanes[other];
        else if (lower_half && is_active(mask, lane) != is_active(mask, other))
          same = false;
      }
      joined = joined || same;
    }
    const std::uint32_t both = together(lanes, mask, bytes, first, end);
    wavefronts += joined && both <= 1 ? both
                                      : together(lanes, mask, bytes, first, middle) +
                                            together(lanes, mask, bytes, middle, end);
  }
  return wavefronts;
}

template <class Address>
Lanes<Address> strided(Address base, Address stride) {
  Lanes<Address> lanes;
  for (int i = 0; i < kWarpSize; ++i) lanes[i] = base + static_cast<Address>(i) * stride;
  return lanes;
}

// Access patterns of typical kernels, and random ones: strides, two-dimensional tiles, XOR
// swizzles, permutations.
template <class Address>
Lanes<Address> random_pattern(Random& random, std::uint32_t bytes, Address limit) {
  Lanes<Address> lanes;
  const Address base = random() % (limit / 2) / bytes * bytes;
  const Address unit = bytes;
  switch (random() % 6) {
    case 0: lanes = strided<Address>(base, unit * (random() % 40)); break;
    case 1: {
      const std::uint32_t width = 1u << random() % 6;
      const Address across = random() % 3, down = random() % 130;
      for (std::uint32_t i = 0; i < kWarpSize; ++i) {
        lanes[i] = base + unit * (i % width * across + i / width * down);
      }
      break;
    }
    case 2: {
      const std::uint32_t key = random() % 32;
      for (std::uint32_t i = 0; i < kWarpSize; ++i) lanes[i] = base + unit * (i ^ key);
      break;
    }
    case 3: {
      const std::uint32_t shift = random() % 5;
      for (std::uint32_t i = 0; i < kWarpSize; ++i) lanes[i] = base + unit * (i >> shift);
      break;
    }
    case 4:
      lanes = strided<Address>(base, unit);
      std::shuffle(lanes.begin(), lanes.end(), random);
      break;
    default:
      for (Address& a : lanes) a = random() % limit / bytes * bytes;
  }
  return lanes;
}

std::uint32_t random_mask(Random& random) {
  switch (random() % 4) {
    case 0: return kAll;
    case 1: return kAll >> random() % 32;
    case 2: return 1u << random() % 32;
    default: return random();
  }
}

template <class Address>
std::uint32_t distinct(const Address* addresses, std::uint32_t mask) {
  return access_count::size(access_count::firsts(addresses, mask, 0));
}

constexpr std::uint32_t kSizes[] = {1, 2, 4, 8, 16};

TEST(GlobalSectors, AgreeWithTheReference) {
  Random random(1);
  for (int n = 0; n < 20000; ++n) {
    const std::uint32_t bytes = kSizes[random() % 5], mask = random_mask(random);
    const auto lanes = random_pattern<std::uint64_t>(random, bytes, 1 << 16);
    ASSERT_EQ(global_sectors(lanes.data(), mask, bytes), reference_sectors(lanes, mask, bytes))
        << n;
  }
}

TEST(GlobalSectors, AddressesFarApart) {
  Lanes<std::uint64_t> lanes = strided<std::uint64_t>(64, std::uint64_t{1} << 37);
  EXPECT_EQ(global_sectors(lanes.data(), kAll, 4), 32u);
  EXPECT_EQ(distinct(lanes.data(), kAll), 32u);
  lanes[7] = lanes[20];
  lanes[8] = lanes[20] + 4;
  EXPECT_EQ(global_sectors(lanes.data(), kAll, 4), 30u);
  EXPECT_EQ(distinct(lanes.data(), kAll), 31u);
  EXPECT_EQ(access_count::sectors_in_turns(lanes.data(), kAll), 31u);
}

TEST(AtomicSectors, LanesOfOneAddressTakeTurns) {
  Random random(4);
  for (int n = 0; n < 20000; ++n) {
    const std::uint32_t bytes = kSizes[random() % 5], mask = random_mask(random);
    const auto lanes = random_pattern<std::uint64_t>(random, bytes, 1 << 16);
    std::map<std::uint64_t, std::map<std::uint64_t, std::uint32_t>>
        lanes_at;  // by sector, by address
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (is_active(mask, lane)) ++lanes_at[lanes[lane] / 32][lanes[lane]];
    }
    std::uint32_t sum = 0;
    for (const auto& [sector, addresses] : lanes_at) {
      std::uint32_t most = 0;
      for (const auto& [address, count] : addresses) most = std::max(most, count);
      sum += most;
    }
    ASSERT_EQ(access_count::sectors_in_turns(lanes.data(), mask), sum) << n;
  }
}

TEST(SharedWavefronts, AgreeWithTheReference) {
  Random random(2);
  for (int n = 0; n < 20000; ++n) {
    const std::uint32_t bytes = kSizes[random() % 5], mask = random_mask(random);
    const auto lanes = random_pattern<std::uint32_t>(random, bytes, 1 << 14);
    ASSERT_EQ(shared_load_wavefronts(lanes.data(), mask, bytes),
              reference_wavefronts(lanes, mask, bytes, true))
        << n;
    ASSERT_EQ(shared_store_wavefronts(lanes.data(), mask, bytes),
              reference_wavefronts(lanes, mask, bytes, false))
        << n;
  }
}

TEST(GlobalSectors, KnownPatterns) {
  for (std::uint32_t bytes : kSizes) {
    const auto consecutive = strided<std::uint64_t>(512, bytes);
    EXPECT_EQ(global_sectors(consecutive.data(), kAll, bytes), bytes);  // 32 * bytes / 32
    const auto uniform = strided<std::uint64_t>(512, 0);
    EXPECT_EQ(global_sectors(uniform.data(), kAll, bytes), 1u);
    const auto column = strided<std::uint64_t>(512, 4096);
    EXPECT_EQ(global_sectors(column.data(), kAll, bytes), 32u);
    EXPECT_EQ(global_sectors(column.data(), 0, bytes), 0u);
    EXPECT_EQ(global_sectors(column.data(), 0x80000001u, bytes), 2u);
  }
  const auto shifted = strided<std::uint64_t>(516, 4);
  EXPECT_EQ(global_sectors(shifted.data(), kAll, 4), 5u);
}

TEST(SharedWavefronts, KnownPatterns) {
  const auto load = [](const Lanes<std::uint32_t>& l, std::uint32_t bytes) {
    return shared_load_wavefronts(l.data(), kAll, bytes);
  };
  const auto store = [](const Lanes<std::uint32_t>& l, std::uint32_t bytes) {
    return shared_store_wavefronts(l.data(), kAll, bytes);
  };
  EXPECT_EQ(load(strided<std::uint32_t>(0, 4), 4), 1u);
  EXPECT_EQ(load(strided<std::uint32_t>(0, 8), 4), 2u);     // even banks only
  EXPECT_EQ(load(strided<std::uint32_t>(0, 128), 4), 32u);  // one bank
  EXPECT_EQ(load(strided<std::uint32_t>(0, 132), 4), 1u);   // padded column
  EXPECT_EQ(load(strided<std::uint32_t>(0, 0), 4), 1u);     // broadcast
  EXPECT_EQ(load(strided<std::uint32_t>(3, 1), 1), 1u);     // bytes of nine words
  EXPECT_EQ(load(strided<std::uint32_t>(0, 8), 8), 2u);
  EXPECT_EQ(load(strided<std::uint32_t>(0, 16), 16), 4u);
  EXPECT_EQ(store(strided<std::uint32_t>(0, 8), 8), 2u);
  EXPECT_EQ(store(strided<std::uint32_t>(0, 16), 16), 4u);
  // The rule of pairs of lanes: a broadcast of 8 bytes takes one wavefront, of 16 bytes two; stores
  // have no pairs.
  EXPECT_EQ(load(strided<std::uint32_t>(64, 0), 8), 1u);
  EXPECT_EQ(load(strided<std::uint32_t>(64, 0), 16), 2u);
  EXPECT_EQ(store(strided<std::uint32_t>(64, 0), 8), 2u);
  EXPECT_EQ(store(strided<std::uint32_t>(64, 0), 16), 4u);
}

// Pairs take one wavefront only without bank conflicts, and, in the lower half of 16-byte loads,
// without a pair of which one lane is inactive, unless the last lane is. As an H200 counts.
TEST(SharedWavefronts, PairsOfAPartOfAWarp) {
  const auto of = [](auto place, std::uint32_t bytes) {
    Lanes<std::uint32_t> lanes;
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) lanes[lane] = place(lane) * bytes;
    return lanes;
  };
  const auto alternating = of([](std::uint32_t lane) { return lane % 2 * 16; }, 8);
  EXPECT_EQ(shared_load_wavefronts(alternating.data(), kAll, 8), 4u);
  const auto conflicts = of([](std::uint32_t lane) { return lane % 2 * 8; }, 16);
  EXPECT_EQ(shared_load_wavefronts(conflicts.data(), kAll, 16), 8u);
  const auto pairs = of([](std::uint32_t lane) { return lane / 2 % 8; }, 16);
  EXPECT_EQ(shared_load_wavefronts(pairs.data(), kAll, 16), 2u);
  EXPECT_EQ(shared_load_wavefronts(pairs.data(), kAll & ~1u, 16), 3u);
  EXPECT_EQ(shared_load_wavefronts(pairs.data(), kAll & ~3u, 16), 2u);
  EXPECT_EQ(shared_load_wavefronts(pairs.data(), kAll >> 1 & ~1u, 16), 2u);
  EXPECT_EQ(shared_load_wavefronts(pairs.data(), kAll & ~0x10000u, 16), 2u);
}

// A warp that reads its operands for an outer product: half of the lanes' bits select rows, the
// others columns. The assignment of bits decides between two and four wavefronts.
TEST(SharedWavefronts, OuterProductLaneMaps) {
  Lanes<std::uint32_t> low_bits, high_bits, interleaved;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    low_bits[i] = 16 * (i % 8);                       // n and n^8 agree, n and n^1 do not
    high_bits[i] = 16 * (i / 4);                      // n, n^1 and n^2 agree
    interleaved[i] = 16 * ((i & 1) | (i >> 3 << 1));  // n and n^2 agree
  }
  EXPECT_EQ(shared_load_wavefronts(low_bits.data(), kAll, 16), 4u);
  EXPECT_EQ(shared_load_wavefronts(high_bits.data(), kAll, 16), 2u);
  EXPECT_EQ(shared_load_wavefronts(interleaved.data(), kAll, 16), 2u);
}

// Shared loads of a published ladder's kernels at 256^3, whose wavefronts ncu counted on an H200.
// One step of k of a block's 128 x 128 x 8 tile with 8 x 8 outputs per thread in a 16 x 16 grid of
// threads: 4 consecutive floats of the column operand at (tid % 16) * 8, of the row operand at (tid
// / 16) * 8.
TEST(SharedWavefronts, WholeBlockOfAPublishedKernel) {
  std::uint32_t wavefronts = 0;
  for (std::uint32_t warp = 0; warp < 8; ++warp) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      Lanes<std::uint32_t> row, column;
      for (std::uint32_t i = 0; i < kWarpSize; ++i) {
        const std::uint32_t tid = warp * 32 + i;
        row[i] = 4 * (tid / 16 * 8 + half * 4);
        column[i] = 4 * (tid % 16 * 8 + half * 4);
      }
      wavefronts += shared_load_wavefronts(row.data(), kAll, 16) +
                    shared_load_wavefronts(column.data(), kAll, 16);
    }
  }
  // 4 blocks, 32 tiles of 8 steps: the kernel's 163,840 wavefronts.
  EXPECT_EQ(wavefronts * 4 * 32 * 8, 163840u);
}

// The runs of the last pattern contain each word once, in order; there are none if there would be
// many.
void expect_runs_are_the_words(SharedMemo& memo, const Lanes<std::uint32_t>& lanes,
                               std::uint32_t mask, std::uint32_t bytes) {
  if (bytes < 4 || mask == 0) return;
  const std::uint32_t base = lanes[static_cast<std::size_t>(__builtin_ctz(mask))];
  std::set<std::int32_t> words, found;
  for (int i = 0; i < kWarpSize; ++i) {
    for (std::uint32_t b = 0; b < bytes && is_active(mask, i); b += 4) {
      words.insert(static_cast<std::int32_t>(lanes[i] + b - base) / 4);
    }
  }
  std::uint32_t runs = 0;
  for (auto word = words.begin(); word != words.end(); ++word)
    runs += words.count(*word - 1) == 0 ? 1 : 0;
  std::uint32_t sum = 0;
  const AccessCost cost = memo([](auto...) { return AccessCost{}; }, lanes.data(), mask, bytes);
  ASSERT_EQ(cost.addresses, distinct(lanes.data(), mask));  // known by now
  for (const WordRun& run : memo.runs(bytes)) {
    for (std::uint32_t w = 0; w < run.words; ++w)
      found.insert(run.first + static_cast<std::int32_t>(w));
    sum += run.words;
  }
  EXPECT_EQ(found, runs > kMostRuns ? std::set<std::int32_t>{} : words);
  EXPECT_EQ(sum, found.size());
}

template <class Memo, class Address, class Count>
void expect_memo_is_transparent(Count count, Address limit) {
  Random random(3);
  for (std::uint32_t bytes : kSizes) {
    Memo memo;
    std::vector<std::pair<Lanes<Address>, std::uint32_t>> patterns;
    for (int n = 0; n < 7; ++n)
      patterns.emplace_back(random_pattern<Address>(random, bytes, limit), random_mask(random));
    for (int n = 0; n < 5000; ++n) {
      auto [lanes, mask] = patterns[random() % (n % 2 == 0 ? 3 : patterns.size())];
      const Address shift = random() % limit / bytes * bytes;
      for (int i = 0; i < kWarpSize; ++i) {
        lanes[i] += shift;
        if (!is_active(mask, i)) lanes[i] = random();  // never read
      }
      const auto cost_of = [&](const Address* addresses, std::uint32_t lanes_in,
                               std::uint32_t size) {
        return AccessCost{count(addresses, lanes_in, size), distinct(addresses, lanes_in)};
      };
      const AccessCost cost = memo(cost_of, lanes.data(), mask, bytes);
      ASSERT_EQ(cost.units, count(lanes.data(), mask, bytes)) << bytes << ' ' << n;
      std::set<Address> distinct;
      for (int i = 0; i < kWarpSize; ++i) {
        if (is_active(mask, i)) distinct.insert(lanes[i]);
      }
      ASSERT_EQ(cost.addresses, distinct.size()) << bytes << ' ' << n;
      if constexpr (sizeof(Address) == 4) expect_runs_are_the_words(memo, lanes, mask, bytes);
    }
  }
}

TEST(AccessMemo, NeverChangesACount) {
  expect_memo_is_transparent<GlobalMemo, std::uint64_t>(
      [](auto* lanes, auto mask, auto) { return access_count::sectors_in_turns(lanes, mask); },
      1 << 16);
  expect_memo_is_transparent<GlobalMemo, std::uint64_t>(global_sectors, 1 << 16);
  expect_memo_is_transparent<SharedMemo, std::uint32_t>(shared_load_wavefronts, 1 << 14);
  expect_memo_is_transparent<SharedMemo, std::uint32_t>(shared_store_wavefronts, 1 << 14);
}

TEST(AccessMemo, CountsAPatternOnce) {
  int calls = 0;
  const auto count = [&calls](const std::uint64_t* lanes, std::uint32_t mask, std::uint32_t bytes) {
    ++calls;
    return AccessCost{global_sectors(lanes, mask, bytes), 0};
  };
  GlobalMemo memo;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const auto lanes = strided<std::uint64_t>(4096 * n, 4);
    EXPECT_EQ(memo(count, lanes.data(), kAll, 4).units, 4u);
  }
  EXPECT_EQ(calls, 1);
  for (std::uint64_t n = 0; n < 1000; ++n) {  // one per offset within a sector
    const auto lanes = strided<std::uint64_t>(4 * n, 4);
    EXPECT_EQ(memo(count, lanes.data(), kAll, 4).units, n % 8 == 0 ? 4u : 5u);
  }
  EXPECT_EQ(calls, 8);
}

}  // namespace
}  // namespace vgpu
