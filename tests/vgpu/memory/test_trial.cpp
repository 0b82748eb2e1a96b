// SPDX-License-Identifier: Apache-2.0
// What fails a trial, and what undoing one restores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "memory/shadow.hpp"
#include "memory/trial.hpp"

namespace {

using Use = vgpu::Trial::Use;
constexpr std::size_t kBytes = 50'000;

class Trial : public testing::Test {
 protected:
  Trial() {
    memory.track();
    for (char*& block : blocks) {
      block = static_cast<char*>(memory.allocate(kBytes));
      std::memset(block, 1, kBytes);
      memory.mark_written(block, kBytes / 2);
    }
  }
  vgpu::AddressRange use(vgpu::Trial& trial, const char* at, Use how) {
    const auto address = reinterpret_cast<std::uint64_t>(at);
    return trial.use(*memory.map()->find(address), address, how);
  }
  vgpu::Trial trial() { return vgpu::Trial(memory.map(), memory.shadow(), true); }

  vgpu::Memory memory{std::size_t{16} << 20};
  char* blocks[2];
};

TEST_F(Trial, FailsWhereSumsAreReadOrWritten) {
  for (const Use other : {Use::kLoad, Use::kStore}) {
    vgpu::Trial one = trial(), two = trial();
    use(one, blocks[0], other);
    EXPECT_THROW(use(one, blocks[0] + kBytes - 4, Use::kSum), vgpu::Trial::Failed);
    EXPECT_TRUE(one.failed());
    use(two, blocks[0], Use::kSum);
    use(two, blocks[1], other);
    EXPECT_FALSE(two.failed());
    EXPECT_THROW(use(two, blocks[0] + 100, other), vgpu::Trial::Failed);
    EXPECT_THROW(use(two, blocks[1], other), vgpu::Trial::Failed);  // it has failed
  }
}

TEST_F(Trial, FailsWhereTheHostMaySeeStoresAndSums) {
  memory.share(blocks[0]);
  for (const Use how : {Use::kStore, Use::kSum}) {
    vgpu::Trial one = trial();
    EXPECT_THROW(use(one, blocks[0], how), vgpu::Trial::Failed);
  }
  vgpu::Trial two = trial();
  use(two, blocks[0], Use::kLoad);
  EXPECT_FALSE(two.failed());
}

TEST_F(Trial, UndoRestoresBytesAndMarks) {
  vgpu::Trial one = trial();
  for (char* at = blocks[0]; at != blocks[0] + kBytes; ++at) {
    const auto address = reinterpret_cast<std::uint64_t>(at);
    EXPECT_GT(use(one, at, Use::kStore).end, address);
    *at = 2;
    memory.shadow()->mark_written(address, 1);
  }
  use(one, blocks[1] + 30'000, Use::kSum);
  blocks[1][30'000] = 3;
  one.undo();
  EXPECT_EQ(std::count(blocks[0], blocks[0] + kBytes, 1), static_cast<std::ptrdiff_t>(kBytes));
  EXPECT_EQ(blocks[1][30'000], 1);
  const auto begin = reinterpret_cast<std::uint64_t>(blocks[0]);
  EXPECT_TRUE(memory.shadow()->is_written(begin, kBytes / 2));
  EXPECT_FALSE(memory.shadow()->is_written(begin + kBytes / 2, 1));
  EXPECT_FALSE(memory.shadow()->is_written(begin + kBytes - 1, 1));
}

TEST_F(Trial, KeepsAllSumsOrNone) {
  vgpu::Trial one = trial(), two = trial();
  one.added({{nullptr, 1, 2}});
  one.added({});
  one.added({{nullptr, 3, 4}, {nullptr, 5, 6}});
  const auto sums = one.take_sums();
  ASSERT_TRUE(sums);
  ASSERT_EQ(sums->size(), 2u);
  EXPECT_EQ((*sums)[0][0].value, 2u);
  EXPECT_EQ((*sums)[1][1].address, 5u);
  two.added(std::vector<vgpu::Sum>(vgpu::kMostSums));
  two.added({{nullptr, 1, 2}});
  EXPECT_FALSE(two.take_sums());
}

}  // namespace
