// SPDX-License-Identifier: Apache-2.0
// What a launch did to memory is repeated where memory is as it was before it, and only there.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "memory/content_hash.hpp"
#include "memory/memory_effect.hpp"
#include "memory/shadow.hpp"

namespace {

constexpr std::size_t kBytes = 10'000, kMost = std::size_t{1} << 20;

class MemoryEffect : public testing::Test {
 protected:
  explicit MemoryEffect(bool tracked = false) {
    if (tracked) memory.track();
    for (char*& block : blocks) {
      block = static_cast<char*>(memory.allocate(kBytes));
      std::memset(block, 1, kBytes);
      memory.mark_written(block, kBytes - 8);  // not as a whole
    }
    changes = memory.watch_changes();
  }

  // A launch that reads the first block and changes part of the second.
  std::optional<vgpu::MemoryEffect> launch(std::size_t most = kMost) {
    touched.emplace(memory.map(), *changes, memory.shadow());
    const std::uint64_t begin = changes->now();
    changes->begin_writing();
    touch(blocks[0], 0, kBytes);
    touch(blocks[1], 5000, 10);
    std::memset(blocks[1] + 5000, blocks[0][0] + 1, 10);
    if (memory.shadow() != nullptr)
      memory.shadow()->mark_written(reinterpret_cast<std::uint64_t>(blocks[1]) + 5000, 10);
    changes->end_writing(false);
    return vgpu::MemoryEffect::of(*touched, memory, *changes, begin, most);
  }
  void touch(const char* block, std::size_t offset, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uint64_t>(block);
    const vgpu::Allocation* const known = memory.map()->find(address);
    touched->touch(*known, address + offset, bytes);
  }
  void write(char* at, char value) {
    *at = value;
    memory.mark_written(at, 1);
  }

  vgpu::Memory memory{std::size_t{16} << 20};
  char* blocks[3];
  vgpu::Changes* changes;
  std::optional<vgpu::TouchedMemory> touched;
};

TEST_F(MemoryEffect, IsRepeatedWhereMemoryIsAsBefore) {
  auto effect = launch();
  ASSERT_TRUE(effect);
  EXPECT_FALSE(effect->repeat(memory, *changes));  // it has changed its own memory
  std::memset(blocks[1] + 5000, 1, 10);
  memory.mark_written(blocks[1] + 5000, 10);
  write(blocks[1], 9);  // elsewhere
  EXPECT_TRUE(effect->repeat(memory, *changes));
  EXPECT_EQ(blocks[1][5000], 2);
  EXPECT_EQ(blocks[1][5009], 2);
  EXPECT_EQ(blocks[1][5010], 1);
  EXPECT_EQ(blocks[1][0], 9);
}

TEST_F(MemoryEffect, IsNothingWhereTheLaunchLeavesMemoryAsItIs) {
  ASSERT_TRUE(launch());
  auto effect = launch();  // writes what is there
  ASSERT_TRUE(effect);
  const std::uint64_t before = changes->now();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(effect->repeat(memory, *changes));
  EXPECT_EQ(changes->now(), before);
  write(blocks[0] + 9'999, 1);  // the same value
  EXPECT_TRUE(effect->repeat(memory, *changes));
  write(blocks[0] + 9'999, 3);
  EXPECT_FALSE(effect->repeat(memory, *changes));
  write(blocks[0] + 9'999, 1);
  EXPECT_TRUE(effect->repeat(memory, *changes));
  write(blocks[1] + 5005, 5);
  EXPECT_FALSE(effect->repeat(memory, *changes));
}

TEST_F(MemoryEffect, IsNotRepeatedInOtherAllocations) {
  ASSERT_TRUE(launch());
  auto effect = launch();
  ASSERT_TRUE(effect->repeat(memory, *changes));
  memory.free(blocks[0]);
  EXPECT_FALSE(effect->repeat(memory, *changes));
}

TEST_F(MemoryEffect, IsNotRepeatedInMemoryThatTheHostWrites) {
  ASSERT_TRUE(launch());
  auto effect = launch();
  memory.share(blocks[0]);
  EXPECT_FALSE(effect->repeat(memory, *changes));
}

TEST_F(MemoryEffect, IsUnknownWhereOthersWroteMeanwhile) {
  touched.emplace(memory.map(), *changes, memory.shadow());
  const std::uint64_t begin = changes->now();
  touch(blocks[0], 0, 1);
  write(blocks[0] + 100, 4);
  EXPECT_FALSE(vgpu::MemoryEffect::of(*touched, memory, *changes, begin, kMost));
}

TEST_F(MemoryEffect, HasABound) {
  EXPECT_FALSE(launch(kBytes / 4));
  EXPECT_FALSE(launch(10));
}

TEST_F(MemoryEffect, TouchedMemoryIsIncompleteWithTheHosts) {
  alignas(64) static char host[64];
  ASSERT_TRUE(memory.adopt(host, sizeof host, "host"));
  memory.share(blocks[2]);
  for (const char* block : {static_cast<const char*>(host), static_cast<const char*>(blocks[2])}) {
    touched.emplace(memory.map(), *changes, memory.shadow());
    touch(blocks[0], 0, 1);
    EXPECT_TRUE(touched->is_complete());
    const auto map = memory.map();
    touched.emplace(map, *changes, memory.shadow());
    touched->touch(*map->find(reinterpret_cast<std::uint64_t>(block)),
                   reinterpret_cast<std::uint64_t>(block), 1);
    EXPECT_FALSE(touched->is_complete());
  }
}

TEST_F(MemoryEffect, ThreadsThatTouchAPieceWaitForItsHash) {
  constexpr int kThreads = 4;
  touched.emplace(memory.map(), *changes, memory.shadow());
  const auto map = memory.map();
  std::vector<std::thread> threads;
  const auto address = reinterpret_cast<std::uint64_t>(blocks[0]);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t at = 0; at < kBytes; at += 16) {
        touched->touch(*map->find(address), address + at);
        blocks[0][at + static_cast<std::size_t>(i)] = 2;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto pieces = touched->pieces();
  ASSERT_EQ(pieces.size(), 3U);
  for (const vgpu::MemoryPiece& piece : pieces) {
    const std::vector<char> ones(piece.bytes, 1);
    EXPECT_EQ(piece.before, vgpu::content_hash(ones.data(), ones.size()));
  }
}

class TrackedEffect : public MemoryEffect {
 protected:
  TrackedEffect() : MemoryEffect(true) {}
};

TEST_F(TrackedEffect, HasMarks) {
  const auto address = reinterpret_cast<std::uint64_t>(blocks[1]);
  memory.shadow()->forget(address + 4096, 4096);
  auto effect = launch();
  ASSERT_TRUE(effect);
  std::memset(blocks[1] + 5000, 1, 10);
  memory.mark_written(blocks[1] + 5000, 10);
  EXPECT_FALSE(effect->repeat(memory, *changes));  // other marks
  memory.shadow()->forget(address + 4096, 4096);
  EXPECT_TRUE(effect->repeat(memory, *changes));
  EXPECT_TRUE(memory.shadow()->is_written(address + 5000, 10));
  EXPECT_FALSE(memory.shadow()->is_written(address + 4999, 1));
}

TEST_F(TrackedEffect, LeavesOutWhatSumsChange) {
  touched.emplace(memory.map(), *changes, memory.shadow());
  const std::uint64_t begin = changes->now();
  const auto address = reinterpret_cast<std::uint64_t>(blocks[2]);
  touch(blocks[0], 0, 4);
  touched->add_to(*memory.map()->find(address), address + 5000);
  touched->set_sums(vgpu::Sums{{{nullptr, address + 5000, 7}}});
  blocks[2][5000] = 8;
  auto effect = vgpu::MemoryEffect::of(*touched, memory, *changes, begin, kMost);
  ASSERT_TRUE(effect);
  EXPECT_TRUE(changes->any_since(begin, address + 5000, 1));
  EXPECT_FALSE(changes->any_since(begin, address, 1));
  for (const char value : {'x', 'y', 'z'}) {
    write(blocks[2] + 5000, value);
    const std::uint64_t before = changes->now();
    ASSERT_TRUE(effect->repeat(memory, *changes));
    EXPECT_TRUE(changes->any_since(before, address + 5000, 1));
    EXPECT_EQ(blocks[2][5000], value);
    EXPECT_EQ(effect->sums()[0][0].value, 7u);
  }
  memory.shadow()->forget(address + 5004, 4);  // which would be found
  EXPECT_FALSE(effect->repeat(memory, *changes));
}

TEST_F(TrackedEffect, IsNotRepeatedWhereAllocationsWereWrittenAsAWhole) {
  ASSERT_TRUE(launch());
  auto effect = launch();
  EXPECT_TRUE(effect->repeat(memory, *changes));
  memory.mark_written(blocks[0], kBytes);
  EXPECT_FALSE(effect->repeat(memory, *changes));
}

TEST(ContentHash, DependsOnEveryBitAndOnTheLength) {
  std::vector<unsigned char> data(200);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7 + 1);
  std::set<std::uint64_t> seen;
  std::size_t hashes = 0;
  for (std::size_t length = 0; length <= data.size(); ++length, ++hashes)
    seen.insert(vgpu::content_hash(data.data(), length));
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit, ++hashes) {
    data[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
    seen.insert(vgpu::content_hash(data.data(), data.size()));
    data[bit / 8] ^= static_cast<unsigned char>(1 << bit % 8);
  }
  for (std::uint64_t seed = 1; seed != 100; ++seed, ++hashes)
    seen.insert(vgpu::content_hash(data.data(), data.size(), seed));
  const std::vector<unsigned char> zeros(300);
  for (std::size_t length = 1; length <= zeros.size(); ++length, ++hashes)
    seen.insert(vgpu::content_hash(zeros.data(), length));
  EXPECT_EQ(seen.size(), hashes);
}

}  // namespace
