// SPDX-License-Identifier: Apache-2.0
#include "measure/turns.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace ladder {
namespace {

TEST(Turns, EachRoundHasEachKernelOnceAndTheNextIsItsReverse) {
  for (std::size_t kernels = 1; kernels <= 12; ++kernels) {
    for (std::size_t round = 0; round < 5 * kernels; ++round) {
      std::set<std::size_t> seen;
      for (std::size_t turn = 0; turn < kernels; ++turn) {
        const std::size_t kernel = kernel_in_turn(kernels, round, turn);
        EXPECT_LT(kernel, kernels);
        seen.insert(kernel);
        EXPECT_EQ(kernel, kernel_in_turn(kernels, round ^ 1U, kernels - 1 - turn));
      }
      EXPECT_EQ(seen.size(), kernels);
    }
  }
}

TEST(Turns, EachKernelHasEachTurnAndFollowsEachOtherOneTwice) {
  for (std::size_t kernels = 2; kernels <= 12; ++kernels) {
    std::map<std::pair<std::size_t, std::size_t>, int> places, follows;
    for (std::size_t round = 0; round < 2 * kernels; ++round) {
      for (std::size_t turn = 0; turn < kernels; ++turn) {
        const std::size_t kernel = kernel_in_turn(kernels, round, turn);
        ++places[{turn, kernel}];
        if (turn > 0) ++follows[{kernel_in_turn(kernels, round, turn - 1), kernel}];
      }
    }
    EXPECT_EQ(places.size(), kernels * kernels);
    for (const auto& [place, times] : places) EXPECT_EQ(times, 2) << kernels;
    EXPECT_EQ(follows.size(), kernels * (kernels - 1));
    for (const auto& [pair, times] : follows) EXPECT_EQ(times, 2) << kernels;
  }
}

}  // namespace
}  // namespace ladder
