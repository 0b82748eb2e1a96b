// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "app/conclusion.hpp"
#include "ir/fault.hpp"
#include "runtime/check_report.hpp"

namespace vgpu {
namespace {

class Report {
 public:
  explicit Report(const std::string& name)
      : path_(testing::TempDir() + name + "." + std::to_string(::getpid())) {}
  ~Report() { std::remove(path_.c_str()); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream in(path_);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

 private:
  std::string path_;
};

Finding race() { return {"race", "k(int*)", "race: a word\n  at x.cu:3\t\"\xff", "x.cu", 3}; }

TEST(CheckReport, AFaultFiresUntilItsProcessClearsIt) {
  EXPECT_TRUE(findings_in("").empty());
  const Report report("vgpu_cleared");
  ASSERT_EQ(report_finding(report.path(), race()), "");
  ASSERT_EQ(report_cleared(report.path()), "");
  EXPECT_TRUE(findings_in(report.text()).empty());
  ASSERT_EQ(report_finding(report.path(), {"leak", "", "leak: 4 bytes", "", 0}), "");
  std::string text = report.text();
  ASSERT_EQ(findings_in(text).size(), 1u);
  EXPECT_EQ(findings_in(text)[0].rule, "leak");
  text += "{\"process\": 1}\n";
  EXPECT_EQ(findings_in(text).size(), 1u) << "another process cleared its own";
}

TEST(CheckReport, IsWrittenAndReadBack) {
  const Report report("vgpu_check_report");
  ASSERT_EQ(report_finding(report.path(), race()), "");
  const auto found = findings_in(report.text());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "race");
  EXPECT_EQ(found[0].kernel, "k(int*)");
  EXPECT_EQ(found[0].message, "race: a word\n  at x.cu:3\t\"\ufffd") << "bytes that are no text";
  EXPECT_EQ(found[0].file, "x.cu");
  EXPECT_EQ(found[0].line, 3);
  EXPECT_EQ(report_finding("", race()), "") << "nobody asks";
  EXPECT_NE(report_finding("/nonexistent/file", race()), "");
}

TEST(CheckReport, EveryFaultHasARuleOfItsOwn) {
  std::set<std::string_view> ids;
  int kinds = 0;
  for (; std::string(to_string(static_cast<FaultKind>(kinds))) != "fault"; ++kinds) {
    const char* const name = to_string(static_cast<FaultKind>(kinds));
    EXPECT_EQ(app::rule_of(name).finding, name) << name << ": a row for vgpu/app/ci_report.cpp";
    ids.insert(app::rule_of(name).id);
  }
  EXPECT_GE(kinds, 14);
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kinds));
  for (const char* of_host : {"leak", "bad host pointer", "invalid free"})
    EXPECT_EQ(app::rule_of(of_host).finding, of_host);
  EXPECT_EQ(app::rule_of("something else").id, "vgpu/check");
}

TEST(CheckReport, AFullDiskIsNoSilence) {
  const std::string path = testing::TempDir() + "vgpu_full_report." + std::to_string(getpid());
  std::filesystem::create_symlink("/dev/full", path);
  EXPECT_EQ(report_finding(path, race()), "cannot write " + path + ": No space left on device");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(path)));
}

}  // namespace
}  // namespace vgpu
