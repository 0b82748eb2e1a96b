// SPDX-License-Identifier: Apache-2.0
#include "report/progress.hpp"

#include <gtest/gtest.h>

namespace ladder {
namespace {

using Seconds = Progress::Seconds;

TEST(About, IsAsExactAsAnEstimate) {
  EXPECT_EQ(about(Seconds(0)), "about 1 s");
  EXPECT_EQ(about(Seconds(-3)), "about 1 s");
  EXPECT_EQ(about(Seconds(6.2)), "about 7 s");
  EXPECT_EQ(about(Seconds(41)), "about 45 s");
  EXPECT_EQ(about(Seconds(58)), "about 1 min");
  EXPECT_EQ(about(Seconds(135)), "about 2 min");
  EXPECT_EQ(about(Seconds(3590)), "about 1 h");
  EXPECT_EQ(about(Seconds(4000)), "about 1 h 10 min");
}

TEST(Progress, SaysNoTimeBeforeAnythingIsKnown) {
  Progress progress;
  progress.expect("host");
  progress.expect("cuda");
  EXPECT_FALSE(progress.left());
  progress.finish_item(Seconds(1));
  EXPECT_FALSE(progress.left());  // nothing is known of the other group
  EXPECT_EQ(progress.text(), "1 of 2");
  progress.within(0.1, Seconds(1));
  EXPECT_FALSE(progress.left());
  progress.within(0.5, Seconds(4));
  ASSERT_TRUE(progress.left());
  EXPECT_DOUBLE_EQ(progress.left()->count(), 4);
  EXPECT_EQ(progress.text(), "1 of 2, about 4 s left");
  progress.finish_item(Seconds(8));
  EXPECT_EQ(progress.text(), "2 of 2");
}

TEST(Progress, WeighsItemsWithinTheirGroup) {
  Progress progress;
  progress.expect("cuda", 1);
  progress.expect("cuda", 3);
  progress.expect("host", 1);
  progress.expect("cuda", 0);  // refused
  progress.finish_item(Seconds(2));
  EXPECT_FALSE(progress.left());
  progress.finish_item(Seconds(6));
  progress.within(0.5, Seconds(1));
  ASSERT_TRUE(progress.left());
  EXPECT_DOUBLE_EQ(progress.left()->count(), 1);
  progress.finish_item(Seconds(2));
  ASSERT_TRUE(progress.left());
  EXPECT_DOUBLE_EQ(progress.left()->count(), 0);
}

TEST(Progress, TimesThatSayNothingGiveNoNumber) {
  Progress progress;
  progress.expect("cuda", 1e-300);
  progress.expect("cuda", 1e300);
  progress.finish_item(Seconds(10));
  EXPECT_FALSE(progress.left());
  EXPECT_EQ(progress.text(), "1 of 2");
  progress.finish_item(Seconds(10));
  progress.finish_item(Seconds(10));  // one more than exist
  EXPECT_EQ(progress.text(), "2 of 2");
}

}  // namespace
}  // namespace ladder
