// SPDX-License-Identifier: Apache-2.0
// Instructions with few modifiers, which lowering makes operations without any, against the host.
#include <algorithm>
#include <cmath>
#include <random>

#include "engine_fixture.hpp"

namespace {

using Word = std::uint32_t;
using Pair = std::uint64_t;

template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
Word bits(float a) { return std::isnan(a) ? 0x7fffffff : same_bits<Word>(a); }
Pair bits(double a) { return same_bits<Pair>(a); }
Pair wide(Word low, Word high) { return low | Pair{high} << 32; }
template <class T>
T least(T a, T b) {
  return std::min(a, b);
}
template <class T>
T most(T a, T b) {
  return std::max(a, b);
}
Word shift_left(Word a, Word by) { return by > 31 ? 0 : a << by; }
Word shift_right(Word a, Word by) { return by > 31 ? 0 : a >> by; }
Word funnel_left_clamped(Word a, Word b, Word by) {
  return by > 31 ? a : static_cast<Word>(wide(a, b) << by >> 32);
}
Word funnel_right_clamped(Word a, Word b, Word by) {
  return by > 31 ? b : static_cast<Word>(wide(a, b) >> by);
}
Word funnel_left(Word a, Word b, Word by) { return funnel_left_clamped(a, b, by & 31); }
Word funnel_right(Word a, Word b, Word by) { return funnel_right_clamped(a, b, by & 31); }
float flush(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; }
float flushed_sum(float a, float b) { return flush(flush(a) + flush(b)); }
float flushed_product(float a, float b) { return flush(flush(a) * flush(b)); }
float flushed_fma(float a, float b, float c) {
  return flush(std::fma(flush(a), flush(b), flush(c)));
}

class Plain : public EngineTest {
 protected:
  static constexpr int kBlocks = 4, kThreads = 128, kAll = kBlocks * kThreads;

  void SetUp() override {
    load("plain");
    std::mt19937 random(11);
    // Arbitrary words, near 0, near each other, and single-precision numbers of all sizes.
    constexpr Word kCorners[] = {0,          1,          0x7fffffff, 0x80000000, 0xffffffff,
                                 0x3f800000, 0xbf800000, 0x00000001, 0x807fffff, 0x7f800000};
    for (Word& w : in) {
      const auto value = static_cast<Word>(random());
      switch (random() % 4) {
        case 0: w = kCorners[value % std::size(kCorners)]; break;
        case 1: w = value % 64; break;
        default: w = value;
      }
    }
    for (double& d : doubles) d = std::ldexp(double(random()) - 2e9, int(random() % 64) - 32);
  }

  std::vector<Word> in = std::vector<Word>(3 * kAll);
  std::vector<double> doubles = std::vector<double>(3 * kAll);
};

TEST_F(Plain, FormsAreThoseOfTheHost) {
  constexpr int kMostForms = 128;
  Word* const words = array<Word>(kMostForms * kAll);
  Pair* const pairs = array<Pair>(kMostForms * kAll);
  launch("forms", {kBlocks, 1, 1}, {kThreads, 1, 1}, array(in), array(doubles), words, pairs, kAll);
  for (int t = 0; t < kAll; ++t) {
    const Word x = in[t], y = in[kAll + t], z = in[2 * kAll + t];
    const auto i = static_cast<int>(x), j = static_cast<int>(y), k = static_cast<int>(z);
    const auto f = same_bits<float>(x), g = same_bits<float>(y), h = same_bits<float>(z);
    const double d = doubles[t], e = doubles[kAll + t], c = doubles[2 * kAll + t];
    int word = 0, pair = 0;
    using std::fma;
#define WORD(value) \
  ASSERT_EQ(words[kAll * word++ + t], (value)) << #value << " of " << x << ", " << y << ", " << z;
#define PAIR(value) \
  ASSERT_EQ(pairs[kAll * pair++ + t], (value)) << #value << " of " << x << ", " << y << ", " << z;
#include "plain_forms.inc"
  }
}

TEST_F(Plain, TablesOfThreeWords) {
  Word* const out = array<Word>(256 * kAll);
  launch("tables", {kBlocks, 1, 1}, {kThreads, 1, 1}, array(in), out, kAll);
  for (int t = 0; t < kAll; ++t) {
    for (Word table = 0; table < 256; ++table) {
      Word expected = 0;
      for (Word bit = 0; bit < 32; ++bit) {
        const auto of = [&](int row) { return in[row * kAll + t] >> bit & 1; };
        expected |= (table >> (4 * of(0) + 2 * of(1) + of(2)) & 1) << bit;
      }
      ASSERT_EQ(out[table * kAll + t], expected) << table;
    }
  }
}

}  // namespace
