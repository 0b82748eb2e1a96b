// SPDX-License-Identifier: Apache-2.0
// Products of matrices of integers of 1 to 8 bits and of 8-bit floating-point numbers, compared
// with sums over the elements. The places of the elements are those of the PTX ISA's figures.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>

#include "engine_fixture.hpp"
#include "float_formats.hpp"
#include "sass/elf/cubin.hpp"

namespace {

using std::int64_t;
using std::uint32_t;

constexpr int kLanes = 32, kColumns = 8;

// A row (column) of A (B): words of 32 bits along k, the first elements in the lowest bits.
struct Rows {
  Rows(int rows, int of_row, const std::function<uint32_t()>& word) : words_of_row(of_row) {
    for (int i = 0; i < rows * of_row; ++i) words.push_back(word());
  }
  uint32_t element(int row, int k, int bits) const {
    const uint32_t word = words[static_cast<std::size_t>(row * words_of_row + k * bits / 32)];
    const uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
    return word >> k * bits % 32 & mask;
  }
  int words_of_row;
  std::vector<uint32_t> words;
};

// Registers as [register][lane]. A thread has four consecutive bytes of its group's row; of 16 rows
// the next register has the row eight further down, then come the words four further along k.
std::vector<uint32_t> registers_of_a(const Rows& a, int rows) {
  const int tall = rows / 8, count = tall * a.words_of_row / 4;
  std::vector<uint32_t> registers;
  for (int r = 0; r < count; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = lane / 4 + 8 * (r % tall), word = lane % 4 + 4 * (r / tall);
      registers.push_back(a.words[static_cast<std::size_t>(row * a.words_of_row + word)]);
    }
  }
  return registers;
}
std::vector<uint32_t> registers_of_b(const Rows& b) {
  return registers_of_a(b, kColumns);  // of the columns
}
// Row and column of a sum.
int row_of(int r, int lane) { return lane / 4 + 8 * (r / 2); }
int column_of(int r, int lane) { return lane % 4 * 2 + r % 2; }

int64_t value_of(uint32_t element, int bits, bool is_signed) {
  const int64_t value = element;
  return is_signed && (element >> (bits - 1)) != 0 ? value - (int64_t{1} << bits) : value;
}

class Narrow : public EngineTest {
 protected:
  void SetUp() override { load("narrow", VGPU_TEST_PTX_90); }

  // Loads the machine code in which the one instruction with this opcode (bits 0 to 11) of `kernel`
  // is changed to one that ptxas does not emit.
  void load_changed(const std::string& name, unsigned opcode,
                    const std::function<void(char*)>& change) {
    std::string code = read(VGPU_TEST_CUBIN "/narrow.cubin");
    const auto bytes = std::as_bytes(std::span(code));
    const vgpu::sass::Cubin cubin(bytes);
    const auto kernel =
        std::ranges::find_if(cubin.kernels(), [&](const auto& each) { return each.name == name; });
    ASSERT_NE(kernel, cubin.kernels().end());
    char* const first = code.data() + (kernel->code.data() - bytes.data());
    int changed = 0;
    for (char* at = first; at < first + kernel->code.size(); at += 16) {
      if (static_cast<unsigned char>(at[0]) != (opcode & 255) || (at[1] & 15u) != opcode >> 8)
        continue;
      change(at);
      ++changed;
    }
    ASSERT_EQ(changed, 1);
    module = vgpu::Module::from_cubin(std::as_bytes(std::span(code)), memory);
  }

  // `product` of the elements at k of a row and a column.
  void check_integers(const std::string& name, int rows, int depth, int bits, bool clamps,
                      const std::function<int64_t(uint32_t, uint32_t)>& product) {
    SCOPED_TRACE(name);
    const auto word = [this] { return static_cast<uint32_t>(random()); };
    const int words = depth * bits / 32;
    const Rows a(rows, words, word), b(kColumns, words, word);
    std::vector<int> c;
    for (int i = 0; i < rows * kColumns; ++i) {
      constexpr int kEdges[] = {0, 2147483647, -2147483647 - 1, 2147483600, -2147483500, 7};
      c.push_back(kEdges[random() % 6]);
    }
    int* const d = array<int>(c.size());
    run(name, {1}, {kLanes}, d, array(registers_of_a(a, rows)), array(registers_of_b(b)), array(c));
    for (int i = 0; i < rows * kColumns; ++i) {
      const int lane = i % kLanes, row = row_of(i / kLanes, lane),
                column = column_of(i / kLanes, lane);
      int64_t sum = c[static_cast<std::size_t>(i)];
      for (int k = 0; k < depth; ++k)
        sum += product(a.element(row, k, bits), b.element(column, k, bits));
      if (clamps) sum = std::min<int64_t>(std::max<int64_t>(sum, -2147483648LL), 2147483647);
      ASSERT_EQ(d[i], static_cast<int>(static_cast<uint32_t>(sum))) << row << ", " << column;
    }
  }

  std::mt19937 random{1};
};

TEST_F(Narrow, Integers) {
  const struct {
    const char* name;
    int rows, words;  // words of 32 bits along k
  } shapes[] = {{"small", 8, 4}, {"flat", 16, 4}, {"deep", 16, 8}};
  for (const auto& shape : shapes) {
    for (const int bits : {8, 4}) {
      for (const bool a_signed : {false, true}) {
        for (const bool b_signed : {false, true}) {
          for (const bool clamps : {false, true}) {
            const auto type = [&](bool is_signed) {
              return (is_signed ? "_s" : "_u") + std::to_string(bits);
            };
            check_integers(
                std::string(shape.name) + (clamps ? "_sat" : "") + type(a_signed) + type(b_signed),
                shape.rows, shape.words * 32 / bits, bits, clamps, [&](uint32_t x, uint32_t y) {
                  return value_of(x, bits, a_signed) * value_of(y, bits, b_signed);
                });
          }
        }
      }
    }
    check_integers(std::string(shape.name) + "_and", shape.rows, shape.words * 32, 1, false,
                   [](uint32_t x, uint32_t y) -> int64_t { return x & y; });
    check_integers(std::string(shape.name) + "_xor", shape.rows, shape.words * 32, 1, false,
                   [](uint32_t x, uint32_t y) -> int64_t { return x ^ y; });
  }
}

// Numbers from 1/4 to 2 of both signs and zero: every sum is exact.
class NarrowBytes : public Narrow {
 protected:
  Rows bytes(int rows, int words, const conformance::Format& format) {
    const std::function<uint32_t()> word = [&] {
      uint32_t four = 0;
      for (int i = 0; i < 4; ++i) {
        constexpr double kNumbers[] = {0, 0.25, 0.5, 1, 1.5, 2, -0.5, -1, -1.5, -2, -0.25};
        four = four << 8 | static_cast<uint32_t>(format.encode(kNumbers[random() % 11],
                                                               conformance::Round::kNearest));
      }
      return four;
    };
    return {rows, words, word};
  }
  static double product(const Rows& a, const conformance::Format& of_a, int row, const Rows& b,
                        const conformance::Format& of_b, int column, int depth) {
    long double sum = 0;
    for (int k = 0; k < depth; ++k)
      sum += conformance::value_of(a.element(row, k, 8), of_a) *
             conformance::value_of(b.element(column, k, 8), of_b);
    return static_cast<double>(sum);
  }
};

TEST_F(NarrowBytes, FloatingPoint) {
  const struct {
    const char* name;
    const conformance::Format& format;
  } types[] = {{"_e4m3", conformance::kE4m3}, {"_e5m2", conformance::kE5m2}};
  for (const auto& x : types) {
    for (const auto& y : types) {
      for (const bool deep : {false, true}) {
        const std::string name = std::string(deep ? "deep" : "flat") + x.name + y.name;
        SCOPED_TRACE(name);
        const int words = deep ? 8 : 4;
        const Rows a = bytes(16, words, x.format), b = bytes(kColumns, words, y.format);
        std::vector<float> c;
        for (int i = 0; i < 128; ++i) c.push_back(static_cast<float>(i % 13 - 6) * 0.125F);
        float* const d = array<float>(128);
        for (const auto numerics : {vgpu::Numerics::kSingle, vgpu::Numerics::kHopper}) {
          config.numerics = numerics;
          run(name, {1}, {kLanes}, d, array(registers_of_a(a, 16)), array(registers_of_b(b)),
              array(c));
          for (int i = 0; i < 128; ++i) {
            const int lane = i % kLanes, row = row_of(i / kLanes, lane),
                      column = column_of(i / kLanes, lane);
            ASSERT_EQ(d[i], product(a, x.format, row, b, y.format, column, 4 * words) +
                                static_cast<double>(c[static_cast<std::size_t>(i)]))
                << row << ", " << column;
          }
        }
      }
    }
  }
}

TEST_F(NarrowBytes, SumsIn16Bits) {
  const Rows a = bytes(16, 8, conformance::kE4m3), b = bytes(kColumns, 8, conformance::kE5m2);
  std::vector<uint32_t> c(64);
  const auto half = [](double value) {
    return static_cast<uint32_t>(conformance::kHalf.encode(value, conformance::Round::kNearest));
  };
  const auto addend = [](int row, int column) { return (row * 8 + column) % 13 * 0.25 - 1; };
  for (int i = 0; i < 64; ++i) {
    const int lane = i % kLanes, row = lane / 4 + 8 * (i / kLanes), column = lane % 4 * 2;
    c[static_cast<std::size_t>(i)] = half(addend(row, column)) | half(addend(row, column + 1))
                                                                     << 16;
  }
  uint32_t* const d = array<uint32_t>(64);
  run("half_sums", {1}, {kLanes}, d, array(registers_of_a(a, 16)), array(registers_of_b(b)),
      array(c));
  for (int i = 0; i < 64; ++i) {
    const int lane = i % kLanes, row = lane / 4 + 8 * (i / kLanes), column = lane % 4 * 2;
    for (int n = 0; n < 2; ++n) {
      const double sum = product(a, conformance::kE4m3, row, b, conformance::kE5m2, column + n, 32);
      ASSERT_EQ(d[i] >> 16 * n & 0xffff, half(sum + addend(row, column + n)))
          << row << ", " << column + n;
    }
  }
}

// FP64, whose sums of small integers are exact. A thread has single elements of A and B.
TEST_F(Narrow, Doubles) {
  for (const int depth : {4, 8, 16}) {
    const auto numbers = [this](int count) {
      std::vector<double> values;
      for (int i = 0; i < count; ++i) values.push_back(static_cast<int>(random() % 2001) - 1000);
      return values;
    };
    const std::vector<double> a = numbers(16 * depth), b = numbers(8 * depth), c = numbers(128);
    double* const d = array<double>(c.size());
    run("doubles_" + std::to_string(depth), {1}, {kLanes}, d, array(a), array(b), array(c));
    // Registers as [register][lane].
    const auto of_a = [&](int row, int k) {
      return a[static_cast<std::size_t>((row / 8 + k / 4 * 2) * kLanes + row % 8 * 4 + k % 4)];
    };
    const auto of_b = [&](int k, int column) {
      return b[static_cast<std::size_t>(k / 4 * kLanes + column * 4 + k % 4)];
    };
    for (int i = 0; i < 128; ++i) {
      const int row = row_of(i / kLanes, i % kLanes), column = column_of(i / kLanes, i % kLanes);
      double sum = c[static_cast<std::size_t>(i)];
      for (int k = 0; k < depth; ++k) sum += of_a(row, k) * of_b(k, column);
      ASSERT_EQ(d[i], sum) << depth << ": " << row << ", " << column;
    }
  }
}

TEST_F(Narrow, PartsOfRegistersBecomeFloats) {
  std::vector<uint32_t> words;
  for (int i = 0; i < kLanes; ++i) words.push_back(static_cast<uint32_t>(random()));
  float* const d = array<float>(12 * kLanes);
  run("parts_to_floats", {1}, {kLanes}, d, array(words));
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint32_t word = words[static_cast<std::size_t>(lane)];
    for (int k = 0; k < 12; ++k) {
      const int bits = k < 8 ? 8 : 16;
      const bool is_signed = bits == 8 ? k >= 4 : k >= 10;
      const uint32_t part = word >> bits * (k % (32 / bits)) & ((1u << bits) - 1);
      ASSERT_EQ(d[k * kLanes + lane], static_cast<float>(value_of(part, bits, is_signed))) << k;
    }
  }
}

// HSETP2 with .H_AND, which ptxas does not emit.
TEST_F(Narrow, OnePredicateForBothHalves) {
  load_changed("compare_halves", 0x234,
               [](char* code) { code[8] = static_cast<char>(code[8] | 0x80); });
  const std::vector<uint32_t> numbers = {0x3c003c00, 0x3c004000, 0x40003c00, 0x40004000};
  std::vector<uint32_t> a, b;
  for (int i = 0; i < kLanes; ++i) {
    a.push_back(numbers[static_cast<std::size_t>(i % 4)]);
    b.push_back(numbers[static_cast<std::size_t>(i / 4 % 4)]);
  }
  uint32_t* const d = array<uint32_t>(kLanes);
  EXPECT_EQ(launch("compare_halves", {1}, {kLanes}, d, array(a), array(b), array<uint32_t>(kLanes))
                .engine,
            "sass");
  for (std::size_t i = 0; i < kLanes; ++i) {
    const bool both = (a[i] & 0xffff) < (b[i] & 0xffff) && a[i] >> 16 < b[i] >> 16;
    EXPECT_EQ(d[i], both ? 1u : 2u) << i;
  }
}

// FSWZADD, which ptxas emits for textures of architectures before sm_90. The results are an H200's.
TEST_F(Narrow, SwizzledSums) {
  const uint32_t nan = 0x7fffffff, infinity = 0x7f800000, minus = 0x80000000, kept = 0x01010101;
  const std::vector<uint32_t> a = {0x3f800000, 0x40000000, 0x40800000, 0x41000000,
                                   0x7fc00000, minus,      infinity,   0x000116c2},
                              b = {0x41800000, 0x42000000, 0x42800000, 0x43000000,
                                   minus,      minus,      minus,      0x800116c2};
  struct Case {
    unsigned signs, threads;
    bool ndv;
    std::vector<uint32_t> sums;
  };
  const Case cases[] = {
      {0x1b,
       8,
       true,
       {0x41880000, 0xc1f00000, 0x42700000, 0x43000000, nan, 0, 0xff800000, 0x800116c2}},
      {0x1b,
       8,
       false,
       {0x41880000, 0xc1f00000, 0x42700000, 0x43000000, nan, 0, 0xff800000, 0x800116c2}},
      {0xff, 8, true, {0x41800000, 0x42000000, 0x42800000, 0x43000000, 0, 0, 0, 0x800116c2}},
      {0xcc, 8, true, {0x41800000, 0x42080000, 0x42800000, 0x43080000, 0, minus, 0, 0}},
      {0x1b, 6, true, {0x41880000, 0xc1f00000, 0x42700000, 0x43000000, nan, 0, kept, kept}},
      {0x1b, 6, false, {0x41880000, 0xc1f00000, 0x42700000, 0x43000000, 0, 0, kept, kept}},
  };
  for (const Case& each : cases) {
    load_changed("permuted", 0x216, [&](char* code) {
      code[0] = 0x22;
      code[1] = static_cast<char>((code[1] & ~15) | 8);
      code[4] = static_cast<char>(each.signs);
      code[9] = each.ndv ? 0x20 : 0;
    });
    uint32_t* const d = array<uint32_t>(8, kept);
    EXPECT_EQ(launch("permuted", {1}, {each.threads, 1, 1}, d, array(a), array(b), array(a)).engine,
              "sass");
    EXPECT_EQ(std::vector<uint32_t>(d, d + 8), each.sums) << each.signs << ' ' << each.ndv;
  }
}

TEST_F(Narrow, ScaledProducts) {
  const auto numbers = [this](int count) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(random()) / 65537.0F);
    return values;
  };
  const std::vector<float> a = numbers(5 * kLanes), b = numbers(kLanes);
  float* const d = array<float>(a.size());
  run("scaled_products", {1}, {kLanes}, d, array(a), array(b));
  const float scales[] = {0.125F, 0.25F, -0.5F, 4, 8};
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(d[i], a[i] * b[i % kLanes] * scales[i / kLanes]) << i;
}

}  // namespace
