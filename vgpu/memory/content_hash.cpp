// SPDX-License-Identifier: Apache-2.0
// Four chains of products of 64 by 64 bits, of which both halves are kept.
#include "memory/content_hash.hpp"

#include <array>
#include <cstring>

namespace vgpu {
namespace {

using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;

constexpr std::size_t kChains = 4, kStripe = kChains * 2 * sizeof(u64);
// Odd numbers with as many ones as zeros.
constexpr std::array<u64, kChains> kKeys = {0x9e3779b97f4a7c15, 0xd6e8feb86659fd93,
                                            0xa0761d6478bd642f, 0xe7037ed1a0b428db};

u64 folded(u64 a, u64 b) {
  const u128 product = u128{a} * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
}

void add_stripe(std::array<u64, kChains>& chains, const std::byte* at) {
  for (std::size_t i = 0; i < kChains; ++i) {
    u64 words[2];
    std::memcpy(words, at + i * sizeof words, sizeof words);
    chains[i] = folded(words[0] ^ kKeys[i], words[1] ^ chains[i]) + words[0];
  }
}

}  // namespace

std::uint64_t content_hash(const void* data, std::size_t bytes, std::uint64_t seed) {
  std::array<u64, kChains> chains;
  for (std::size_t i = 0; i < kChains; ++i) chains[i] = kKeys[kChains - 1 - i] + seed;
  const auto* at = static_cast<const std::byte*>(data);
  std::size_t left = bytes;
  for (; left >= kStripe; left -= kStripe, at += kStripe) add_stripe(chains, at);
  if (left != 0) {
    std::array<std::byte, kStripe> rest{};
    std::memcpy(rest.data(), at, left);
    add_stripe(chains, rest.data());
  }
  u64 hash = folded(bytes ^ kKeys[0], seed ^ kKeys[1]);
  for (std::size_t i = 0; i < kChains; ++i) hash = folded(hash ^ chains[i], kKeys[i]) + chains[i];
  return folded(hash ^ kKeys[2], kKeys[3]);
}

}  // namespace vgpu
