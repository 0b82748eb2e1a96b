// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "report/json.hpp"

namespace ladder {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ladder_files_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(Files, AreReplacedWhole) {
  ASSERT_TRUE(write_atomic(path("a"), "one"));
  EXPECT_EQ(read_file(path("a")).value(), "one");
  ASSERT_TRUE(write_atomic(path("a"), "two"));
  EXPECT_EQ(read_file(path("a")).value(), "two");
  EXPECT_EQ(entries(), 1U);  // no temporary file is left
}

TEST_F(Files, KeepTheirModeAndSymbolicLinks) {
  ASSERT_TRUE(write_atomic(path("real"), "one"));
  fs::permissions(path("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(path("real"), path("link"));
  ASSERT_TRUE(write_atomic(path("link"), "two"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("real")).value(), "two");
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, RefuseWhatIsNoPlaceForAFile) {
  for (const std::string& bad : {folder_.string(), path("no/such/folder.json"), std::string("/dev/null")}) {
    EXPECT_EQ(check_writable(bad).code(), Code::kIo) << bad;
    EXPECT_EQ(write_atomic(bad, "x").code(), Code::kIo) << bad;
  }
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(check_writable(path("new")));
  EXPECT_EQ(entries(), 0U);  // asking leaves nothing behind
}

TEST_F(Files, TellWhyTheyCannotBeRead) {
  EXPECT_EQ(read_file(path("none")).status().message(), path("none") + ": No such file or directory");
  EXPECT_EQ(read_file(folder_.string()).status().code(), Code::kIo);
}

}  // namespace
}  // namespace ladder
