// SPDX-License-Identifier: Apache-2.0
// Sets of a warp's lanes, as bit masks, computed with the widest instructions of the including
// code.
#pragma once
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace vgpu {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

// 32 words, one per lane. Code compiled for different instruction sets must not share it.
struct LaneWords {
  using Part [[gnu::vector_size(kVectorBytes)]] = std::uint32_t;
  static constexpr int kPartLanes = kVectorBytes / 4, kParts = 32 / kPartLanes;
  Part parts[kParts];

  [[gnu::always_inline]] static LaneWords load(const std::uint32_t* words) {
    LaneWords loaded;
    __builtin_memcpy(loaded.parts, words, sizeof(loaded.parts));
    return loaded;
  }
};

// The lanes whose words have the top bit set.
[[gnu::always_inline]] inline std::uint32_t top_bits(const std::uint32_t* words) {
  std::uint32_t lanes = 0;
#if defined(__AVX512DQ__)
  lanes = _mm512_movepi32_mask(_mm512_loadu_si512(words)) |
          static_cast<std::uint32_t>(_mm512_movepi32_mask(_mm512_loadu_si512(words + 16))) << 16;
#elif defined(__AVX2__)
  for (int i = 0; i < 32; i += 8) {
    const __m256i part = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i));
    lanes |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(part))) << i;
  }
#elif defined(__SSE2__)
  for (int i = 0; i < 32; i += 4) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i));
    lanes |= static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(part))) << i;
  }
#else
  for (int i = 0; i < 32; ++i) lanes |= words[i] >> 31 << i;
#endif
  return lanes;
}

// The lanes for which f(lane) is true; f is called for all lanes.
template <class F>
[[gnu::always_inline]] inline std::uint32_t lanes_where(F f) {
  alignas(64) std::uint32_t words[32];
  for (std::uint32_t i = 0; i < 32; ++i) words[i] = f(i) ? ~0u : 0u;
  return top_bits(words);
}

// Below this many lanes, they are visited one by one.
inline constexpr int kFewLanes = 10;

// Of the lanes in `mask`, the first one of each key.
[[gnu::always_inline]] inline std::uint32_t first_lanes(const std::uint32_t* keys,
                                                        std::uint32_t mask) {
  if (mask == 0) return 0;
  const std::uint32_t lowest = mask & (~mask + 1);
  // Other lanes stand for the first one in `mask`, which needs no search.
  alignas(64) std::uint32_t known[32];
  const std::uint32_t first_key = keys[__builtin_ctz(mask)];
  for (std::uint32_t i = 0; i < 32; ++i) known[i] = (mask >> i & 1) != 0 ? keys[i] : first_key;
  const LaneWords key = LaneWords::load(known);
  LaneWords first{};
  const auto visit = [&](std::uint32_t lane) __attribute__((always_inline)) {
    for (int p = 0; p < LaneWords::kParts; ++p)
      first.parts[p] = key.parts[p] == known[lane] ? lane - LaneWords::Part{} : first.parts[p];
  };
  if (__builtin_popcount(mask) < kFewLanes) {
    for (std::uint32_t left = mask; left != 0;) {
      const std::uint32_t lane = 31u - static_cast<std::uint32_t>(__builtin_clz(left));
      left &= ~(1u << lane);
      visit(lane);
    }
  } else {
#pragma GCC unroll 32
    for (std::uint32_t lane = 32; lane-- > 0;) visit(lane);
  }
  alignas(64) std::uint32_t found[32];
  __builtin_memcpy(found, first.parts, sizeof(found));
  return lowest | (mask & lanes_where([&](std::uint32_t i) { return found[i] == i; }));
}

// The greatest number of lanes in `mask` that have the same key. Keys are less than 2^31.
[[gnu::always_inline]] inline std::uint32_t most_of_one_key(const std::uint32_t* keys,
                                                            std::uint32_t mask) {
  alignas(64) std::uint32_t known[32];
  for (std::uint32_t i = 0; i < 32; ++i) known[i] = (mask >> i & 1) != 0 ? keys[i] : ~i;
  const LaneWords key = LaneWords::load(known);
  LaneWords count{};
  const auto visit = [&](std::uint32_t lane) __attribute__((always_inline)) {
    for (int p = 0; p < LaneWords::kParts; ++p)
      count.parts[p] -= static_cast<LaneWords::Part>(key.parts[p] == known[lane]);
  };
  if (__builtin_popcount(mask) < kFewLanes) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1)
      visit(static_cast<std::uint32_t>(__builtin_ctz(left)));
  } else {
#pragma GCC unroll 32
    for (std::uint32_t lane = 0; lane < 32; ++lane) visit(lane);
  }
  alignas(64) std::uint32_t counts[32];
  __builtin_memcpy(counts, count.parts, sizeof(counts));
  std::uint32_t most = 0;
  for (std::uint32_t i = 0; i < 32; ++i) most = counts[i] > most ? counts[i] : most;
  return most;
}

// Words that are equal exactly where addresses >> shift are, for the lanes in `mask`, which has
// some. False if there are none: the addresses are too far apart.
template <class Address>
[[gnu::always_inline]] inline bool keys_of(const Address* addresses, std::uint32_t mask,
                                           std::uint32_t shift, std::uint32_t* keys) {
  const Address base = addresses[__builtin_ctz(mask)] >> shift;
  Address far = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    const Address key = (addresses[i] >> shift) - base;
    keys[i] = static_cast<std::uint32_t>(key);
    if constexpr (sizeof(Address) > sizeof(std::uint32_t)) {
      constexpr Address kHalf = Address{1} << 31;
      far |= (mask >> i & 1) != 0 ? (key + kHalf) >> 32 : 0;
    }
  }
  return far == 0;
}

}  // namespace vgpu
