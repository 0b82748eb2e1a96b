// SPDX-License-Identifier: Apache-2.0
// Divergence and calls, compared with tables of results computed independently of the kernels.
#include "engine_fixture.hpp"

namespace {

class Control : public EngineTest {
 protected:
  void SetUp() override { load("control"); }
};

TEST_F(Control, LoopsOfDifferentLength) {
  constexpr int kSteps[] = {// of 1 to 64: OEIS A006577
                            0,  1,  7,  2,  5,  8,   16,  3,  19,  6,  14,  9,  9,  17,  17,  4,
                            12, 20, 20, 7,  7,  15,  15,  10, 23,  10, 111, 18, 18, 18,  106, 5,
                            26, 13, 13, 21, 21, 21,  34,  8,  109, 8,  29,  16, 16, 16,  104, 11,
                            24, 24, 24, 11, 11, 112, 112, 19, 32,  19, 32,  19, 19, 107, 107, 6};
  std::vector<unsigned> start(64);
  for (unsigned i = 0; i < 64; ++i) start[i] = i + 1;
  unsigned* const steps = array<unsigned>(64);
  launch("collatz", {2}, {32}, array(start), steps);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(steps[i], kSteps[i]) << start[i];
}

TEST_F(Control, NestedBranchesWithEarlyExits) {
  constexpr int kSums[] = {// of thread i with the bound i % 7; -1 where it returns early
                           0,    1000, 2000, 2997, 4002, 5012, -1,   0,    1000, 1999, 3011,
                           3997, 4033, -1,   0,    1000, 2001, 2998, 4051, -1,   6052, 0,
                           1000, 2000, 2997, 4023, 5075, -1,   0,    1000, 1999, 3032, 3997,
                           4096, -1,   0,    1000, 2001, 2998, 4114, -1,   6115, 0,    1000,
                           2000, 2997, 4044, 5138, -1,   0,    1000, 1999, 3053, 3997, 4159,
                           -1,   0,    1000, 2001, 2998, 4177, -1,   6178, 0};
  std::vector<int> in(64);
  for (int i = 0; i < 64; ++i) in[i] = i % 7;
  int* const out = array<int>(64, -1);
  launch("nested", {2}, {32}, array(in), out);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], kSums[i]) << i;
}

TEST_F(Control, RotatedWords) {
  std::vector<unsigned> in(32), other(32);
  for (unsigned i = 0; i < 32; ++i) {
    in[i] = 0x9e3779b9u * (i + 1);
    other[i] = 0x85ebca6bu * (i + 3);
  }
  unsigned* const out = array<unsigned>(128);
  launch("add_rotated", {1}, {32}, array(in), array(other), out);
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned a = in[i], b = other[i];
    EXPECT_EQ(out[i], (a << 7 | a >> 25) + b) << i;
    EXPECT_EQ(out[32 + i], (b << 31 | b >> 1) - a) << i;
    EXPECT_EQ(out[64 + i], (b << 12 | a >> 20) + a) << i;
    const long long far = static_cast<long long>(static_cast<int>(a)) * 8 + 5;
    EXPECT_EQ(out[96 + i], static_cast<unsigned>(far >> 32) + static_cast<unsigned>(far)) << i;
  }
}

TEST_F(Control, Switch) {
  constexpr int kCases[][2] = {{0x20, 0x25},  {0x21, 0x63}, {0x22, 0x70},  {0x23, 0x1c},
                               {0x24, -0x24}, {0x25, 0x94}, {0x26, 0x13},  {0x27, 0x127},
                               {0x28, 0x640}, {0x29, 1},    {0x2a, -0x2b}, {0x2b, 0x36},
                               {0x2c, 0},     {0x2d, 0},    {0x2e, 0},     {0x2f, 0}};
  std::vector<int> in;
  for (const auto& [value, result] : kCases) in.push_back(value);
  int* const out = array<int>(16);
  launch("choose", {1}, {16}, array(in), out);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], kCases[i][1]) << in[i];
}

TEST_F(Control, BranchTable) {
  constexpr unsigned kTargets[] = {10, 21, 32, 43};
  std::vector<unsigned> in(64);
  for (unsigned i = 0; i < 64; ++i) in[i] = i * 7 % 4;
  unsigned* const out = array<unsigned>(64);
  launch("jump", {1}, {64}, array(in), out);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], kTargets[in[i]]) << i;
  in[40] = 4;
  EXPECT_EQ(fault_of("jump", {1}, {64}, array(in), out).kind, vgpu::FaultKind::kTrap);
}

TEST_F(Control, Recursion) {
  constexpr unsigned kFibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377};
  std::vector<unsigned> in(64);
  for (unsigned i = 0; i < 64; ++i) in[i] = i % 15;
  unsigned* const out = array<unsigned>(64);
  launch("recursive", {1}, {64}, array(in), out);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], kFibonacci[in[i]]) << i;
}

TEST_F(Control, EveryActivationHasItsOwnArray) {
  constexpr int kSums[] = {0, 0, 1, 9, 66, 490};
  int* const out = array<int>(32);
  launch("recursive_array", {1}, {32}, out);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], kSums[i % 6]) << i;
}

struct Pair {
  double value;
  int count;
  char name[3];
};

TEST_F(Control, StructuresAsArgumentsAndResults) {
  Pair* const pairs = array<Pair>(40);
  for (int i = 0; i < 40; ++i) pairs[i] = {i * 0.5, i, {static_cast<char>(i), 2, 0}};
  launch("structs", {1}, {40}, pairs);
  for (int i = 0; i < 40; ++i) {
    const bool called = i % 3 != 0;
    EXPECT_EQ(pairs[i].value, called ? i : i * 0.5) << i;
    EXPECT_EQ(pairs[i].count, called ? 2 * i : i) << i;
    EXPECT_EQ(pairs[i].name[2], called ? i + 2 : 0) << i;
  }
}

TEST_F(Control, FunctionPointers) {
  constexpr int kCases[][2] = {{9, 10}, {7, 49}, {5, -5}, {4, 16}, {0, 1}, {8, -8}, {6, 7}, {1, 1}};
  std::vector<int> in;
  for (const auto& [value, result] : kCases) in.push_back(value);
  int* const out = array<int>(8);
  launch("pointers", {1}, {8}, array(in), out);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], kCases[i][1]) << in[i];
}

TEST_F(Control, BadFunctionPointer) {
  const std::uint64_t pointers[] = {0, 1, 0x1234567890};
  for (const std::uint64_t pointer : pointers) {
    const vgpu::Fault fault =
        fault_of("bad_pointer", {1}, {32}, array<std::uint64_t>(1, pointer), array<int>(32));
    EXPECT_EQ(fault.kind, vgpu::FaultKind::kTrap);
    EXPECT_NE(std::string(fault.what()).find("bad function pointer"), std::string::npos)
        << fault.what();
  }
}

TEST_F(Control, VirtualFunctions) {
  constexpr float kAreas[] = {0, 3, 4, 27, 16, 75, 36, 147};  // squares and discs alternate
  float* const out = array<float>(8);
  launch("virtual_calls", {1}, {8}, out);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], kAreas[i]) << i;
}

TEST_F(Control, LanesOfOneWarpWaitForEachOther) {
  int* const lock = array<int>(1);
  int* const counter = array<int>(1);
  launch("spin_within_warp", {3}, {64}, lock, counter);
  EXPECT_EQ(*counter, 192);
  EXPECT_EQ(*lock, 0);
}

}  // namespace
