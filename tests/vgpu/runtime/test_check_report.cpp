// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/check_report.hpp"

namespace vgpu {
namespace {

TEST(CheckReport, AFaultFiresUntilItsProcessClearsIt) {
  EXPECT_FALSE(check_fired(""));
  EXPECT_TRUE(check_fired("12\trace\tkernel\n"));
  EXPECT_FALSE(check_fired("12\trace\tkernel\n12\tcleared\n"));
  EXPECT_TRUE(check_fired("12\trace\tk\n12\tcleared\n12\tout of bounds\tk\n"));
  EXPECT_TRUE(check_fired("12\trace\tk\n13\tcleared\n")) << "another process cleared its own";
}

TEST(CheckReport, IsWrittenAndReadBack) {
  const std::string path = (std::filesystem::path(testing::TempDir()) /
                            ("vgpu_check_report." + std::to_string(getpid())))
                               .string();
  const auto text = [&] {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(report_fault(path, "race", "kernel"), "");
  EXPECT_TRUE(check_fired(text()));
  EXPECT_EQ(report_cleared(path), "");
  EXPECT_FALSE(check_fired(text()));
  std::remove(path.c_str());
  EXPECT_EQ(report_fault("", "race", "kernel"), "") << "nobody asks";
  EXPECT_NE(report_fault("/nonexistent/file", "race", "kernel"), "");
}

TEST(CheckReport, AFullDiskIsNoSilence) {
  const std::string path = testing::TempDir() + "vgpu_full_report." + std::to_string(getpid());
  std::filesystem::create_symlink("/dev/full", path);
  EXPECT_EQ(report_fault(path, "race", "kernel"),
            "cannot write " + path + ": No space left on device");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path)));
}

}  // namespace
}  // namespace vgpu
