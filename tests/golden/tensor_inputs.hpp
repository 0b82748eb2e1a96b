// SPDX-License-Identifier: Apache-2.0
// Inputs for tensor_cores.cu, identical everywhere for the same seed: bit patterns for A, B and D
// by kind, and matrix descriptors by swizzle and direction.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tensor_inputs {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr int kM = 64, kN = 8, kLine = 32;  // bytes along k in a row of A or a column of B

enum class Op { kBf16, kF16, kF16ToF16, kTf32, kE4m3, kE5m2, kE4m3E5m2, kE4m3ToF16 };
constexpr const char* name_of(Op op) {
  constexpr const char* kNames[] = {"bf16", "f16",  "f16.f16",   "tf32",
                                    "e4m3", "e5m2", "e4m3.e5m2", "e4m3.f16"};
  return kNames[static_cast<int>(op)];
}
// Of D per thread, for 8 columns.
constexpr int registers_of(Op op) { return op == Op::kF16ToF16 || op == Op::kE4m3ToF16 ? 2 : 4; }

struct Format {
  int bytes, exponent, fraction;  // the value is in the upper bits
};
constexpr Format kSingle{4, 8, 23}, kHalf{2, 5, 10};
constexpr Format format_of(Op op, bool of_b) {
  switch (op) {
    case Op::kBf16: return {2, 8, 7};
    case Op::kF16:
    case Op::kF16ToF16: return kHalf;
    case Op::kTf32: return kSingle;  // its low bits are random: they must not matter
    case Op::kE5m2: return {1, 5, 2};
    case Op::kE4m3E5m2: return of_b ? Format{1, 5, 2} : Format{1, 4, 3};
    default: return {1, 4, 3};
  }
}

class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 next() {  // splitmix64
    u64 x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
  int below(int limit) { return static_cast<int>(next() % static_cast<u64>(limit)); }

 private:
  u64 state_;
};

constexpr int kKinds = 8;
constexpr const char* kKindNames[kKinds] = {"even",  "wide",  "cancelling", "subnormal",
                                            "zeros", "large", "special",    "bits"};
enum Kind { kEven, kWide, kCancelling, kSubnormal, kZeros, kLarge, kSpecial, kBits };

// A number of the format with its exponent field in [low, high].
inline u32 number(Random& random, Format f, int low, int high) {
  const int most = (1 << f.exponent) - 1;
  low = low < 0 ? 0 : low;
  high = high > most ? most : high;
  const u32 exponent = static_cast<u32>(low + random.below(high - low + 1));
  const u32 rest = static_cast<u32>(random.next());
  return (rest & 1) << (8 * f.bytes - 1) | exponent << f.fraction |
         (rest >> 1 & ((1U << f.fraction) - 1));
}

// `of_d`: for accumulators, which have fewer bits to lose.
inline u32 element(Random& random, Format f, int kind, bool of_d) {
  const int most = (1 << f.exponent) - 1, one = most / 2, top = most - 1;
  switch (kind) {
    case kEven: return number(random, f, one - 3, one + 3);
    case kWide: return number(random, f, of_d ? 1 : one / 2, of_d ? top : one + one / 2 - 1);
    case kCancelling: return number(random, f, one - 1, one + 1);
    case kSubnormal: return number(random, f, 0, of_d ? 2 : one / 2 + 2);
    case kZeros:
      if (random.below(3) != 0)
        return number(random, f, 0, 0) >> (f.fraction + f.exponent) << (f.fraction + f.exponent);
      return number(random, f, random.below(2) != 0 ? 0 : top - 2, random.below(2) != 0 ? 2 : top);
    case kLarge:
      return number(random, f, one + (of_d ? one - 3 : one / 2 - 2),
                    of_d ? top : one + one / 2 + 1);
    case kSpecial: {
      const int draw = random.below(40);
      if (draw == 0) return number(random, f, most, most);
      if (draw < 3)
        return static_cast<u32>(most) << f.fraction | (draw == 1 ? 0U : 1U << (8 * f.bytes - 1));
      return number(random, f, draw < 6 ? 0 : one - 4, draw < 6 ? 0 : one + 4);
    }
    default:
      return static_cast<u32>(random.next()) & (f.bytes == 4 ? ~0U : (1U << 8 * f.bytes) - 1);
  }
}

inline void put(std::vector<u8>& to, u32 bits, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<u8>(bits >> 8 * i));
}

// Appends A (rows), B (columns) and D (each thread's registers, in order of threads) of one
// product.
inline void append_inputs(Op op, int kind, int seed, std::vector<u8>& a, std::vector<u8>& b,
                          std::vector<u32>& d) {
  Random random(static_cast<u64>(seed) << 16 | static_cast<u64>(kind) << 8 | static_cast<u64>(op));
  const auto line = [&](std::vector<u8>& to, Format f, bool repeats) {
    const int elements = kLine / f.bytes;
    std::vector<u32> values;
    for (int i = 0; i < elements; ++i) values.push_back(element(random, f, kind, false));
    // the second half cancels the first half, except for some of the last bits
    if (kind == kCancelling) {
      for (int i = 0; i < elements / 2; ++i) {
        u32& value = values[static_cast<std::size_t>(elements / 2 + i)];
        value = values[static_cast<std::size_t>(i)];
        if (!repeats) value ^= 1U << (8 * f.bytes - 1);
        if (random.below(4) == 0) value ^= f.bytes == 4 ? 1U << 13 : 1U;
      }
    }
    for (const u32 value : values) put(to, value, f.bytes);
  };
  for (int row = 0; row < kM; ++row) line(a, format_of(op, false), false);
  for (int column = 0; column < kN; ++column) line(b, format_of(op, true), true);
  const bool half = registers_of(op) == 2;
  for (int i = 0; i < 128 * registers_of(op); ++i) {
    u32 value = element(random, half ? kHalf : kSingle, kind, true);
    if (half) value |= element(random, kHalf, kind, true) << 16;
    if (kind == kCancelling || (kind == kSubnormal && random.below(2) == 0))
      value = random.below(2) == 0 ? 0 : value;
    d.push_back(value);
  }
}

// Shared memory for descriptors: small integers in bf16.
constexpr u32 kPlacedBytes = 96 * 1024;

struct Placement {
  std::string name;
  u64 a, b;  // descriptors, relative to the beginning of shared memory
};

// Starts inside the swizzle's pattern, with base offset 0, with the one that PTX gives for the
// start (its bits 7 to 9), and with others.
inline void append_inside(int directions, std::vector<Placement>& all) {
  constexpr int kSpans[] = {128, 64, 32};
  constexpr const char* kOffsets[] = {"inside", "offset", "other"};
  Random random(static_cast<u64>(directions) + 177);
  for (int mode = 1; mode < 4; ++mode) {
    for (int i = 0; i < 18; ++i) {
      const int pattern = 8 * kSpans[mode - 1];
      u64 made[2];
      for (u64& bits : made) {
        const int start = random.below(16) * pattern + random.below(pattern / 16) * 16;
        const int leading = (1 + random.below(8)) * pattern,
                  stride = (1 + random.below(6)) * pattern;
        const int offset = i % 3 == 0 ? 0 : i % 3 == 1 ? start / 128 % 8 : random.below(8);
        bits = static_cast<u64>(start) >> 4 | static_cast<u64>(leading >> 4) << 16 |
               static_cast<u64>(stride >> 4) << 32 | static_cast<u64>(offset) << 49 |
               static_cast<u64>(mode) << 62;
      }
      all.push_back({std::string(kOffsets[i % 3]) + std::to_string(kSpans[mode - 1]) +
                         ".directions" + std::to_string(directions),
                     made[0], made[1]});
    }
  }
}

// directions: 1: A is M-major; 2: B is N-major. Starts, strides and base offsets of all kinds,
// within kPlacedBytes.
inline std::vector<Placement> placements_of(int directions) {
  constexpr int kSpans[] = {16, 128, 64, 32};
  std::vector<Placement> all;
  Random random(static_cast<u64>(directions) + 77);
  for (int mode = 0; mode < 4; ++mode) {
    for (int i = 0; i < 12; ++i) {
      const int span = kSpans[mode], pattern = 8 * span;
      u64 made[2];
      for (int operand = 0; operand < 2; ++operand) {
        const bool along_mn = (directions >> operand & 1) != 0;
        // Atoms are at any multiples of the pattern; a K-major matrix may start inside a row of the
        // swizzle.
        const int start =
            random.below(16) * pattern + (along_mn || span < 64 ? 0 : random.below(span / 32) * 32);
        const int leading = (1 + random.below(8)) * pattern,
                  stride = (1 + random.below(6)) * pattern;
        made[operand] = static_cast<u64>(start) >> 4 | static_cast<u64>(leading >> 4) << 16 |
                        static_cast<u64>(stride >> 4) << 32 | static_cast<u64>(mode) << 62;
      }
      all.push_back({"swizzle" + std::to_string(span == 16 ? 0 : span) + ".directions" +
                         std::to_string(directions),
                     made[0], made[1]});
    }
  }
  append_inside(directions, all);
  return all;
}

}  // namespace tensor_inputs
