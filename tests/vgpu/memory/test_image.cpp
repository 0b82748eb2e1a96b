// SPDX-License-Identifier: Apache-2.0
// What memory held comes back, and what has changed since is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/memory/image.hpp"

namespace {

constexpr std::size_t kBytes = 200'001;  // several pieces, the last one short

class Image : public testing::Test {
 protected:
  unsigned char* block(unsigned char value) {
    auto* const data = static_cast<unsigned char*>(memory.allocate(kBytes));
    std::fill_n(data, kBytes, value);
    return data;
  }
  vgpu::MemoryImage image() const { return vgpu::MemoryImage(*memory.map()); }

  vgpu::Memory memory{std::size_t{16} << 20};
};

TEST_F(Image, FindsTheFirstByteThatChanged) {
  unsigned char* const zeros = block(0);
  unsigned char* const ones = block(1);
  for (unsigned char* const data : {zeros, ones}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{65'535}, std::size_t{65'536}, kBytes - 1}) {
      const vgpu::MemoryImage before = image();
      EXPECT_FALSE(before.difference());
      data[at] ^= 4;
      data[kBytes - 1] |= 8;
      EXPECT_EQ(before.difference(), reinterpret_cast<std::uint64_t>(data + at));
      before.restore();
      EXPECT_FALSE(before.difference());
    }
  }
  EXPECT_EQ(std::count(zeros, zeros + kBytes, 0), kBytes);
  EXPECT_EQ(std::count(ones, ones + kBytes, 1), kBytes);
}

TEST_F(Image, TakesAdoptedMemoryAndLeavesFreed) {
  std::vector<unsigned char> host(100, 7);
  ASSERT_TRUE(memory.adopt(host.data(), host.size(), "host memory"));
  unsigned char* const freed = block(1);
  ASSERT_TRUE(memory.free(freed));
  const vgpu::MemoryImage before = image();
  freed[0] ^= 1;
  EXPECT_FALSE(before.difference());
  host[99] = 8;
  EXPECT_EQ(before.difference(), reinterpret_cast<std::uint64_t>(&host[99]));
  before.restore();
  EXPECT_EQ(host[99], 7);
  memory.disown(host.data());
}

}  // namespace
