// SPDX-License-Identifier: Apache-2.0
// Device memory: contents, red zones, quarantine, descriptions, lookups.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "memory/memory.hpp"
#include "memory/reservation.hpp"
#include "memory/shadow.hpp"

namespace vgpu {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kGiB = std::size_t{1} << 30;

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

bool is_zero(const unsigned char* block, std::size_t bytes) {
  return std::count(block, block + bytes, 0) == static_cast<std::ptrdiff_t>(bytes);
}

TEST(Memory, BlocksAreAlignedAndZero) {
  Memory memory(kMiB);
  for (std::size_t bytes : {1, 511, 512, 513, 10000}) {
    const auto* block = static_cast<const unsigned char*>(memory.allocate(bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(address(block) % Memory::kAlignment, 0u);
    EXPECT_TRUE(is_zero(block, bytes)) << bytes;
  }
  EXPECT_EQ(memory.allocated_bytes(), 1u + 511 + 512 + 513 + 10000);
}

// As cudaMalloc's: Taichi's pool divides one allocation at multiples of 4096.
TEST(Memory, LargeBlocksAreAlignedToPages) {
  Memory memory(512 * kMiB);
  std::vector<void*> blocks;
  for (const std::size_t bytes : {std::size_t{100}, kMiB, 3 * kMiB + 1, std::size_t{5000}}) {
    for (int i = 0; i < 3; ++i) {
      blocks.push_back(memory.allocate(bytes));
      ASSERT_NE(blocks.back(), nullptr);
      EXPECT_EQ(address(blocks.back()) % (bytes < kMiB ? 512 : 2 * kMiB), 0u) << bytes;
    }
  }
  for (void* const block : blocks) EXPECT_TRUE(memory.free(block));
  // The gaps are no loss: all of the capacity fits.
  EXPECT_NE(memory.allocate(512 * kMiB), nullptr);
}

TEST(Memory, ReusedBlocksAreZeroAgain) {
  for (const std::size_t bytes : {std::size_t{4096}, kMiB + 100}) {
    Memory memory(512 * kMiB);
    void* first = memory.allocate(bytes);
    std::memset(first, 1, bytes);
    memory.free(first);
    memory.free(memory.allocate(Memory::kQuarantineBytes + 1));  // evicts the first one
    const auto* again = static_cast<const unsigned char*>(memory.allocate(bytes));
    ASSERT_EQ(again, first);
    EXPECT_TRUE(is_zero(again, bytes)) << bytes;
  }
}

TEST(Memory, ResumedBlocksAreZeroAgain) {
  Memory memory(512 * kMiB);
  for (const std::size_t bytes : {std::size_t{4096}, kMiB + 100}) {
    auto* const block = static_cast<unsigned char*>(memory.allocate(bytes));
    std::memset(block, 1, bytes);
    ASSERT_TRUE(memory.suspend(block) && memory.resume(block));
    EXPECT_TRUE(is_zero(block, bytes)) << bytes;
  }
}

TEST(Memory, CapacityIsExactAndComesBack) {
  Memory memory(1000);
  EXPECT_EQ(memory.allocate(1001), nullptr);
  EXPECT_EQ(memory.allocate(0), nullptr);
  void* block = memory.allocate(1000);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(memory.allocate(1), nullptr);
  EXPECT_TRUE(memory.free(block));
  EXPECT_EQ(memory.allocated_bytes(), 0u);
  EXPECT_NE(memory.allocate(1000), nullptr);
}

TEST(Memory, OnlyStartsOfLiveBlocksAreFreed) {
  Memory memory(kMiB);
  char* block = static_cast<char*>(memory.allocate(100));
  EXPECT_FALSE(memory.free(block + 1));
  EXPECT_FALSE(memory.free(nullptr));
  EXPECT_TRUE(memory.free(block));
  EXPECT_FALSE(memory.free(block));
}

TEST(Memory, ADeviceFarLargerThanTheHostCostsNothing) {
  Memory memory(141 * kGiB, [] { return HostRoom(); });
  auto* block = static_cast<unsigned char*>(memory.allocate(100 * kGiB));
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block[0], 0);
  EXPECT_EQ(block[100 * kGiB - 1], 0);
  EXPECT_NE(memory.allocate(41 * kGiB), nullptr);
  EXPECT_EQ(memory.allocate(1), nullptr);
}

TEST(Memory, ALoopQueriesTheHostOnlyForLargeBlocks) {
  static int queries;
  Memory memory(kGiB, [] {
    ++queries;
    HostRoom room;
    room.memory.lower(kGiB, "the host's free memory");
    return room;
  });
  const auto queries_of = [&](std::size_t bytes) {
    queries = 0;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(memory.free(memory.allocate(bytes)));
    return queries;
  };
  EXPECT_LE(queries_of(kMiB), 2) << "the arena's and the first block's";
  EXPECT_GE(queries_of(100 * kMiB), 99);
}

TEST(Memory, ALoopGetsTwoBlocksByTurns) {
  Memory memory(64 * kMiB);
  memory.track();
  const auto turn = [&](std::size_t bytes) {
    auto* const block = static_cast<unsigned char*>(memory.allocate(bytes));
    EXPECT_EQ(block[0], 0);
    EXPECT_FALSE(memory.shadow()->is_written(address(block), 1));
    block[0] = 1;
    memory.mark_written(block, 1);
    EXPECT_TRUE(memory.free(block));
    return block;
  };
  const void* const other = memory.allocate(2000);
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(turn(1000));
  EXPECT_EQ(std::set<unsigned char*>(blocks.begin(), blocks.begin() + 3).size(), 3u);
  for (int i = 3; i < 8; ++i) {
    EXPECT_EQ(blocks[i], blocks[i - 2]);
    EXPECT_NE(blocks[i], blocks[i - 1]);
  }
  EXPECT_TRUE(memory.find(address(blocks[7]))->freed);
  // A turn of two blocks is another one.
  void* const first = memory.allocate(1000);
  EXPECT_EQ(first, blocks[6]);
  void* const second = memory.allocate(1000);
  EXPECT_NE(second, blocks[7]);
  EXPECT_TRUE(memory.free(first) && memory.free(second));
  EXPECT_NE(memory.allocate(1000), first);
  EXPECT_TRUE(memory.contains(other, 2000));
}

TEST(Memory, ALoopGetsEqualBlocksByTurns) {
  Memory memory(64 * kMiB);
  std::vector<std::vector<void*>> turns;
  const auto turn = [&](int blocks, bool reverse) {
    std::vector<void*> all;
    for (int i = 0; i < blocks; ++i) all.push_back(memory.allocate(1000));
    std::vector<void*> order = all;
    if (reverse) std::ranges::reverse(order);
    for (void* const block : order) EXPECT_TRUE(memory.free(block));
    turns.push_back(all);
  };
  for (int i = 0; i < 8; ++i) turn(3, i % 2 != 0);
  std::set<void*> first_ones;
  for (int i = 0; i < 3; ++i) first_ones.insert(turns[i].begin(), turns[i].end());
  EXPECT_EQ(first_ones.size(), 9u);
  for (int i = 3; i < 8; ++i) EXPECT_EQ(turns[i], turns[i - 2]) << i;
  turn(4, false);
  EXPECT_EQ(std::set<void*>(turns[8].begin(), turns[8].end()).size(), 4u);
  turn(3, false);
  EXPECT_NE(turns[9], turns[7]);
  // Of too many blocks none is expected.
  for (int i = 0; i < 5; ++i) turn(100, false);
  EXPECT_NE(turns[14], turns[12]);
}

// The first step of a reservation keeps small pages, for programs that use little.
TEST(Reservation, AsksForLargePagesWhereMuchIsUsed) {
  Reservation range(64 * kMiB);
  ASSERT_TRUE(range.open(8 * kMiB));
  ASSERT_TRUE(range.open(40 * kMiB));
  const auto large = [](const void* at) {
    std::ifstream maps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
      std::uint64_t begin = 0, end = 0;
      if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " ", &begin, &end) == 2)
        here = begin <= address(at) && address(at) < end;
      else if (here && line.starts_with("VmFlags:"))
        return line.find(" hg") != line.npos;
    }
    return false;
  };
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "this kernel has no large pages";
  EXPECT_FALSE(large(range.begin() + kMiB));
  EXPECT_TRUE(large(range.begin() + 20 * kMiB));
  EXPECT_TRUE(large(range.begin() + 39 * kMiB));
  EXPECT_FALSE(large(range.begin() + 60 * kMiB));
}

TEST(Memory, FreedBlocksHoldNoHostMemory) {
  Memory memory(2 * kGiB);
  auto* block = static_cast<unsigned char*>(memory.allocate(8 * kMiB));
  memory.free(block);
  unsigned char resident[8 * kMiB / 4096];
  const std::uint64_t page = (address(block) + 4095) / 4096 * 4096;
  ASSERT_EQ(mincore(reinterpret_cast<void*>(page), 8 * kMiB - 4096, resident), 0);
  EXPECT_EQ(
      std::count_if(resident, std::end(resident) - 1, [](unsigned char r) { return (r & 1) != 0; }),
      0);
}

TEST(Memory, MoreThanTheAddressSpaceIsAnError) {
  EXPECT_THROW(Memory(~std::size_t{0}), std::system_error);
}

TEST(Memory, NeighboursAreApart) {
  Memory memory(64 * kMiB);
  std::vector<std::uint64_t> begins;
  for (int i = 0; i < 100; ++i) begins.push_back(address(memory.allocate(512)));
  std::ranges::sort(begins);
  for (std::size_t i = 1; i < begins.size(); ++i) {
    EXPECT_GE(begins[i] - (begins[i - 1] + 512), Memory::kMinRedZone);
    EXPECT_EQ(memory.find(begins[i] - 1), nullptr);
    EXPECT_EQ(memory.find(begins[i - 1] + 512), nullptr);
  }
}

TEST(Memory, FreedBlocksAreRememberedForAWhile) {
  Memory memory(2 * kGiB);
  char* block = static_cast<char*>(memory.allocate(256, "weights"));
  EXPECT_TRUE(memory.contains(block, 256));
  EXPECT_FALSE(memory.contains(block, 257));
  EXPECT_FALSE(memory.contains(block + 1, 256));
  memory.free(block);
  EXPECT_FALSE(memory.contains(block, 1));
  const Allocation* found = memory.find(address(block) + 255);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->freed);
  EXPECT_NE(memory.allocate(256), block);
  memory.free(memory.allocate(Memory::kQuarantineBytes + 1));
  EXPECT_EQ(memory.find(address(block)), nullptr);
}

TEST(Memory, QuarantineNeverStarvesTheDevice) {
  Memory memory(600 * kMiB);
  for (int i = 0; i < 20; ++i) {
    void* block = memory.allocate(599 * kMiB);
    ASSERT_NE(block, nullptr) << i;
    memory.free(block);
  }
}

TEST(Memory, DescribesAddresses) {
  Memory memory(64 * kMiB);
  char* a = static_cast<char*>(memory.allocate(1024));
  char* b = static_cast<char*>(memory.allocate(100, "table"));
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address(a)));
  EXPECT_EQ(memory.describe(address(a) + 1028),
            std::string("4 bytes past the end of the 1024-byte allocation at ") + text);
  EXPECT_EQ(memory.describe(address(a) + 1024),
            std::string("0 bytes past the end of the 1024-byte allocation at ") + text);
  EXPECT_EQ(memory.describe(address(a) + 4),
            std::string("4 bytes into the 1024-byte allocation at ") + text);
  EXPECT_EQ(memory.describe(address(a) - 1),
            std::string("1 byte before the 1024-byte allocation at ") + text);
  memory.free(a);
  EXPECT_EQ(memory.describe(address(a)),
            std::string("0 bytes into the freed 1024-byte allocation at ") + text);
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address(b)));
  EXPECT_EQ(memory.describe(address(b) - 8),
            std::string("8 bytes before the 100-byte variable 'table' at ") + text);
  EXPECT_EQ(memory.describe(0x10), "a null pointer");
  EXPECT_EQ(memory.describe(0x123450000), "no allocation is near it; a pointer of the host?");
}

// Random allocations and frees, compared with a list of live blocks.
TEST(Memory, AgreesWithAPlainList) {
  struct Block {
    std::uint64_t begin, bytes;
  };
  Memory memory(8 * kMiB);
  std::mt19937 random(1);
  std::vector<Block> live;
  std::size_t bytes = 0;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 2 == 0) {
      const std::size_t wanted = 1 + random() % (random() % 8 == 0 ? kMiB : 5000);
      const auto begin = address(memory.allocate(wanted));
      ASSERT_EQ(begin == 0, bytes + wanted > 8 * kMiB);
      if (begin == 0) continue;
      for (const Block& other : live) {
        ASSERT_TRUE(begin >= other.begin + other.bytes + Memory::kMinRedZone ||
                    other.begin >= begin + wanted + Memory::kMinRedZone);
      }
      live.push_back({begin, wanted});
      bytes += wanted;
    } else {
      const std::size_t victim = random() % live.size();
      ASSERT_TRUE(memory.free(reinterpret_cast<void*>(live[victim].begin)));
      bytes -= live[victim].bytes;
      live[victim] = live.back();
      live.pop_back();
    }
    ASSERT_EQ(memory.allocated_bytes(), bytes);
    if (live.empty()) continue;
    const Block& some = live[random() % live.size()];
    const Allocation* found = memory.find(some.begin + random() % some.bytes);
    ASSERT_NE(found, nullptr);
    ASSERT_FALSE(found->freed);
    ASSERT_EQ(found->begin, some.begin);
    ASSERT_EQ(found->end, some.begin + some.bytes);
  }
}

TEST(AllocationCursor, FindsWholeAccessesOnly) {
  Memory memory(64 * kMiB);
  const std::uint64_t a = address(memory.allocate(1000)), b = address(memory.allocate(64));
  void* dead = memory.allocate(64);
  memory.free(dead);
  AllocationCursor cursor(memory.map());
  for (int round = 0; round < 2; ++round) {  // the second time with the memory of the first
    EXPECT_NE(cursor.covering(a, 1000), nullptr);
    EXPECT_NE(cursor.covering(a + 996, 4), nullptr);
    EXPECT_EQ(cursor.covering(a + 997, 4), nullptr);
    EXPECT_EQ(cursor.covering(a - 1, 1), nullptr);
    EXPECT_EQ(cursor.covering(a, ~std::uint64_t{0}), nullptr);
    EXPECT_EQ(cursor.covering(~std::uint64_t{0}, 4), nullptr);
    EXPECT_EQ(cursor.covering(0, 4), nullptr);
    EXPECT_EQ(cursor.covering(address(dead), 4), nullptr);
    ASSERT_NE(cursor.covering(b, 64), nullptr);
    EXPECT_EQ(cursor.covering(b, 64)->begin, b);
  }
}

TEST(AllocationCursor, KeepsItsMapWhileMemoryChanges) {
  Memory memory(64 * kMiB);
  const std::uint64_t a = address(memory.allocate(1000));
  AllocationCursor cursor(memory.map());
  const std::uint64_t b = address(memory.allocate(1000));
  EXPECT_NE(cursor.covering(a, 4), nullptr);
  EXPECT_EQ(cursor.covering(b, 4), nullptr);
}

TEST(Memory, ThreadsLookUpWhileOthersAllocate) {
  Memory memory(64 * kMiB);
  const std::uint64_t fixed = address(memory.allocate(4096));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        if (t % 2 == 0) {
          AllocationCursor cursor(memory.map());
          EXPECT_NE(cursor.covering(fixed, 4096), nullptr);
          EXPECT_TRUE(memory.contains(reinterpret_cast<void*>(fixed), 4096));
        } else {
          EXPECT_TRUE(memory.free(memory.allocate(100)));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.allocated_bytes(), 4096u);
}

TEST(Memory, HostMemoryCanBeAdopted) {
  Memory memory(1 << 20);
  const auto block = reinterpret_cast<std::uint64_t>(memory.allocate(1000));
  std::vector<char> low(4096), high(4096);
  ASSERT_TRUE(memory.adopt(low.data(), 4096, "host"));
  ASSERT_TRUE(memory.adopt(high.data(), 4096, "host"));
  EXPECT_TRUE(memory.contains(low.data() + 1, 4095));
  EXPECT_FALSE(memory.contains(low.data() + 1, 4096));
  EXPECT_TRUE(memory.contains(high.data(), 4096));
  EXPECT_TRUE(memory.contains(reinterpret_cast<void*>(block), 1000));
  AllocationCursor cursor(memory.map());
  EXPECT_NE(cursor.covering(reinterpret_cast<std::uint64_t>(low.data()), 4096), nullptr);
  EXPECT_NE(cursor.covering(block, 1000), nullptr);
  EXPECT_EQ(memory.allocated_bytes(), 1000u) << "it is the host's";

  EXPECT_FALSE(memory.adopt(low.data() + 4095, 1, "host")) << "adopted already";
  EXPECT_FALSE(memory.adopt(reinterpret_cast<void*>(block + 5000), 1, "host")) << "device memory";
  EXPECT_FALSE(memory.disown(low.data() + 1));
  EXPECT_TRUE(memory.disown(low.data()));
  EXPECT_FALSE(memory.contains(low.data(), 1));
  EXPECT_FALSE(memory.disown(low.data()));
}

}  // namespace
}  // namespace vgpu
