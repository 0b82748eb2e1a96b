// SPDX-License-Identifier: Apache-2.0
// Changes of memory are noted by page.
#include <gtest/gtest.h>

#include "memory/changes.hpp"
#include "memory/memory.hpp"

namespace {

constexpr std::size_t kPage = 4096;

class Changes : public testing::Test {
 protected:
  Changes() : data(static_cast<char*>(memory.allocate(16 * kPage))) {
    changes = memory.watch_changes();
  }
  std::uint64_t at(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(data) + offset;
  }
  bool changed(std::uint64_t since, std::size_t offset, std::size_t bytes) const {
    return changes->any_since(since, at(offset), bytes);
  }

  vgpu::Memory memory{std::size_t{16} << 20};
  char* data;
  vgpu::Changes* changes;
};

TEST_F(Changes, AreNotWatchedBeforeThereIsMemory) {
  vgpu::Memory empty(1 << 20);
  EXPECT_EQ(empty.watch_changes(), nullptr);
  EXPECT_EQ(empty.changes(), nullptr);
}

TEST_F(Changes, AreOfThePagesOfTheRange) {
  ASSERT_NE(changes, nullptr);
  const std::uint64_t before = changes->now();
  memory.mark_written(data + 4 * kPage, 1);
  EXPECT_TRUE(changed(before, 4 * kPage, 1));
  EXPECT_FALSE(changed(before, 0, 2 * kPage));
  EXPECT_FALSE(changed(before, 6 * kPage, 2 * kPage));
  EXPECT_TRUE(changed(before, 0, 16 * kPage));
  EXPECT_FALSE(changed(changes->now(), 0, 16 * kPage));
}

TEST_F(Changes, AreNotedByCopiesAndByAllocations) {
  const std::uint64_t before = changes->now();
  data[0] = 1;
  memory.copy(data + 8 * kPage, data, kPage);
  EXPECT_EQ(data[8 * kPage], 1);
  EXPECT_TRUE(changed(before, 8 * kPage, kPage));
  EXPECT_FALSE(changed(before, 0, kPage));
  const std::uint64_t second = changes->now();
  memory.copy(data + 8 * kPage, data, kPage);
  EXPECT_FALSE(changed(second, 8 * kPage, kPage)) << "it holds the same";
  void* const other = memory.allocate(100);
  EXPECT_TRUE(changes->any_since(second, reinterpret_cast<std::uint64_t>(other), 100));
}

TEST_F(Changes, MayBeAnywhereWhileSomebodyWrites) {
  const std::uint64_t before = changes->now();
  changes->begin_writing();
  EXPECT_TRUE(changed(changes->now(), 0, 1));
  changes->end_writing(false);
  EXPECT_FALSE(changed(before, 0, 1));
  changes->begin_writing();
  changes->end_writing(true);
  EXPECT_TRUE(changed(before, 0, 1));
  EXPECT_FALSE(changed(changes->now(), 0, 1));
}

TEST_F(Changes, FillsAreMadeOnceUntilMemoryChanges) {
  memory.fill(data, 7, 2 * kPage);
  EXPECT_EQ(data[0], 7);
  EXPECT_EQ(data[2 * kPage - 1], 7);
  data[0] = 1;  // without a note: the fill is not made
  memory.fill(data, 7, 2 * kPage);
  EXPECT_EQ(data[0], 1);
  memory.fill(data, 7, kPage);  // another range
  EXPECT_EQ(data[0], 7);
  data[0] = 1;
  memory.mark_written(data, 1);
  memory.fill(data, 7, kPage);
  EXPECT_EQ(data[0], 7);
  memory.fill(data, 8, kPage);
  EXPECT_EQ(data[0], 8);
}

TEST_F(Changes, OfMemoryThatTheHostWritesAreNotKnown) {
  memory.share(data);
  memory.fill(data, 7, kPage);
  data[0] = 1;
  memory.fill(data, 7, kPage);
  EXPECT_EQ(data[0], 7);
}

}  // namespace
