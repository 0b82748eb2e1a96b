// SPDX-License-Identifier: Apache-2.0
// Files that imitate /proc and /sys of other machines, containers and kernels.
#include "host/limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace ladder::host {
namespace {

namespace fs = std::filesystem;

class Limits : public testing::Test {
 protected:
  Limits() : root_(fs::path(testing::TempDir()) / ("limits." + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Limits() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

TEST_F(Limits, NothingIsKnownWithoutFiles) {
  const Processors p = processors(root_);
  EXPECT_FALSE(p.online || p.allowed || p.quota);
  EXPECT_FALSE(processor_name(root_));
  EXPECT_FALSE(available_memory(root_));
}

TEST_F(Limits, NonsenseIsNotRead) {
  write("sys/devices/system/cpu/online", "many\n");
  write("proc/self/status", "Cpus_allowed_list:\t0-\nVmSize:\tx kB\n");
  write("proc/self/cgroup", "not a line\n0::\n::::\n");
  write("sys/fs/cgroup/cpu.max", "0 0\n");
  write("sys/fs/cgroup/memory.max", "-5\n");
  write("sys/fs/cgroup/memory.current", "7\n");
  write("proc/meminfo", "MemAvailable:   lots kB\n");
  write("proc/self/limits", "Max address space   a b\n");
  write("proc/cpuinfo", "model name\t:\n\nflags: a\n");
  const Processors p = processors(root_);
  EXPECT_FALSE(p.online || p.allowed || p.quota);
  EXPECT_FALSE(processor_name(root_));
  EXPECT_FALSE(available_memory(root_));
}

TEST_F(Limits, AffinityAndQuotaOfVersion2) {
  write("sys/devices/system/cpu/online", "0-7\n");
  write("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-1,4\n");
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  const Processors p = processors(root_);
  EXPECT_EQ(p.online, 8);
  EXPECT_EQ(p.allowed, 3);
  EXPECT_EQ(p.quota, 1.5);
}

TEST_F(Limits, QuotaOfVersion1) {
  write("proc/self/cgroup", "3:cpu,cpuacct:/box\n1:memory:/box\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processors(root_).quota, 0.5);
}

TEST_F(Limits, TheTightestLimitOfMemoryHolds) {
  write("proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable:    3000000 kB\n");
  EXPECT_EQ(available_memory(root_), 3000000ULL * 1024);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "2000000000\n");
  write("sys/fs/cgroup/memory.current", "500000000\n");
  EXPECT_EQ(available_memory(root_), 1500000000ULL);
  write("proc/self/limits",
        "Limit   Soft Limit  Hard Limit  Units\nMax address space   1000000000   unlimited   "
        "bytes\n");
  write("proc/self/status", "VmSize:\t  100000 kB\n");
  EXPECT_EQ(available_memory(root_), 1000000000ULL - 100000ULL * 1024);
}

TEST_F(Limits, MoreUsedThanAllowedLeavesNothing) {
  write("sys/fs/cgroup/memory.max", "5\n");
  write("sys/fs/cgroup/memory.current", "7\n");
  EXPECT_EQ(available_memory(root_), 0ULL);
}

TEST_F(Limits, NamesOfOtherProcessors) {
  write("proc/cpuinfo", "processor : 0\ncpu family\t: 6\nmodel name\t: Some CPU @ 2 GHz \n");
  EXPECT_EQ(processor_name(root_), "Some CPU @ 2 GHz");
  write("proc/cpuinfo", "processor : 0\nBogoMIPS : 50\ncpu\t\t: POWER9, altivec supported\n");
  EXPECT_EQ(processor_name(root_), "POWER9, altivec supported");
}

TEST(CountOfList, TakesTheKernelsLists) {
  EXPECT_EQ(count_of_list("0"), 1);
  EXPECT_EQ(count_of_list("0-3,8,10-11"), 7);
  for (const char* bad : {"", "x", "3-1", "0-99999999999", "1,,2", "-1", "0x3"})
    EXPECT_FALSE(count_of_list(bad)) << bad;
}

TEST(ThisMachine, IsKnown) {
  EXPECT_TRUE(available_memory());
  EXPECT_TRUE(processors().allowed);
}

}  // namespace
}  // namespace ladder::host
