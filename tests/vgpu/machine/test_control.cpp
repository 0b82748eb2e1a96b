// SPDX-License-Identifier: Apache-2.0
// Divergence and calls, against the same functions on the host.
#include <numeric>
#include <random>

#include "engine_fixture.hpp"

namespace {

class Control : public EngineTest {
 protected:
  void SetUp() override { load("control"); }
  std::vector<int> numbers(int count, int low, int high) {
    std::mt19937 random(7);
    std::vector<int> values(count);
    for (int& v : values) v = std::uniform_int_distribution<int>(low, high)(random);
    return values;
  }
};

TEST_F(Control, LoopsOfDifferentLength) {
  std::vector<unsigned> start(200);
  std::iota(start.begin(), start.end(), 1u);
  unsigned* const steps = array<unsigned>(200);
  launch("collatz", {2, 1, 1}, {100, 1, 1}, array(start), steps);
  for (unsigned i = 0; i < 200; ++i) {
    unsigned n = start[i], count = 0;
    for (; n != 1; ++count) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    EXPECT_EQ(steps[i], count) << i;
  }
}

TEST_F(Control, NestedBranchesWithEarlyExits) {
  const std::vector<int> in = numbers(256, 0, 1000);
  int* const out = array<int>(256, -1);
  launch("nested", {2, 1, 1}, {128, 1, 1}, array(in), out);
  for (int i = 0; i < 256; ++i) {
    int sum = 0;
    bool returned = false;
    for (int k = 0; k < in[i] % 7 && !returned; ++k) {
      if ((i + k) % 3 == 0) {
        for (int j = 0; j < k && j != 3; ++j) sum += j * i;
      } else if ((i + k) % 3 == 1) {
        if (k == 4) continue;
        sum -= k;
      } else {
        sum ^= k;
        returned = sum < -100;
      }
      sum += 1000;
    }
    EXPECT_EQ(out[i], returned ? -1 : sum) << i;
  }
}

TEST_F(Control, Switch) {
  const std::vector<int> in = numbers(96, 0, 5000);
  int* const out = array<int>(96);
  launch("choose", {1, 1, 1}, {96, 1, 1}, array(in), out);
  for (int i = 0; i < 96; ++i) {
    int v = in[i];
    switch (v & 15) {
      case 0:
        v += 5;
        break;
      case 1:
        v *= 3;
        break;
      case 2:
        v = (v ^ 0x55) - 7;
        break;
      case 3:
        v -= 7;
        break;
      case 4:
        v = -v;
        break;
      case 5:
        v <<= 2;
        break;
      case 6:
        v >>= 1;
        break;
      case 7:
        v |= 0x100;
        break;
      case 8:
        v = v * v;
        break;
      case 9:
        v = 1;
        break;
      case 10:
        v = ~v;
        break;
      case 11:
        v += i;
        break;
      default:
        v = 0;
    }
    EXPECT_EQ(out[i], v) << i;
  }
}

TEST_F(Control, BranchTable) {
  std::vector<unsigned> in(64);
  for (unsigned i = 0; i < 64; ++i) in[i] = i * 7 % 4;
  unsigned* const out = array<unsigned>(64);
  launch("jump", {1, 1, 1}, {64, 1, 1}, array(in), out);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], 10 + 11 * in[i]) << i;
  in[40] = 4;
  EXPECT_EQ(fault_of("jump", {1, 1, 1}, {64, 1, 1}, array(in), out).kind, vgpu::FaultKind::kTrap);
}

unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

TEST_F(Control, Recursion) {
  std::vector<unsigned> in(64);
  for (unsigned i = 0; i < 64; ++i) in[i] = i % 15;
  unsigned* const out = array<unsigned>(64);
  launch("recursive", {1, 1, 1}, {64, 1, 1}, array(in), out);
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], fibonacci(in[i])) << i;
}

int permutations(int n, int depth) {
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += (k + depth) % n * depth + permutations(n - 1, depth + 1);
  return sum;
}

TEST_F(Control, EveryActivationHasItsOwnArray) {
  int* const out = array<int>(32);
  launch("recursive_array", {1, 1, 1}, {32, 1, 1}, out);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], permutations(i % 6, 1)) << i;
}

struct Pair {
  double value;
  int count;
  char name[3];
};

TEST_F(Control, StructuresAsArgumentsAndResults) {
  Pair* const pairs = array<Pair>(40);
  for (int i = 0; i < 40; ++i) pairs[i] = {i * 0.5, i, {static_cast<char>(i), 2, 0}};
  launch("structs", {1, 1, 1}, {40, 1, 1}, pairs);
  for (int i = 0; i < 40; ++i) {
    const bool called = i % 3 != 0;
    EXPECT_EQ(pairs[i].value, called ? i : i * 0.5) << i;
    EXPECT_EQ(pairs[i].count, called ? 2 * i : i) << i;
    EXPECT_EQ(pairs[i].name[2], called ? i + 2 : 0) << i;
  }
}

TEST_F(Control, FunctionPointers) {
  const std::vector<int> in = numbers(64, 0, 100);
  int* const out = array<int>(64);
  launch("pointers", {1, 1, 1}, {64, 1, 1}, array(in), out);
  for (int i = 0; i < 64; ++i) {
    const int v = in[i];
    EXPECT_EQ(out[i], v % 3 == 0 ? v + 1 : v % 3 == 1 ? v * v : -v) << i;
  }
}

TEST_F(Control, BadFunctionPointer) {
  const std::uint64_t pointers[] = {0, 1, 0x1234567890};
  for (const std::uint64_t pointer : pointers) {
    const vgpu::Fault fault = fault_of("bad_pointer", {1, 1, 1}, {32, 1, 1},
                                       array<std::uint64_t>(1, pointer), array<int>(32));
    EXPECT_EQ(fault.kind, vgpu::FaultKind::kTrap);
    EXPECT_NE(std::string(fault.what()).find("bad function pointer"), std::string::npos)
        << fault.what();
  }
}

TEST_F(Control, VirtualFunctions) {
  float* const out = array<float>(32);
  launch("virtual_calls", {1, 1, 1}, {32, 1, 1}, out);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], static_cast<float>(i % 2 == 0 ? i * i : 3 * i * i)) << i;
}

TEST_F(Control, LanesOfOneWarpWaitForEachOther) {
  int* const lock = array<int>(1);
  int* const counter = array<int>(1);
  launch("spin_within_warp", {3, 1, 1}, {64, 1, 1}, lock, counter);
  EXPECT_EQ(*counter, 192);
  EXPECT_EQ(*lock, 0);
}

}  // namespace
