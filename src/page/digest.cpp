// SPDX-License-Identifier: Apache-2.0
#include "page/digest.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ladder::page {
namespace {

using Words = std::array<std::uint32_t, 8>;
constexpr std::size_t kBlock = 64, kRounds = 64;

// The first 32 bits of the fraction of a prime's square or cube root.
std::uint32_t fraction_bits(long double root) {
  static_assert(std::numeric_limits<long double>::digits >= 36, "the fraction's 32 bits are exact");
  return static_cast<std::uint32_t>((root - std::floor(root)) * 0x1p32L);
}

struct Constants {
  Words start{};
  std::array<std::uint32_t, kRounds> round{};
  Constants() {
    std::size_t found = 0;
    for (int n = 2; found < kRounds; ++n) {
      bool prime = true;
      for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
      if (!prime) continue;
      if (found < start.size())
        start[found] = fraction_bits(std::sqrt(static_cast<long double>(n)));
      round[found++] = fraction_bits(std::cbrt(static_cast<long double>(n)));
    }
  }
};

void add_block(Words& state, std::string_view block, const Constants& constants) {
  std::array<std::uint32_t, kRounds> w{};
  for (std::size_t i = 0; i < kBlock; ++i)
    w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(block[i]);
  for (std::size_t i = 16; i < kRounds; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t one = h + sum1 + ((e & f) ^ (~e & g)) + constants.round[i] + w[i];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t two = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const Words added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::string sha256_base64(std::string_view text) {
  static const Constants constants;
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - 8) padded += '\0';
  for (int shift = 56; shift >= 0; shift -= 8)
    padded += static_cast<char>((std::uint64_t{text.size()} * 8) >> shift);
  Words state = constants.start;
  for (std::size_t at = 0; at < padded.size(); at += kBlock)
    add_block(state, std::string_view(padded).substr(at, kBlock), constants);

  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t i) {
    return i < 32 ? state[i / 4] >> (24 - 8 * (i % 4)) & 0xFFU : 0;
  };
  std::string encoded;
  for (std::size_t i = 0; i < 33; i += 3) {
    const std::uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) encoded += kDigits[bits >> shift & 63U];
  }
  encoded.back() = '=';  // 32 bytes are 43 digits
  return encoded;
}

}  // namespace ladder::page
