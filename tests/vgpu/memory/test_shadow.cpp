// SPDX-License-Identifier: Apache-2.0
// Shadow memory: per byte, not per word; copies of any alignment; marks of launches.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "memory/memory.hpp"
#include "memory/shadow.hpp"

namespace vgpu {
namespace {

constexpr std::uint64_t kBegin = 4096;
constexpr std::size_t kBytes = 1 << 16;

// The same with a vector of flags.
class Model {
 public:
  explicit Model(std::size_t bytes) : flags_(bytes) {}
  void mark(std::size_t at, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) flags_[at + i] = true;
  }
  void copy(std::size_t to, std::size_t from, std::size_t size) {
    const std::vector<bool> source(flags_.begin() + static_cast<std::ptrdiff_t>(from),
                                   flags_.begin() + static_cast<std::ptrdiff_t>(from + size));
    for (std::size_t i = 0; i < size; ++i) flags_[to + i] = source[i];
  }
  bool at(std::size_t i) const { return flags_[i]; }

 private:
  std::vector<bool> flags_;
};

TEST(Shadow, MarksAndCopiesAreThoseOfTheBytes) {
  constexpr std::size_t kUsed = 200;
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Shadow shadow(kBegin, kBytes);
    Model model(kUsed);
    for (int step = 0; step < 12; ++step) {
      const std::size_t size = random() % 40, a = random() % (kUsed - size),
                        b = random() % (kUsed - size);
      if (random() % 2 == 0) {
        shadow.mark_written(kBegin + a, size);
        model.mark(a, size);
      } else {
        shadow.copy_written(kBegin + a, kBegin + b, size);
        model.copy(a, b, size);
      }
    }
    for (std::size_t i = 0; i < kUsed; ++i)
      ASSERT_EQ(shadow.is_written(kBegin + i, 1), model.at(i)) << i;
  }
}

TEST(Shadow, DoubtsAreUnwrittenUntilTheyAreWritten) {
  Shadow shadow(kBegin, kBytes);
  shadow.mark_written(kBegin, 100);
  shadow.doubt(kBegin + 5, 3);
  EXPECT_FALSE(shadow.is_written(kBegin + 5, 1));
  EXPECT_TRUE(shadow.is_written(kBegin, 5));
  EXPECT_TRUE(shadow.is_written(kBegin + 8, 92));
  EXPECT_EQ(shadow.first_in_doubt(kBegin, 100), kBegin + 5);
  EXPECT_EQ(shadow.first_in_doubt(kBegin + 8, 200),
            kBegin + 208);  // uninitialised bytes are not marked
  for (const std::size_t to : {std::size_t{41}, std::size_t{44}}) {
    shadow.copy_written(kBegin + to, kBegin + 4, 8);
    EXPECT_EQ(shadow.first_in_doubt(kBegin + 8, 100), kBegin + to + 1);
    EXPECT_FALSE(shadow.is_written(kBegin + to + 3, 1));
    EXPECT_TRUE(shadow.is_written(kBegin + to + 4, 4));
    shadow.mark_written(kBegin + to, 8);
    EXPECT_EQ(shadow.first_in_doubt(kBegin + 8, 100), kBegin + 108);
  }
  shadow.mark_written(kBegin + 5, 1);
  EXPECT_EQ(shadow.first_in_doubt(kBegin, 100), kBegin + 6);
  shadow.forget(kBegin, 100);
  EXPECT_EQ(shadow.first_in_doubt(kBegin, 100), kBegin + 100);
}

TEST(Shadow, ForgetsWholePagesAndParts) {
  for (const std::size_t size : {std::size_t{4}, std::size_t{400}, std::size_t{40000}}) {
    Shadow shadow(kBegin, kBytes);
    shadow.mark_written(kBegin, kBytes);
    shadow.forget(kBegin + 512, size);
    EXPECT_TRUE(shadow.is_written(kBegin, 512));
    EXPECT_FALSE(shadow.is_written(kBegin + 512, 1));
    EXPECT_FALSE(shadow.is_written(kBegin + 512 + size - 1, 1));
    EXPECT_TRUE(shadow.is_written(kBegin + 512 + size, kBytes - 512 - size));
  }
}

TEST(Shadow, MarksOfLaunchesGrowAndBeginAnewWhenTheyRunOut) {
  Shadow shadow(kBegin, kBytes);
  const std::uint32_t first = shadow.new_marks(10);
  EXPECT_GE(first, 1u);
  EXPECT_EQ(shadow.new_marks(5), first + 10);
  shadow.touched()[3] = 7;
  EXPECT_EQ(shadow.new_marks(Shadow::kMarkBits - 5), 1u);  // all marks have been removed
  EXPECT_EQ(shadow.touched()[3], 0u);
  EXPECT_EQ(shadow.new_marks(std::uint64_t{1} << 30), 0u);
}

TEST(Shadow, PartsRowsIntoWords) {
  Shadow shadow(kBegin, kBytes);
  const std::uint32_t first = shadow.new_marks(10), parted = Shadow::kStoring | first;
  const auto part = [&](std::uint32_t row) {
    shadow.rows()[1] = row;
    Shadow::part(shadow.rows() + 1, shadow.touched() + Shadow::kRowWords, first);
    EXPECT_EQ(shadow.rows()[1], parted);
  };
  part(0);
  EXPECT_EQ(shadow.touched()[Shadow::kRowWords], 0u);
  part(Shadow::kWritten | (first + 3));
  for (std::size_t i = 0; i < Shadow::kRowWords; ++i)
    EXPECT_EQ(shadow.touched()[Shadow::kRowWords + i], Shadow::kWritten | (first + 3));
  EXPECT_EQ(shadow.touched()[Shadow::kRowWords - 1], 0u);
  EXPECT_EQ(shadow.touched()[2 * Shadow::kRowWords], 0u);
  part(parted);  // again
  EXPECT_EQ(shadow.touched()[Shadow::kRowWords], Shadow::kWritten | (first + 3));
  EXPECT_EQ(shadow.new_marks(Shadow::kMarkBits - 5), 1u);
  EXPECT_EQ(shadow.rows()[1], 0u);
}

TEST(Memory, TracksWhatIsAllocatedAfterwards) {
  Memory memory(1 << 20);
  void* const before = memory.allocate(64);
  memory.track();
  char* const after = static_cast<char*>(memory.allocate(64));
  void* const variable = memory.allocate(64, "variable");
  const auto written = [&](const void* block) {
    return memory.find(reinterpret_cast<std::uint64_t>(block))->written;
  };
  EXPECT_TRUE(written(before));
  EXPECT_TRUE(written(variable));
  EXPECT_FALSE(written(after));
  memory.mark_written(after, 63);
  EXPECT_FALSE(written(after));
  EXPECT_TRUE(memory.shadow()->is_written(reinterpret_cast<std::uint64_t>(after), 63));
  EXPECT_FALSE(memory.shadow()->is_written(reinterpret_cast<std::uint64_t>(after), 64));
  memory.mark_written(after, 64);
  EXPECT_TRUE(written(after));
}

}  // namespace
}  // namespace vgpu
