// SPDX-License-Identifier: Apache-2.0
// Matrix instructions, compared with products in double. Inputs are small multiples of 1/4, so that
// every sum is exact in every format and a misplaced element is detected.
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <tuple>

#include "engine_fixture.hpp"
#include "float_formats.hpp"
#include "machine/operations.hpp"

namespace {

using conformance::Format;
using Matrix = std::vector<double>;

// Without symmetries; all rows and columns differ.
Matrix numbers(int rows, int columns, int seed) {
  Matrix values(static_cast<std::size_t>(rows) * columns);
  unsigned state = 12345u + static_cast<unsigned>(seed);
  for (double& v : values) {
    state = state * 1664525u + 1013904223u;
    v = (static_cast<int>(state >> 20) % 15 - 7) / 4.0;
  }
  return values;
}

Matrix product(const Matrix& a, const Matrix& b, const Matrix& c, int m, int n, int k,
               double alpha = 1) {
  Matrix d = c;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int l = 0; l < k; ++l) d[i * n + j] += alpha * a[i * k + l] * b[l * n + j];
    }
  }
  return d;
}

// Exact for these numbers.
std::uint16_t code_of(double value, const Format& format) {
  return static_cast<std::uint16_t>(format.encode(value, conformance::Round::kNearest));
}

Matrix turned(const Matrix& m, int rows, int columns) {
  Matrix result(m.size());
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) result[j * rows + i] = m[i * columns + j];
  }
  return result;
}

class Tensor : public EngineTest {
 protected:
  void SetUp() override { load("tensor"); }

  std::uint16_t* halves(const Matrix& m, bool bfloat) {
    std::vector<std::uint16_t> values;
    for (const double v : m)
      values.push_back(code_of(v, bfloat ? conformance::kBfloat : conformance::kHalf));
    return array(values);
  }
  float* singles(const Matrix& m) { return array(std::vector<float>(m.begin(), m.end())); }

  template <class T>
  static void expect_equal(const T* got, const Matrix& expected, int columns) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(static_cast<double>(got[i]), expected[i])
          << "row " << i / columns << ", column " << i % columns;
    }
  }
};

TEST_F(Tensor, FragmentsOf16Bits) {
  for (const auto& [name, k, bfloat] :
       {std::tuple{"mma_f16_k16", 16, false}, std::tuple{"mma_bf16_k16", 16, true},
        std::tuple{"mma_f16_k8", 8, false}, std::tuple{"mma_bf16_k8", 8, true}}) {
    SCOPED_TRACE(name);
    const Matrix a = numbers(16, k, 1), b = numbers(k, 8, 2), c = numbers(16, 8, 3);
    float* const d = array<float>(128);
    launch(name, {1}, {32}, d, halves(a, bfloat), halves(b, bfloat), singles(c));
    expect_equal(d, product(a, b, c, 16, 8, k), 8);
  }
}

TEST_F(Tensor, SumsIn16Bits) {
  for (const int k : {8, 16}) {
    const Matrix a = numbers(16, k, 4), b = numbers(k, 8, 5), c = numbers(16, 8, 6);
    float* const d = array<float>(128);
    launch("mma_f16_sums", {1}, {32}, d, halves(a, false), halves(b, false), singles(c), k);
    expect_equal(d, product(a, b, c, 16, 8, k), 8);
  }
}

TEST_F(Tensor, FragmentsOfTf32) {
  for (const int k : {4, 8}) {
    const Matrix a = numbers(16, k, 7), b = numbers(k, 8, 8), c = numbers(16, 8, 9);
    float* const d = array<float>(128);
    launch("mma_tf32", {1}, {32}, d, singles(a), singles(b), singles(c), k);
    expect_equal(d, product(a, b, c, 16, 8, k), 8);
  }
}

// Any bits, among them NaN, infinite and subnormal numbers, on each of the host's instruction sets.
TEST_F(Tensor, SumsAreRoundedOneAfterAnother) {
  std::mt19937 random(1);
  const auto bits = [&](int count) {
    std::vector<std::uint32_t> made;
    for (int i = 0; i < count; ++i) made.push_back(static_cast<std::uint32_t>(random()));
    return made;
  };
  const auto number = [](std::uint32_t code) { return std::bit_cast<float>(code); };
  for (const auto& [name, k, type] :
       {std::tuple{"mma_f16_k16", 16, 'h'}, std::tuple{"mma_f16_k8", 8, 'h'},
        std::tuple{"mma_bf16_k16", 16, 'b'}, std::tuple{"mma_tf32", 8, 't'}}) {
    const auto value = [&, type = type](std::uint32_t code) {
      if (type == 'h') return static_cast<float>(conformance::half(code));
      return number(type == 'b' ? code << 16 : code & 0xffffe000);
    };
    for (int time = 0; time < 20; ++time) {
      const auto a = bits(16 * k), b = bits(k * 8);
      std::vector<float> c;
      for (const std::uint32_t code : bits(128)) c.push_back(number(code));
      for (const vgpu::machine::Isa& isa : vgpu::machine::isas()) {
        SCOPED_TRACE(std::string(name) + " on " + isa.code.name);
        ASSERT_TRUE(vgpu::machine::use_isa(isa.code.name));
        float* const d = array<float>(128);
        if (type == 't') {
          std::vector<float> wide_a, wide_b;
          for (const std::uint32_t code : a) wide_a.push_back(value(code));
          for (const std::uint32_t code : b) wide_b.push_back(value(code));
          launch(name, {1}, {32}, d, array(wide_a), array(wide_b), array(c), k);
        } else {
          launch(name, {1}, {32}, d, array(std::vector<std::uint16_t>(a.begin(), a.end())),
                 array(std::vector<std::uint16_t>(b.begin(), b.end())), array(c));
        }
        for (int i = 0; i < 128; ++i) {
          float sum = c[i];
          for (int l = 0; l < k; ++l)
            sum = std::fma(value(a[i / 8 * k + l]), value(b[l * 8 + i % 8]), sum);
          const std::uint32_t expected =
              std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
          ASSERT_EQ(std::bit_cast<std::uint32_t>(d[i]), expected) << i;
        }
      }
      ASSERT_TRUE(vgpu::machine::use_isa(""));
    }
  }
}

TEST_F(Tensor, FragmentsOfDoubles) {
  const Matrix a = numbers(8, 4, 10), b = numbers(4, 8, 11), c = numbers(8, 8, 12);
  double* const d = array<double>(64);
  launch("mma_f64", {1}, {32}, d, array(a), array(b), array(c));
  expect_equal(d, product(a, b, c, 8, 8, 4), 8);
}

TEST_F(Tensor, FragmentsThatLdmatrixMakes) {
  const Matrix a = numbers(16, 16, 13), b = numbers(16, 8, 14), c = numbers(16, 8, 15);
  for (const int generic : {0, 1}) {
    for (const bool race : {false, true}) {
      config.check_race = race;
      float* const d = array<float>(128);
      launch("mma_by_ldmatrix", {1}, {32}, d, halves(a, false), halves(b, false), singles(c),
             generic);
      expect_equal(d, product(a, b, c, 16, 8, 16), 8);
    }
  }
}

TEST_F(Tensor, MatricesAreTransposed) {
  std::vector<std::uint16_t> in(64);
  for (std::uint16_t i = 0; i < 64; ++i) in[i] = static_cast<std::uint16_t>(i * 1021);
  std::uint16_t* const out = array<std::uint16_t>(64);
  launch("transpose", {1}, {32}, out, array(in));
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], in[i % 8 * 8 + i / 8]) << i;
}

TEST_F(Tensor, Wmma) {
  const struct {
    const char* name;
    int m, n, k;
    char type;  // h, b, t: types of A and B; H: of C and D too
    bool a_by_column, b_by_column;
  } cases[] = {
      {"wmma_f16_square_rr", 16, 16, 16, 'h', false, false},
      {"wmma_f16_square_rc", 16, 16, 16, 'h', false, true},
      {"wmma_f16_square_cr", 16, 16, 16, 'h', true, false},
      {"wmma_f16_tall_cc", 32, 8, 16, 'h', true, true},
      {"wmma_f16_wide_rr", 8, 32, 16, 'h', false, false},
      {"wmma_half_square_rc", 16, 16, 16, 'H', false, true},
      {"wmma_bf16_square_rc", 16, 16, 16, 'b', false, true},
      {"wmma_bf16_tall_rr", 32, 8, 16, 'b', false, false},
      {"wmma_bf16_wide_cc", 8, 32, 16, 'b', true, true},
      {"wmma_tf32_square_rc", 16, 16, 8, 't', false, true},
  };
  for (const auto& t : cases) {
    SCOPED_TRACE(t.name);
    const Matrix a = numbers(t.m, t.k, 16), b = numbers(t.k, t.n, 17), c = numbers(t.m, t.n, 18);
    const Matrix ga = t.a_by_column ? turned(a, t.m, t.k) : a,
                 gb = t.b_by_column ? turned(b, t.k, t.n) : b;
    const Matrix expected = product(a, b, c, t.m, t.n, t.k, 2);
    const vgpu::Dim3 one{1}, warp{32};
    if (t.type == 'H') {
      std::uint16_t* const d = array<std::uint16_t>(expected.size());
      launch(t.name, one, warp, d, halves(ga, false), halves(gb, false), halves(c, false));
      std::vector<double> got;
      for (std::size_t i = 0; i < expected.size(); ++i)
        got.push_back(static_cast<double>(conformance::half(d[i])));
      expect_equal(got.data(), expected, t.n);
      continue;
    }
    float* const d = array<float>(expected.size());
    if (t.type == 't')
      launch(t.name, one, warp, d, singles(ga), singles(gb), singles(c));
    else
      launch(t.name, one, warp, d, halves(ga, t.type == 'b'), halves(gb, t.type == 'b'),
             singles(c));
    expect_equal(d, expected, t.n);
  }
}

TEST_F(Tensor, WmmaOfIntegersAndDoubles) {
  const struct {
    const char* name;
    int m, n, k;
    bool a_by_column, b_by_column;
  } cases[] = {
      {"wmma_s8_square_rc", 16, 16, 16, false, true},
      {"wmma_s8_square_cr", 16, 16, 16, true, false},
      {"wmma_s8_tall_cc", 32, 8, 16, true, true},
      {"wmma_s8_wide_rr", 8, 32, 16, false, false},
      {"wmma_f64_rc", 8, 8, 4, false, true},
      {"wmma_f64_cr", 8, 8, 4, true, false},
  };
  for (const auto& t : cases) {
    SCOPED_TRACE(t.name);
    const bool doubles = t.k == 4;
    const auto scaled = [&](Matrix m) {
      for (double& v : m) v *= 4;
      return m;
    };
    const Matrix a = scaled(numbers(t.m, t.k, 19)), b = scaled(numbers(t.k, t.n, 20)),
                 c = scaled(numbers(t.m, t.n, 21));
    const Matrix ga = t.a_by_column ? turned(a, t.m, t.k) : a,
                 gb = t.b_by_column ? turned(b, t.k, t.n) : b;
    const Matrix expected = product(a, b, c, t.m, t.n, t.k, 2);
    if (doubles) {
      double* const d = array<double>(expected.size());
      launch(t.name, {1}, {32}, d, array(ga), array(gb), array(c));
      expect_equal(d, expected, t.n);
      continue;
    }
    const auto bytes = [&](const Matrix& m) {
      return array(std::vector<signed char>(m.begin(), m.end()));
    };
    int* const d = array<int>(expected.size());
    launch(t.name, {1}, {32}, d, bytes(ga), bytes(gb), array(std::vector<int>(c.begin(), c.end())));
    expect_equal(d, expected, t.n);
  }
}

TEST_F(Tensor, WmmaWithTwoTypesOfSums) {
  const Matrix a = numbers(16, 16, 22), b = numbers(16, 16, 23), c = numbers(16, 16, 24);
  const Matrix expected = product(a, b, c, 16, 16, 16, 2);
  float* const d = array<float>(256);
  launch("wmma_from_half", {1}, {32}, d, halves(a, false), halves(b, false), halves(c, false));
  expect_equal(d, expected, 16);
  std::uint16_t* const h = array<std::uint16_t>(256);
  launch("wmma_to_half", {1}, {32}, h, halves(a, false), halves(b, false), singles(c));
  std::vector<double> got;
  for (int i = 0; i < 256; ++i) got.push_back(static_cast<double>(conformance::half(h[i])));
  expect_equal(got.data(), expected, 16);
}

// The number of elements of a row is 32 / bits for each word.
TEST_F(Tensor, WmmaOfNarrowElements) {
  for (const auto& [name, bits, words, xors] :
       {std::tuple{"wmma_u4", 4, 4, false}, std::tuple{"wmma_b1", 1, 4, true},
        std::tuple{"wmma_b1_and", 1, 4, false}}) {
    SCOPED_TRACE(name);
    const int k = words * 32 / bits;
    std::vector<unsigned> a(8 * words), b(8 * words);
    unsigned state = 7;
    for (auto* const all : {&a, &b}) {
      for (unsigned& word : *all) word = state = state * 1664525u + 1013904223u;
    }
    std::vector<int> c(64);
    for (int i = 0; i < 64; ++i) c[i] = 1000 * i;
    Matrix expected(64);
    for (int i = 0; i < 8; ++i) {
      for (int j = 0; j < 8; ++j) {
        int sum = c[8 * j + i];
        for (int l = 0; l < k; ++l) {
          const auto one = [&, bits = bits, words = words](const std::vector<unsigned>& m,
                                                           int row) {
            return static_cast<int>(m[row * words + l * bits / 32] >> l * bits % 32 &
                                    ((1u << bits) - 1));
          };
          sum += xors ? one(a, i) ^ one(b, j) : one(a, i) * one(b, j);
        }
        expected[8 * j + i] = sum;
      }
    }
    int* const d = array<int>(64);
    launch(name, {1}, {32}, d, array(a), array(b), array(c));
    expect_equal(d, expected, 8);
  }
}

TEST_F(Tensor, QuartersOfAWarp) {
  for (const char* const name : {"mma_quads_rc", "mma_quads_rr", "mma_quads_cc", "mma_quads_cr"}) {
    SCOPED_TRACE(name);
    Matrix all_a, all_b, all_c, expected;
    const auto append = [](Matrix& to, const Matrix& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (int quad = 0; quad < 4; ++quad) {
      const Matrix a = numbers(8, 4, 30 + quad), b = numbers(4, 8, 40 + quad),
                   c = numbers(8, 8, 50 + quad);
      append(all_a, a);
      append(all_b, b);
      append(all_c, c);
      append(expected, product(a, b, c, 8, 8, 4));
    }
    float* const d = array<float>(256);
    launch(name, {1}, {32}, d, halves(all_a, false), halves(all_b, false), singles(all_c));
    expect_equal(d, expected, 8);
  }
}

TEST_F(Tensor, NeedAWholeWarp) {
  std::uint16_t* const out = array<std::uint16_t>(32);
  EXPECT_NO_THROW(launch("half_a_warp", {1}, {32}, out, 32));
  const vgpu::Fault fault = fault_of("half_a_warp", {1}, {32}, out, 20);
  EXPECT_EQ(fault.kind, vgpu::FaultKind::kBarrierDivergence);
  EXPECT_NE(std::string(fault.what()).find("some have exited"), std::string::npos) << fault.what();
  EXPECT_THROW(launch("half_a_warp", {1}, {20}, out, 32), vgpu::Fault);
}

TEST_F(Tensor, WhatIsMissingIsNamed) {
  const auto refused = [&](const std::string& instruction) {
    load_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .b32 "
        "%r<16>;\n.reg .f32 %f<9>;\n" +
        instruction + "\nret;\n}\n");
    try {
      launch("k", {1}, {32});
    } catch (const vgpu::Unsupported& error) {
      return std::string(error.what());
    }
    return std::string("it ran");
  };
  EXPECT_NE(
      refused("mma.sync.aligned.m16n8k8.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3}, {%r4}, {%r5}, "
              "{%r0,%r1,%r2,%r3};")
          .find("known are m16n8k4"),
      std::string::npos);
  EXPECT_NE(
      refused(
          "mma.sync.aligned.m8n8k4.row.diagonal.f32.f16.f16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, "
          "{%r0,%r1}, {%r2,%r3}, {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};")
          .find("m8n8k4"),
      std::string::npos);
  EXPECT_NE(refused("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
                    "{%r0,%r1,%r2}, {%r3}, {%f0,%f1,%f2,%f3};")
                .find("another number of registers"),
            std::string::npos);
}

}  // namespace
