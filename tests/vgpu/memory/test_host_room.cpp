// SPDX-License-Identifier: Apache-2.0
// The memory available on the host, read from files made here, and device memory that respects it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "memory/host_room.hpp"
#include "memory/memory.hpp"

namespace vgpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class HostFiles : public testing::Test {
 protected:
  HostFiles() {
    write("/proc/meminfo",
          "MemTotal: 900 kB\nMemAvailable:  400 kB\nSwapFree: 100 kB\nCommitLimit: 90 kB\n"
          "Committed_AS: 60 kB\n");
    write("/proc/self/statm", "100 30 1 1 0 50 0\n");
    write("/proc/sys/vm/overcommit_memory", "0\n");
  }
  ~HostFiles() override { fs::remove_all(root); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  const std::string root = testing::TempDir() + "vgpu_host_room." + std::to_string(::getpid());
};

TEST_F(HostFiles, FreeMemoryAndSwap) {
  const HostRoom room = host_room(root);
  EXPECT_EQ(room.memory.bytes, 500u << 10);
  EXPECT_EQ(room.memory.by, "the host's free memory");
  EXPECT_EQ(room.resident, 30u * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(room.mappable.by, "");
}

TEST_F(HostFiles, StrictOvercommitBoundsWhatIsMapped) {
  write("/proc/sys/vm/overcommit_memory", "2\n");
  const HostRoom room = host_room(root);
  EXPECT_EQ(room.mappable.bytes, 30u << 10);
  EXPECT_NE(room.mappable.by.find("vm.overcommit_memory"), std::string::npos);
}

TEST_F(HostFiles, ControlGroupsOfVersion2AndTheirParents) {
  write("/proc/self/cgroup", "0::/box/inner\n");
  write("/sys/fs/cgroup/box/inner/memory.max", "max\n");
  write("/sys/fs/cgroup/box/memory.max", "100000\n");
  write("/sys/fs/cgroup/box/memory.current", "70000\n");
  write("/sys/fs/cgroup/box/memory.stat", "anon 1\ninactive_file 20000\n");
  const HostRoom room = host_room(root);
  EXPECT_EQ(room.memory.bytes, 50000u);
  EXPECT_NE(room.memory.by.find("/sys/fs/cgroup/box/memory.max"), std::string::npos);
}

TEST_F(HostFiles, ControlGroupsOfVersion1WhereAContainerSeesItsOwnAsTheRoot) {
  write("/proc/self/cgroup", "9:cpu:/\n4:memory:/docker/abc\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "100000\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "99000\n");
  write("/sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 4000\n");
  EXPECT_EQ(host_room(root).memory.bytes, 5000u);
}

TEST_F(HostFiles, WithoutFilesThereIsNoBound) {
  EXPECT_EQ(host_room(root + "/none").memory.by, "");
}

HostRoom small_host() {
  HostRoom room;
  room.memory.lower(160 * kMiB, "the test");
  return room;
}

TEST(MemoryOfASmallHost, IsFullWhereTheHostIs) {
  Memory memory(1 << 30, small_host);
  const Bound before = memory.room();
  EXPECT_EQ(before.by, "the test");
  EXPECT_EQ(before.bytes, 150 * kMiB) << "a sixteenth is kept for the program";
  void* const block = memory.allocate(before.bytes);
  ASSERT_NE(block, nullptr) << "what is said to be free is";
  EXPECT_EQ(memory.allocate(kMiB), nullptr);
  EXPECT_TRUE(memory.free(block));
  EXPECT_NE(memory.allocate(100 * kMiB), nullptr);
  EXPECT_EQ(memory.allocate(100 * kMiB), nullptr) << "both together are too much";
}

TEST(MemoryOfASmallHost, WhatTheChecksNoteCounts) {
  Memory memory(1 << 30, small_host);
  memory.track();
  EXPECT_EQ(memory.cost(400), 900u);
  EXPECT_EQ(memory.allocate(70 * kMiB), nullptr);
  EXPECT_NE(memory.allocate(60 * kMiB), nullptr);
}

TEST(MemoryOfASmallHost, FewAddressesMakeASmallDevice) {
  const auto host = [] {
    HostRoom room;
    room.addresses.lower(64 * kMiB, "the test");
    return room;
  };
  Memory memory(std::size_t{1} << 40, host);
  EXPECT_EQ(memory.room().by, "the test");
  EXPECT_EQ(memory.allocate(40 * kMiB), nullptr);
  void* const block = memory.allocate(20 * kMiB);
  ASSERT_NE(block, nullptr);
  std::memset(block, 1, 20 * kMiB);
}

}  // namespace
}  // namespace vgpu
