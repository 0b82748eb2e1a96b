// SPDX-License-Identifier: Apache-2.0
// Cost of one memory instruction of a warp: pure functions from the lanes' addresses to the counts
// of the hardware profiler. Lane i is active if bit i of `mask` is set; addresses of inactive lanes
// are not read. `bytes` is the size of one lane's access (1, 2, 4, 8 or 16), and addresses are
// multiples of it.
#pragma once
#include <array>
#include <cstdint>

namespace vgpu {

inline constexpr int kWarpSize = 32;

// Number of distinct 32-byte sectors of one request to global or local memory; 0 if no lane is
// active. The warp's access is one request, whatever its size.
std::uint32_t global_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                             std::uint32_t bytes);

// Wavefronts of one access to shared memory, which has 32 banks of 4 bytes. Each pass serves a
// group of lanes and takes as many wavefronts as its busiest bank has distinct words; a broadcast
// is therefore free. A group is the warp for up to 4 bytes, half a warp for 8, a quarter for 16.
// Loads of 8 and 16 bytes serve groups twice as large if every pair of lanes n, n^1, or every pair
// n, n^2 (both active) has the same address. Measured on an H200.
std::uint32_t shared_load_wavefronts(const std::uint32_t* addresses, std::uint32_t mask,
                                     std::uint32_t bytes);
std::uint32_t shared_store_wavefronts(const std::uint32_t* addresses, std::uint32_t mask,
                                      std::uint32_t bytes);

// The hardware counts a byte once, however many lanes of a request access it. Accesses of one
// instruction have one size and are aligned to it, so two of them share all bytes or none.
struct AccessCost {
  std::uint32_t units = 0;      // sectors or wavefronts
  std::uint32_t addresses = 0;  // distinct addresses of active lanes
};

// A run of consecutive words that a pattern accesses. `first` is relative to the first active
// lane's address.
struct WordRun {
  std::int32_t first = 0;
  std::uint32_t words = 0;
};
inline constexpr std::uint32_t kMostRuns = 4;
// Not std::span: code compiled for its own instruction set must be inlined.
struct WordRuns {
  const WordRun* first = nullptr;
  std::uint32_t count = 0;
  [[gnu::always_inline]] const WordRun* begin() const { return first; }
  [[gnu::always_inline]] const WordRun* end() const { return first + count; }
};
// The runs of the lanes at these distances, which are multiples of 4 bytes. Returns their number,
// or 0 if it exceeds kMostRuns.
std::uint32_t word_runs(const std::uint32_t* distances, std::uint32_t mask, std::uint32_t bytes,
                        WordRun* runs);

// Caches the last address patterns of one instruction as distances from the first active lane's
// address. The counts depend only on these and on that address modulo a period, and few
// instructions have more than a handful of patterns. `Address` is std::uint64_t for global,
// std::uint32_t for shared memory. Not thread-safe. The lookup is inlined into its caller, so that
// it uses the caller's instruction set.
template <class Address, std::uint32_t kPeriod>
class AccessMemo {
 public:
  // Returns count(addresses, mask, bytes), an AccessCost, from the cache if the pattern is known.
  // An instruction must always pass the same `count` and `bytes`.
  template <class Count>
  [[gnu::always_inline]] AccessCost operator()(Count count, const Address* addresses,
                                               std::uint32_t mask, std::uint32_t bytes) {
    if (mask == 0) return {};
    const Address base = addresses[__builtin_ctz(mask)];
    const std::uint32_t phase = static_cast<std::uint32_t>(base % kPeriod);
    for (std::uint32_t n = 0; n < kWays; ++n) {
      const std::uint32_t way = (recent_ + n) % kWays;
      if (ways_[way].mask != mask || !same(ways_[way], addresses, base)) continue;
      recent_ = way;
      ways_[way].recurs = true;
      std::uint8_t& known = ways_[way].counts[phase];
      if (known == 0) known = static_cast<std::uint8_t>(count(addresses, mask, bytes).units);
      return {known, ways_[way].distinct};
    }
    recent_ = (recent_ + kWays - 1) % kWays;
    return learn(ways_[recent_], addresses, mask, base, phase, count(addresses, mask, bytes));
  }

  // Runs of the pattern looked up last, for accesses of 4 bytes or more. Empty if there are too
  // many, or if the pattern is new: many never occur again.
  [[gnu::always_inline]] WordRuns runs(std::uint32_t bytes) requires(sizeof(Address) == 4) {
    Way& way = ways_[recent_];
    if (!way.recurs) return {};
    if (!way.runs_known) {
      way.run_count = word_runs(way.distances, way.mask, bytes, way.runs);
      way.runs_known = true;
    }
    return {way.runs, way.run_count};
  }

 private:
  static constexpr std::uint32_t kWays = 4;
  struct Way {
    alignas(64) Address distances[kWarpSize] = {};
    std::uint32_t mask = 0;
    std::uint32_t distinct = 0;
    std::uint8_t counts[kPeriod] = {};  // by phase; 0: not yet known
    bool recurs = false, runs_known = false;
    std::uint32_t run_count = 0;
    WordRun runs[sizeof(Address) == 4 ? kMostRuns : 1];
  };

  [[gnu::always_inline]] static bool same(const Way& way, const Address* addresses, Address base) {
    Address difference = 0;
    if (way.mask == 0xffffffffu) {
      for (int i = 0; i < kWarpSize; ++i) difference |= (addresses[i] - base) ^ way.distances[i];
    } else {
      for (int i = 0; i < kWarpSize; ++i) {
        const Address active = Address{0} - static_cast<Address>((way.mask >> i) & 1);
        difference |= ((addresses[i] - base) ^ way.distances[i]) & active;
      }
    }
    return difference == 0;
  }

  [[gnu::always_inline]] static AccessCost learn(Way& way, const Address* addresses,
                                                 std::uint32_t mask, Address base,
                                                 std::uint32_t phase, AccessCost cost) {
    for (int i = 0; i < kWarpSize; ++i) way.distances[i] = addresses[i] - base;
    for (std::uint8_t& c : way.counts) c = 0;
    way.mask = mask;
    way.recurs = way.runs_known = false;
    way.counts[phase] = static_cast<std::uint8_t>(cost.units);
    way.distinct = cost.addresses;
    return cost;
  }

  std::array<Way, kWays> ways_{};
  std::uint32_t recent_ = 0;
};

using GlobalMemo = AccessMemo<std::uint64_t, 32>;  // the period is a sector
// The period is a word: moving all lanes by whole words only permutes the banks.
using SharedMemo = AccessMemo<std::uint32_t, 4>;

}  // namespace vgpu
