// SPDX-License-Identifier: Apache-2.0
// The code around the renderer, and its messages where charts cannot be drawn.
#include "page/render.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "report/chart.hpp"
#include "report/temporary.hpp"

namespace ladder::page {
namespace {

TEST(Render, SaysHowToInstallWhatIsMissing) {
  ASSERT_EQ(::setenv("LADDER_PYTHON", "no-such-python", 1), 0);
  const Status none = can_render();
  EXPECT_EQ(none.code(), Code::kIo);
  EXPECT_NE(none.message().find("scripts/setup"), std::string::npos);
  // Ends as render_charts.py does in a Python without the package.
  const auto python = Temporary::file("python");
  ASSERT_TRUE(python);
  const std::string path = python.value().path().string();
  ASSERT_TRUE(write_atomic(path, "#!/bin/sh\nexit 3\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  ASSERT_EQ(::setenv("LADDER_PYTHON", path.c_str(), 1), 0);
  EXPECT_NE(can_render().message().find("pip install vl-convert-python"), std::string::npos);
  ASSERT_EQ(::unsetenv("LADDER_PYTHON"), 0);
}

TEST(Render, NothingNeedsNothing) { EXPECT_TRUE(render({}).value().empty()); }

TEST(StandAlone, FollowsTheGroundAndSaysItsTitle) {
  const std::string svg = stand_alone("<svg width=\"1\"><rect fill=\"#0072b2\"/></svg>", "a < b");
  EXPECT_NE(svg.find("aria-label=\"a &lt; b\""), std::string::npos);
  EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos);
  for (const auto& [light, dark] : dark_colors())
    EXPECT_NE(svg.find(std::string("[fill=\"") + light + "\"]{fill:" + dark), std::string::npos);
}

TEST(Escape, LeavesNothingThatEndsAnAttributeOrAnElement) {
  EXPECT_EQ(escape("<a&\"b>"), "&lt;a&amp;&quot;b&gt;");
}

}  // namespace
}  // namespace ladder::page
