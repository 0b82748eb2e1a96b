// SPDX-License-Identifier: Apache-2.0
// State spaces, sizes of access, variables of the module, attributes.
#include <cstdint>

#include "engine_fixture.hpp"
#include "machine/operations.hpp"

namespace {

class MemorySpaces : public EngineTest {
 protected:
  void SetUp() override { load("memory"); }
};

TEST_F(MemorySpaces, ConstantMemory) {
  const auto table = module->find_symbol("table");
  ASSERT_TRUE(table.has_value());
  EXPECT_TRUE(table->constant);
  EXPECT_EQ(table->bytes, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) static_cast<int*>(table->address)[i] = 1000 - i;
  float* const out = array<float>(64);
  int* const looked_up = array<int>(64);
  launch("constants", {1}, {64}, out, looked_up);
  const float coefficients[] = {1.5F, -2.0F, 0.25F, 8.0F};
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], coefficients[i % 4] * static_cast<float>(i)) << i;
    EXPECT_EQ(looked_up[i], 1000 - i * 5 % 64) << i;
  }
}

TEST_F(MemorySpaces, VariablesWithInitialisers) {
  int* const out = array<int>(3);
  launch("variables", {1}, {1}, out);
  EXPECT_EQ(out[0], 42);
  EXPECT_EQ(out[1], 'e');
  EXPECT_EQ(out[2], 43);
  EXPECT_EQ(*static_cast<int*>(module->find_symbol("counter")->address), 43);
  EXPECT_FALSE(module->find_symbol("absent").has_value());
}

template <class T>
std::vector<T> widened(const T* in) {
  std::vector<T> out(32);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<T>(in[i] + static_cast<T>(1));
  return out;
}

TEST_F(MemorySpaces, SizesOfAccess) {
  std::vector<std::uint8_t> bytes(256);
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 11);
  for (int k = 7; k < 256; k += 8) bytes[k] = 0x3f;  // finite as double and float
  std::uint8_t* const in = array(bytes);
  const auto check = [&](int which, auto type) {
    using T = decltype(type);
    T* const out = array<T>(33, T(77));
    launch("sizes", {1}, {32}, static_cast<const void*>(in), static_cast<void*>(out), which);
    const std::vector<T> expected = widened(reinterpret_cast<const T*>(in));
    for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], expected[i]) << which << ", " << i;
    EXPECT_EQ(out[32], T(77));
  };
  check(0, std::int8_t());
  check(1, std::uint8_t());
  check(2, std::int16_t());
  check(3, std::uint16_t());
  check(4, std::int32_t());
  check(5, std::int64_t());
  check(6, double());
}

TEST_F(MemorySpaces, Vectors) {
  std::vector<float> in4(256);
  std::vector<int> in2(128);
  std::vector<short> in8(256);
  std::vector<double> in16(128);
  for (int i = 0; i < 256; ++i) in4[i] = static_cast<float>(i), in8[i] = static_cast<short>(i * 3);
  for (int i = 0; i < 128; ++i) in2[i] = -i, in16[i] = i * 0.5;
  float* const out4 = array<float>(256);
  int* const out2 = array<int>(128);
  short* const out8 = array<short>(256);
  double* const out16 = array<double>(128);
  for (const unsigned threads : {64u, 50u}) {
    launch("vectors", {1}, {threads}, array(in4), array(in2), array(in8), array(in16), out4, out2,
           out8, out16);
  }
  for (int i = 0; i < 64; ++i) {
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(out4[4 * i + k], in4[4 * i + 3 - k]);
      EXPECT_EQ(out8[4 * i + k], in8[4 * i + (k ^ 1)]);
    }
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(out2[2 * i + k], in2[2 * i + 1 - k]);
      EXPECT_EQ(out16[2 * i + k], in16[2 * i + 1 - k]);
    }
  }
}

TEST_F(MemorySpaces, LanesThatLoadFromAnywhere) {
  int* const in = array<int>(4 * 32);
  for (int i = 0; i < 4 * 32; ++i) in[i] = 1000 + i;
  for (const vgpu::machine::Isa& isa : vgpu::machine::isas()) {
    ASSERT_TRUE(vgpu::machine::use_isa(isa.code.name));
    int* const out = array<int>(7 * 32);
    const int* const from = in;
    launch("permuted", {1}, {32}, from, from, from, out);
    for (int i = 0; i < 32; ++i) {
      const int first[] = {1, 2, 2, 4, 4, 4, 4}, word[] = {0, 0, 1, 0, 1, 2, 3};
      for (int k = 0; k < 7; ++k)
        EXPECT_EQ(out[7 * i + k], 1000 + i * 37 % 32 * first[k] + word[k]) << isa.code.name;
    }
  }
  vgpu::machine::use_isa("");
}

TEST_F(MemorySpaces, LocalArrays) {
  std::vector<int> index(96);
  for (int i = 0; i < 96; ++i) index[i] = i * 5;
  int* const out = array<int>(96);
  launch("local_array", {1}, {96}, array(index), out);
  for (int i = 0; i < 96; ++i) {
    int values[16];
    for (int k = 0; k < 16; ++k) values[k] = k * i;
    values[index[i] & 15] = -1;
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum += values[(k + index[i]) & 15] * (k + 1);
    EXPECT_EQ(out[i], sum) << i;
  }
  EXPECT_GE(attributes(*module->find_kernel("local_array")).local_bytes, 64u);
}

TEST_F(MemorySpaces, NarrowRowsOfLocalMemory) {
  std::vector<int> order(16);
  for (int k = 0; k < 16; ++k) order[k] = (k * 7 + 3) & 15;
  long long* const out = array<long long>(64);
  launch("local_rows", {1}, {64}, array(order), out);
  for (int i = 0; i < 64; ++i) {
    signed char bytes[16];
    unsigned char unsigned_bytes[16];
    short halves[16];
    for (int k = 0; k < 16; ++k) {
      bytes[order[k]] = static_cast<signed char>(k * 29 + i);
      unsigned_bytes[order[k]] = static_cast<unsigned char>(k * 31 - i);
      halves[order[k]] = static_cast<short>(k * 3001 - i * 7);
    }
    long long sum = 0;
    for (int k = 0; k < 16; ++k)
      sum = sum * 3 + bytes[order[15 - k]] - unsigned_bytes[order[k]] + halves[order[k * 5 & 15]];
    EXPECT_EQ(out[i], sum) << i;
  }
}

TEST_F(MemorySpaces, BytesOfLocalMemory) {
  std::vector<int> index(64);
  for (int i = 0; i < 64; ++i) index[i] = i * 3;
  long long* const out = array<long long>(64);
  launch("local_bytes", {1}, {64}, array(index), out);
  for (int i = 0; i < 64; ++i) {
    unsigned char bytes[32];
    for (int k = 0; k < 32; ++k) bytes[(k + index[i]) & 31] = static_cast<unsigned char>(k * 7 + i);
    long long words[4];
    std::memcpy(words, bytes, sizeof(words));
    EXPECT_EQ(out[i], words[index[i] & 3]) << i;
  }
}

TEST_F(MemorySpaces, GenericPointers) {
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = -i;
  int* const out = array<int>(128);
  launch("generic_pointers", {1}, {64}, array(in), out);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], i % 3 == 0 ? -i : i % 3 == 1 ? 100 + (i + 1) % 64 : 1000 * (i % 4) + i) << i;
    EXPECT_EQ(out[64 + i], i % 3 == 0 ? 4 : i % 3 == 1 ? 1 : 2) << i;
  }
}

struct Big {
  int values[40];
  double scale;
};

TEST_F(MemorySpaces, ParametersIndexedAtRunTime) {
  Big big;
  for (int i = 0; i < 40; ++i) big.values[i] = i * i;
  big.scale = 0.5;
  std::vector<int> index(40);
  for (int i = 0; i < 40; ++i) index[i] = (i * 7) % 40;
  double* const out = array<double>(40);
  launch("parameters", {1}, {40}, big, static_cast<char>(3), static_cast<short>(-500), out,
         array(index));
  for (int i = 0; i < 40; ++i) EXPECT_EQ(out[i], big.values[index[i]] * 0.5 + 3 - 500) << i;
}

TEST_F(MemorySpaces, ParametersOfFunctionsIndexedAtRunTime) {
  Big big;
  for (int i = 0; i < 40; ++i) big.values[i] = 7 * i;
  big.scale = 1;
  int* const out = array<int>(64);
  launch("function_parameters", {1}, {64}, big, out);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], (7 * (i % 40) + i) * 1000 + 7 * ((i + 1) % 40)) << i;
}

TEST_F(MemorySpaces, PartialBlocks) {
  const int width = 45, height = 13;
  std::vector<float> in(width * height);
  for (int i = 0; i < width * height; ++i) in[i] = static_cast<float>(i);
  float* const out = array<float>(width * height);
  launch("copy_2d", {3, 2, 1}, {16, 8, 1}, array(in), out, width, height);
  for (int i = 0; i < width * height; ++i) EXPECT_EQ(out[i], in[i] + 1) << i;
}

TEST_F(MemorySpaces, StaticAndDynamicSharedMemory) {
  float* const out = array<float>(48);
  config.dynamic_shared_bytes = 48 * sizeof(float);
  launch("two_shared", {1}, {48}, out);
  for (int i = 0; i < 48; ++i)
    EXPECT_EQ(out[i], static_cast<float>(i % 8 + i % 3) + static_cast<float>((i + 1) % 48) * 0.5F);
  EXPECT_EQ(attributes(*module->find_kernel("two_shared")).static_shared_bytes,
            from_machine_code() ? 80u : 67u);  // machine code has a multiple of 16 bytes
}

TEST_F(MemorySpaces, ConstantMemoryHasAnAddress) {
  int* const other = array<int>(64, 7);
  int* const out = array<int>(64);
  launch("constant_by_address", {1}, {64}, static_cast<const int*>(other), 0, out);
  EXPECT_EQ(out[63], 7);
  int* const constants = static_cast<int*>(module->find_symbol("table")->address);
  for (int i = 0; i < 64; ++i) constants[i] = 100 + i;
  launch("constant_by_address", {1}, {64}, static_cast<const int*>(other), 1, out);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 100 + i);
  EXPECT_EQ(vgpu::sass::fallback(*module->find_kernel("constant_by_address")), "");
}

TEST_F(MemorySpaces, WhatTheDriverSaysOfALaunch) {
  unsigned* const out = array<unsigned>(4, 1);
  config.dynamic_shared_bytes = 1040;
  launch("launch_values", {1}, {1}, out);
  EXPECT_EQ(out[0], 1040u);
  EXPECT_EQ(out[1], 1040u);
  EXPECT_EQ(out[2], 132u);
  EXPECT_EQ(out[3], 0u);
  // From sm_100 on, where the size is depends on the cluster.
  const bool by_index = from_machine_code() && architecture() >= 100;
  EXPECT_EQ(vgpu::sass::fallback(*module->find_kernel("launch_values")) != "", by_index);
}

TEST_F(MemorySpaces, FreesItsVariables) {
  const std::size_t with = memory.allocated_bytes();
  module.reset();
  EXPECT_LT(memory.allocated_bytes(), with);
  EXPECT_EQ(memory.allocated_bytes(), 0u);
}

}  // namespace
