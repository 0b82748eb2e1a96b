// SPDX-License-Identifier: Apache-2.0
// The tuner starts and loads only files that other users cannot have replaced.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "tune/cache.hpp"
#include "tune/compile.hpp"

namespace ladder::tune {
namespace {

namespace fs = std::filesystem;

class Trust : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ladder_trust_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = fs::canonical(name);
    former_ = fs::current_path();
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      if (value)
        ::setenv(name.c_str(), value->c_str(), 1);
      else
        ::unsetenv(name.c_str());
    }
    fs::current_path(former_);
    fs::remove_all(folder_);
  }
  void set(const std::string& name, const std::optional<std::string>& value) {
    const char* now = std::getenv(name.c_str());
    before_.try_emplace(name, now == nullptr ? std::nullopt : std::optional<std::string>(now));
    if (value)
      ::setenv(name.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name.c_str());
  }
  fs::path program(const fs::path& path) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\necho here\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  fs::path folder_, former_;
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Trust, ProgramsComeFromAbsoluteFoldersOnly) {
  program(folder_ / "here" / "ladder-tool");
  const fs::path there = program(folder_ / "there" / "ladder-tool");
  fs::create_directories(folder_ / "first" / "ladder-tool");  // a folder is not a program
  fs::current_path(folder_ / "here");
  set("LADDER_TOOL", std::nullopt);
  set("PATH",
      ":.::" + (folder_ / "first").string() + ":" + (folder_ / "there").string() + ":../here");
  EXPECT_EQ(search_path(),
            (std::vector<std::string>{(folder_ / "first").string(), (folder_ / "there").string()}));
  EXPECT_EQ(find_tool("LADDER_TOOL", "ladder-tool"), there.string());
  set("PATH", ":.");
  EXPECT_EQ(find_tool("LADDER_TOOL", "ladder-tool"), "");
  EXPECT_FALSE(run({"ladder-tool"}, Clock::now() + std::chrono::seconds(10), {}));
  set("LADDER_TOOL", "./ladder-tool");  // an explicit name is trusted
  EXPECT_EQ(find_tool("LADDER_TOOL", "ladder-tool"),
            (folder_ / "here" / "." / "ladder-tool").string());
}

TEST_F(Trust, TheCacheIsWhereTheUserHasOne) {
  fs::current_path(folder_);
  const fs::path home = folder_ / "home", xdg = folder_ / "xdg", temporary = folder_ / "tmp";
  fs::create_directories(home);
  fs::create_directories(temporary);
  set("TMPDIR", temporary.string());
  set("XDG_CACHE_HOME", xdg.string());
  set("HOME", home.string());
  EXPECT_EQ(open_cache("").value(), xdg / "ladder" / "tune");
  set("XDG_CACHE_HOME", "relative");  // the specification: ignored
  EXPECT_EQ(open_cache("").value(), home / ".cache" / "ladder" / "tune");
  EXPECT_EQ(fs::status(home / ".cache" / "ladder" / "tune").permissions(), fs::perms::owner_all);
  for (const std::optional<std::string>& nowhere :
       {std::optional<std::string>(), std::optional<std::string>("")}) {
    set("XDG_CACHE_HOME", nowhere);
    set("HOME", nowhere);
    const auto cache = open_cache("");
    EXPECT_TRUE(!cache || cache.value().is_absolute());
  }
  EXPECT_FALSE(fs::exists(folder_ / ".cache"));
  EXPECT_FALSE(fs::exists(folder_ / "relative"));
}

TEST_F(Trust, ACacheThatOthersCanWriteIsNone) {
  const fs::path cache = folder_ / "cache";
  ASSERT_TRUE(open_cache(cache));
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(cache, fs::perms::owner_all | others);
    EXPECT_NE(open_cache(cache).status().message().find("other users can write it"),
              std::string::npos);
  }
  fs::permissions(cache, fs::perms::owner_all);
  fs::permissions(folder_, fs::perms::all);
  EXPECT_NE(open_cache(cache).status().message().find("another user can replace"),
            std::string::npos);
  fs::permissions(folder_, fs::perms::all | fs::perms::sticky_bit);
  EXPECT_TRUE(open_cache(cache));
  fs::permissions(folder_, fs::perms::owner_all);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_FALSE(open_cache(folder_ / "file"));
  if (::geteuid() == 0) {  // else nobody else's folder can be made
    ASSERT_EQ(::chown(cache.c_str(), 65534, 65534), 0);
    EXPECT_NE(open_cache(cache).status().message().find("belongs to another user"),
              std::string::npos);
  }
}

TEST_F(Trust, ALibraryThatOthersCanWriteIsNotLoaded) {
  const fs::path file = folder_ / "a.so";
  EXPECT_FALSE(is_private(file));
  std::ofstream(file) << "x";
  fs::permissions(file, fs::perms::owner_all);
  EXPECT_TRUE(is_private(file));
  fs::create_symlink(file, folder_ / "link.so");
  EXPECT_FALSE(is_private(folder_ / "link.so"));
  fs::permissions(file, fs::perms::owner_all | fs::perms::others_write);
  EXPECT_FALSE(is_private(file));
}

TEST(CompilerOutput, OfAnyLengthIsRead) {
  EXPECT_EQ(largest_before("Used 12 registers\nUsed 128 registers, 8 bytes smem", "registers"),
            128);
  EXPECT_EQ(largest_before("Used 12 registers, 8 bytes smem", "bytes smem"), 8);
  EXPECT_EQ(largest_before("registers 5\nx registers\n99999999999999999999 registers", "registers"),
            0);
  EXPECT_EQ(largest_before("7 registers", "registers"), 7);
  EXPECT_EQ(largest_before("", "registers"), 0);
  const std::string digits(500'000, '1');
  EXPECT_EQ(largest_before(digits + " registers", "registers"), 0);
  EXPECT_EQ(first_error("a\nb.cu(3): error: x\n"), "b.cu(3): error: x");
  EXPECT_EQ(first_error(""), "the compiler said nothing");
}

}  // namespace
}  // namespace ladder::tune
