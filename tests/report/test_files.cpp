// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <iterator>

#include "report/files.hpp"

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
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(Files, AreReplacedWhole) {
  ASSERT_TRUE(write_atomic(path("a"), "one"));
  EXPECT_EQ(read_file(path("a")).value(), "one");
  ASSERT_TRUE(write_atomic(path("a"), "two"));
  EXPECT_EQ(read_file(path("a")).value(), "two");
  EXPECT_EQ(entries(), 1U);  // no temporary file remains
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
  for (const std::string& bad :
       {folder_.string(), path("no/such/folder.json"), path(std::string(5000, 'x'))}) {
    EXPECT_EQ(check_writable(bad).code(), Code::kIo) << bad;
    EXPECT_EQ(write_atomic(bad, "x").code(), Code::kIo) << bad;
  }
  EXPECT_TRUE(check_writable(path("new")));
  EXPECT_EQ(entries(), 0U);  // the query creates no file
}

TEST_F(Files, ThatCannotBeReplacedAreWrittenTo) {
  EXPECT_TRUE(write_atomic("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(is_replaced("/dev/null"));
  EXPECT_TRUE(is_replaced(path("new")));
  const Status full = write_atomic("/dev/full", "x");
  EXPECT_EQ(full.message(), "/dev/full: No space left on device");
}

// As with "--json /dev/fd/3 3>file", and a shell's process substitution.
TEST_F(Files, ThatAreOpenGoOnWhereTheyAre) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string name = "/dev/fd/" + std::to_string(ends[1]);
  EXPECT_FALSE(is_replaced(name));
  EXPECT_TRUE(write_atomic(name, "one"));
  EXPECT_EQ(check_writable("/dev/fd/" + std::to_string(ends[0])).code(), Code::kIo);
  std::array<char, 8> text{};
  EXPECT_EQ(::read(ends[0], text.data(), text.size()), 3);
  ::close(ends[0]);
  ::close(ends[1]);

  const int file = ::open(path("rows").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, "table\n", 6), 6);
  fs::create_symlink("/dev/fd/" + std::to_string(file), path("link"));
  EXPECT_TRUE(write_atomic(path("link"), "rows\n"));
  ASSERT_EQ(::write(file, "end\n", 4), 4);
  ::close(file);
  EXPECT_EQ(read_file(path("rows")).value(), "table\nrows\nend\n");
}

// A limit on the size of files imitates a full disk.
TEST_F(Files, StayAsTheyWereWhereTheDiskIsFull) {
  ASSERT_TRUE(write_atomic(path("a"), "what was there"));
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit little = before;
  little.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const Status status = write_atomic(path("a"), std::string(100'000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.message(), path("a") + ": File too large");
  EXPECT_EQ(read_file(path("a")).value(), "what was there");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, AreMadeWhereALinkLeads) {
  fs::create_symlink("later", path("link"));
  ASSERT_TRUE(write_atomic(path("link"), "one"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("later")).value(), "one");
  fs::create_symlink("ring", path("ring"));
  EXPECT_EQ(write_atomic(path("ring"), "x").code(), Code::kIo);
}

TEST_F(Files, FollowTheMaskWhereTheyAreNew) {
  const mode_t before = ::umask(077);
  EXPECT_TRUE(write_atomic(path("a"), "one"));
  ::umask(before);
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// /proc/self/mem cannot be read at 0: data read before an error is not returned as the file.
TEST_F(Files, AreNotReadInPart) {
  EXPECT_EQ(read_file("/proc/self/mem").status().code(), Code::kIo);
}

TEST_F(Files, TellWhyTheyCannotBeRead) {
  EXPECT_EQ(read_file(path("none")).status().message(),
            path("none") + ": No such file or directory");
  EXPECT_EQ(read_file(folder_.string()).status().code(), Code::kIo);
}

}  // namespace
}  // namespace ladder
