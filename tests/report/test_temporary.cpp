// SPDX-License-Identifier: Apache-2.0
// Temporary folders are removed with their object, or by the next one after their process was
// killed; folders of others are kept.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "report/temporary.hpp"

namespace ladder {
namespace {

namespace fs = std::filesystem;

class InTmpdir : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", place_.path().c_str(), 1);
  }
  void TearDown() override {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
  }
  const Temporary place_ = Temporary::folder("test").value();
  std::string before_;
};

void put(const fs::path& file) { std::ofstream(file) << "text"; }

using TemporaryFolder = InTmpdir;

TEST_F(TemporaryFolder, GoesWithItsObject) {
  fs::path path;
  {
    const auto folder = Temporary::folder("a");
    path = folder.value().path();
    put(path / "file");
    EXPECT_EQ(path.parent_path(), place_.path());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryFolder, OfAKilledProcessGoesWhenTheNextIsMade) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = Temporary::folder("killed");
    put(folder.value().path() / "file");
    (void)::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto left = [&] {
    int folders = 0;
    for (const auto& entry : fs::directory_iterator(place_.path()))
      folders += entry.path().filename().string().starts_with("ladder-killed-") ? 1 : 0;
    return folders;
  };
  EXPECT_EQ(left(), 1);
  const auto next = Temporary::folder("next");
  EXPECT_EQ(left(), 0);
}

TEST_F(TemporaryFolder, LeavesThoseInUseAndThoseOfOthers) {
  const auto mine = Temporary::folder("mine");
  const fs::path other = place_.path() / "ladder-my-backup";
  fs::create_directory(other);
  put(other / "file");
  const auto next = Temporary::folder("next");
  EXPECT_TRUE(fs::exists(mine.value().path()));
  EXPECT_TRUE(fs::exists(other / "file"));
}

TEST_F(TemporaryFolder, LiesOnAPlainPath) {
  const fs::path odd = place_.path() / "a `b` $c";
  fs::create_directory(odd);
  ::setenv("TMPDIR", odd.c_str(), 1);
  EXPECT_EQ(Temporary::folder("a").value().path().parent_path(), "/tmp");
  ::setenv("TMPDIR", "/nonexistent", 1);
  const auto none = Temporary::folder("a");
  ASSERT_FALSE(none);
  EXPECT_NE(none.status().message().find("TMPDIR: /nonexistent"), std::string::npos);
}

TEST_F(TemporaryFolder, PlainPathsStandForOthers) {
  EXPECT_TRUE(is_plain("/home/a_b/c-1.0+2"));
  for (const char* path :
       {"/a b", "/a`b", "/a$(b)", "/a\"b", "/a'b", "/a,b", "/a:b", "/a\\b", "/a\nb", "/\xc3\xa9"})
    EXPECT_FALSE(is_plain(path)) << path;
  EXPECT_EQ(plain_path("/plain", place_.path() / "link").value(), "/plain");
  const fs::path odd = place_.path() / "a`b";
  fs::create_directory(odd);
  put(odd / "file");
  const auto link = plain_path(odd, place_.path() / "link");
  EXPECT_TRUE(is_plain(link.value()));
  EXPECT_TRUE(fs::exists(link.value() / "file"));
}

}  // namespace
}  // namespace ladder
