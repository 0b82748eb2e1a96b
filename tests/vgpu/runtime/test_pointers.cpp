// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "runtime/pointers.hpp"

namespace vgpu::runtime {
namespace {

TEST(Pointers, AreFoundByStartAndByWhatTheyCover) {
  std::array<char, 300> memory{};
  Pointers pointers;
  pointers.add(&memory[100], 100, Origin::kDevice, 0);
  EXPECT_NE(pointers.starting_at(&memory[100]), nullptr);
  EXPECT_EQ(pointers.starting_at(&memory[101]), nullptr);
  EXPECT_EQ(pointers.covering(&memory[99]), nullptr);
  EXPECT_NE(pointers.covering(&memory[100]), nullptr);
  EXPECT_NE(pointers.covering(&memory[199]), nullptr);
  EXPECT_EQ(pointers.covering(&memory[200]), nullptr);
  pointers.remove(&memory[100]);
  EXPECT_EQ(pointers.covering(&memory[150]), nullptr);
}

TEST(Pointers, OverlapsAreSeenFromBothSides) {
  std::array<char, 300> memory{};
  Pointers pointers;
  pointers.add(&memory[100], 100, Origin::kRegisteredHost, 0);
  EXPECT_FALSE(pointers.overlaps(&memory[0], 100));
  EXPECT_TRUE(pointers.overlaps(&memory[0], 101));
  EXPECT_TRUE(pointers.overlaps(&memory[199], 1));
  EXPECT_FALSE(pointers.overlaps(&memory[200], 100));
}

TEST(Pointers, PinnedMemoryIsTheHosts) {
  std::array<char, 3> memory{};
  Pointers pointers;
  pointers.add(&memory[0], 10, Origin::kDevice, 0);
  pointers.add(&memory[1], 20, Origin::kPinnedHost, 0);
  pointers.add(&memory[2], 40, Origin::kManaged, 0);
  EXPECT_EQ(pointers.bytes_on(0), 50u);
  EXPECT_EQ(pointers.bytes_on(1), 0u);
  pointers.remove(&memory[0]);
  EXPECT_EQ(pointers.bytes_on(0), 40u);
  pointers.add(&memory[2], 5, Origin::kDevice, 1);  // at the other's address
  EXPECT_EQ(pointers.bytes_on(0), 0u);
  EXPECT_EQ(pointers.bytes_on(1), 5u);
}

}  // namespace
}  // namespace vgpu::runtime
