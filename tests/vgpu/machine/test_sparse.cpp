// SPDX-License-Identifier: Apache-2.0
// mma.sp, compared with products of the dense matrices in double. Inputs are small integers: every
// sum is exact, and a misplaced element or position is detected.
#include <bit>
#include <cmath>

#include "wgmma_fixture.hpp"

namespace {

using std::size_t;
using wgmma_test::code_of;
using wgmma_test::Type;
using wgmma_test::u32;

constexpr int kRows = 16, kColumns = 8, kLanes = 32;

struct Shape {
  const char* name;
  const char *a, *b, *d;
  int bits, k;  // of an element, of the dense A
  int threads;  // of each four that have metadata
  bool any_order = false;
};

// A row's metadata and which of its elements they keep, in the order of their storage.
struct Chunk {
  u32 metadata;
  std::vector<int> kept;
};

class Sparse : public EngineTest {
 protected:
  void SetUp() override { load("sparse", VGPU_TEST_PTX_90); }

  int below(int end) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<int>((state_ >> 16) % static_cast<u32>(end));
  }

  Chunk chunk(const Shape& shape) {
    if (shape.bits == 32) {
      const int kept = below(2);
      return {kept == 0 ? 0b0100u : 0b1110u, {kept}};
    }
    int first = below(4), second = below(3);
    if (second >= first) ++second;
    if (!shape.any_order && first > second) std::swap(first, second);
    const u32 metadata = static_cast<u32>(first | second << 2);
    if (shape.bits != 4) return {metadata, {first, second}};
    return {metadata, {2 * first, 2 * first + 1, 2 * second, 2 * second + 1}};  // pairs
  }

  static u32 code(const char* type, int value) {
    const std::string name = type;
    if (name == "s4" || name == "u4") return static_cast<u32>(value) & 15;
    if (name == "f32") return std::bit_cast<u32>(static_cast<float>(value));
    return code_of(Type{type, name == "tf32" ? 4 : name.ends_with("16") ? 2 : 1}, value);
  }

  static double sum_of(const Shape& shape, u32 bits, int half) {
    const std::string type = shape.d;
    if (type == "s32") return static_cast<std::int32_t>(bits);
    if (type == "f32") return std::bit_cast<float>(bits);
    const u32 part = bits >> 16 * half & 0xffff;
    const double magnitude =
        (part & 0x7fff) == 0
            ? 0
            : std::ldexp(1024 + (part & 0x3ff), static_cast<int>(part >> 10 & 31) - 25);
    return (part >> 15) != 0 ? -magnitude : magnitude;
  }

  // The operands of one product, by lanes.
  struct Operands {
    std::vector<u32> a, b, c, metadata = std::vector<u32>(kLanes);
    std::vector<double> expected;
  };

  Operands operands(const Shape& shape, int selector) {
    const int in_register = 32 / shape.bits, factors = shape.k * shape.bits / 128;
    const int of_chunk = shape.bits == 32 ? 2 : shape.bits == 4 ? 8 : 4;
    const bool narrow = shape.bits <= 8;
    const auto number = [&](const char* type) { return type[0] == 'u' ? below(7) : below(7) - 3; };
    Operands of;
    of.a.resize(static_cast<size_t>(kLanes * factors));
    of.b.resize(of.a.size());
    std::vector<double> a(static_cast<size_t>(kRows * shape.k)),
        b(static_cast<size_t>(kColumns * shape.k));
    for (int row = 0; row < kRows; ++row) {
      int stored = 0;
      for (int c = 0; c < shape.k / of_chunk; ++c) {
        const Chunk one = chunk(shape);
        const int group = row % 8 * 4, lower = row / 8;
        // PTX ISA, the figures of the metadata: with wide elements a thread has four chunks of two
        // rows, eight apart; with narrow ones it has eight of one row.
        const int thread = selector * shape.threads + (narrow ? lower + 2 * (c / 8) : c / 4);
        const int bit = narrow ? 4 * (c % 8) : 16 * lower + 4 * (c % 4);
        of.metadata[static_cast<size_t>(group + thread)] |= one.metadata << bit;
        for (const int kept : one.kept) {
          const int value = number(shape.a);
          a[static_cast<size_t>(row * shape.k + c * of_chunk + kept)] = value;
          const int word = stored / in_register;  // of the row
          const int lane = group + word % 4, r = lower + 2 * (word / 4);
          of.a[static_cast<size_t>(lane * factors + r)] |= code(shape.a, value)
                                                           << shape.bits * (stored % in_register);
          ++stored;
        }
      }
    }
    for (int column = 0; column < kColumns; ++column) {
      for (int k = 0; k < shape.k; ++k) {
        const int value = number(shape.b), word = k / in_register;
        b[static_cast<size_t>(column * shape.k + k)] = value;
        of.b[static_cast<size_t>((column * 4 + word % 4) * factors + word / 4)] |=
            code(shape.b, value) << shape.bits * (k % in_register);
      }
    }
    const bool halves = std::string(shape.d) == "f16";
    of.c.resize(static_cast<size_t>(kLanes * (halves ? 2 : 4)));
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        const int value = below(9) - 4;
        double sum = value;
        for (int k = 0; k < shape.k; ++k) {
          sum += a[static_cast<size_t>(row * shape.k + k)] *
                 b[static_cast<size_t>(column * shape.k + k)];
        }
        of.expected.push_back(sum);
        const auto [at, shift] = place_of_sum(shape, row, column);
        const u32 bits = std::string(shape.d) == "s32" ? static_cast<u32>(value)
                                                       : code(halves ? "f16" : "f32", value);
        of.c[at] |= bits << shift;
      }
    }
    return of;
  }

  static std::pair<size_t, int> place_of_sum(const Shape& shape, int row, int column) {
    const int lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2;
    if (std::string(shape.d) == "f16") return {static_cast<size_t>(lane * 2 + i / 2), 16 * (i % 2)};
    return {static_cast<size_t>(lane * 4 + i), 0};
  }

  void check(const Shape& shape) {
    for (int selector = 0; selector < 4 / shape.threads; ++selector) {
      const std::string name = shape.name + ("_" + std::to_string(selector));
      SCOPED_TRACE(name);
      const Operands of = operands(shape, selector);
      u32* const d = array<u32>(of.c.size());
      launch(name, {1}, {kLanes}, d, array(of.a), array(of.b), array(of.c), array(of.metadata));
      for (int row = 0; row < kRows; ++row) {
        for (int column = 0; column < kColumns; ++column) {
          const auto [at, shift] = place_of_sum(shape, row, column);
          ASSERT_EQ(sum_of(shape, d[at], shift / 16),
                    of.expected[static_cast<size_t>(row * kColumns + column)])
              << row << ", " << column;
        }
      }
    }
  }

  // The fault of f16_k32 or another kernel whose metadata are all `nibble`, but for one.
  vgpu::Fault fault_with(const Shape& shape, u32 good, u32 bad) {
    Operands of = operands(shape, 1);
    for (size_t lane = 0; lane < of.metadata.size(); ++lane)
      of.metadata[lane] = lane % 4 < 2 ? 0 : good * 0x11111111;  // the first two are not read
    of.metadata[11] = (of.metadata[11] & ~0xf0u) | bad << 4;
    return fault_of(shape.name + std::string("_1"), {1}, {kLanes}, array<u32>(of.c.size()),
                    array(of.a), array(of.b), array(of.c), array(of.metadata));
  }

 private:
  u32 state_ = 7;
};

TEST_F(Sparse, WideElements) {
  for (const Shape& shape : {Shape{"f16_k16", "f16", "f16", "f32", 16, 16, 1},
                             Shape{"f16_k32", "f16", "f16", "f32", 16, 32, 2},
                             Shape{"f16_sums_k16", "f16", "f16", "f16", 16, 16, 1},
                             Shape{"f16_sums_k32", "f16", "f16", "f16", 16, 32, 2},
                             Shape{"bf16_k16", "bf16", "bf16", "f32", 16, 16, 1},
                             Shape{"bf16_k32", "bf16", "bf16", "f32", 16, 32, 2},
                             Shape{"tf32_k8", "tf32", "tf32", "f32", 32, 8, 1},
                             Shape{"tf32_k16", "tf32", "tf32", "f32", 32, 16, 2}}) {
    for (const auto numerics : {vgpu::Numerics::kSingle, vgpu::Numerics::kHopper}) {
      config.numerics = numerics;
      check(shape);
    }
  }
}

TEST_F(Sparse, Integers) {
  for (const char* a : {"s8", "u8", "s4", "u4"}) {
    for (const char* b : {"s8", "u8", "s4", "u4"}) {
      if (a[1] != b[1]) continue;
      const int bits = a[1] - '0', deep = 512 / bits;
      const std::string types = a + std::string("_") + b + "_k";
      const std::string half = types + std::to_string(deep / 2),
                        whole = types + std::to_string(deep);
      check({half.c_str(), a, b, "s32", bits, deep / 2, 2});
      check({whole.c_str(), a, b, "s32", bits, deep, 4});
    }
  }
}

TEST_F(Sparse, Bytes) {
  if (architecture() < 89) GTEST_SKIP() << "it has no numbers of 8 bits";
  for (const char* a : {"e4m3", "e5m2"}) {
    for (const char* b : {"e4m3", "e5m2"}) {
      const std::string name = a + std::string("_") + b + "_k64";
      for (const auto numerics : {vgpu::Numerics::kSingle, vgpu::Numerics::kHopper}) {
        config.numerics = numerics;
        check({name.c_str(), a, b, "f32", 8, 64, 4});
      }
    }
  }
}

TEST_F(Sparse, PositionsInAnyOrder) {
  check({"f16_any_order_k32", "f16", "f16", "f32", 16, 32, 2, true});
  check({"s8_any_order_k32", "s8", "s8", "s32", 8, 32, 2, true});
}

TEST_F(Sparse, SaturatesSums) {
  const Shape shape{"saturated_k64", "s8", "s8", "s32", 8, 64, 4};
  Operands of = operands(shape, 0);
  for (u32& sum : of.c) sum = 0x7fffffff;
  for (u32& four : of.a) four = 0x01010101;
  for (u32& four : of.b) four = 0x02020202;
  u32* const d = array<u32>(of.c.size());
  launch("saturated_k64_0", {1}, {kLanes}, d, array(of.a), array(of.b), array(of.c),
         array(of.metadata));
  for (size_t i = 0; i < of.c.size(); ++i) EXPECT_EQ(d[i], 0x7fffffffu) << i;
}

// An infinity in B that no kept element meets has no effect.
TEST_F(Sparse, WhatIsNotKeptIsNotMultiplied) {
  const Shape shape{"f16_k32", "f16", "f16", "f32", 16, 32, 2};
  Operands of = operands(shape, 0);
  for (u32& word : of.metadata) word = 0x44444444;  // elements 0 and 1 of each four
  for (u32& pair : of.a) pair = 0x3c003c00;
  for (size_t i = 0; i < of.b.size(); ++i)  // lane % 4 has elements 2 (lane % 4) and the next one
    of.b[i] = i / 4 % 2 == 0 ? 0x3c003c00 : 0x7c007e00;
  for (u32& sum : of.c) sum = 0;
  for (const auto numerics : {vgpu::Numerics::kSingle, vgpu::Numerics::kHopper}) {
    config.numerics = numerics;
    u32* const d = array<u32>(of.c.size());
    launch("f16_k32_0", {1}, {kLanes}, d, array(of.a), array(of.b), array(of.c),
           array(of.metadata));
    for (size_t i = 0; i < of.c.size(); ++i) EXPECT_EQ(std::bit_cast<float>(d[i]), 16) << i;
  }
}

TEST_F(Sparse, MetadataWithoutMeaning) {
  const Shape f16{"f16_k32", "f16", "f16", "f32", 16, 32, 2},
      any{"f16_any_order_k32", "f16", "f16", "f32", 16, 32, 2},
      tf32{"tf32_k16", "tf32", "tf32", "f32", 32, 16, 2},
      s8{"s8_s8_k32", "s8", "s8", "s32", 8, 32, 2};
  const auto expect = [&](const Shape& shape, u32 good, u32 bad, const char* binary) {
    expect_fault(fault_with(shape, good, bad), vgpu::FaultKind::kBadOperand,
                 {std::string("sparse metadata 0b") + binary, "bits 4 to 7"});
  };
  expect(f16, 0b1001, 0b0101, "0101");
  expect(s8, 0b1001, 0b1111, "1111");
  expect(any, 0b0001, 0b1010, "1010");
  expect(tf32, 0b1110, 0b1001, "1001");
  if (!from_machine_code()) {  // where ordered and other metadata have one instruction
    expect(f16, 0b1001, 0b0001, "0001");
    expect(s8, 0b1101, 0b0111, "0111");
  }
}

TEST_F(Sparse, SelectorsThatTheShapeLacks) {
  const auto refusal = [&](const std::string& operation, const std::string& operands,
                           const std::string& selector) {
    load_text(
        ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry k() {\n"
        ".reg .b32 r<16>;\n" +
        operation + " {r0, r1, r2, r3}, " + operands + ", r15, " + selector + ";\nret;\n}\n");
    return vgpu::refusal(*module->find_kernel("k"));
  };
  const std::string four = "{r4, r5, r6, r7}, {r8, r9, r10, r11}, {r0, r1, r2, r3}",
                    two = "{r4, r5}, {r8, r9}, {r0, r1, r2, r3}",
                    half = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
                    byte = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32",
                    quarter = "mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
  EXPECT_EQ(refusal(half, four, "1"), "");
  EXPECT_NE(refusal(half, four, "2").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal(half, four, "-1").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal(half, four, "r14").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal(byte, four, "1").find("from 0 to 0"), std::string::npos);
  EXPECT_EQ(refusal(quarter, two, "3"), "");
  EXPECT_NE(refusal(quarter, two, "4").find("from 0 to 3"), std::string::npos);
  EXPECT_NE(refusal(quarter, four, "0").find("number of registers"), std::string::npos);
  EXPECT_NE(
      refusal("mma.sp.sync.aligned.m16n8k64.row.col.f32.f16.f16.f32", four, "0").find("known are"),
      std::string::npos);
}

}  // namespace
