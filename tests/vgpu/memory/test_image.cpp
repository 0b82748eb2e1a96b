// SPDX-License-Identifier: Apache-2.0
// Saved contents of memory are restored, and changes since then are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "memory/image.hpp"

namespace {

constexpr std::size_t kBytes = 200'001;  // several chunks, the last one short

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

TEST_F(Image, FindsTheBytesThatChanged) {
  unsigned char* const zeros = block(0);
  unsigned char* const ones = block(1);
  for (unsigned char* const data : {zeros, ones}) {
    for (const std::size_t at :
         {std::size_t{0}, std::size_t{65'535}, std::size_t{65'536}, kBytes - 1}) {
      const vgpu::MemoryImage before = image();
      EXPECT_TRUE(before.differences().empty());
      data[at] ^= 4;
      data[kBytes - 1] |= 8;
      const std::uint64_t begin = reinterpret_cast<std::uint64_t>(data + at),
                          last = reinterpret_cast<std::uint64_t>(data) + kBytes - 1;
      const auto ranges = before.differences();
      ASSERT_EQ(ranges.size(), at == kBytes - 1 ? 1U : 2U);
      EXPECT_EQ(ranges.front().begin, begin);
      EXPECT_EQ(ranges.front().end, begin + 1);
      EXPECT_EQ(ranges.back().begin, last);
      before.restore();
      EXPECT_TRUE(before.differences().empty());
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
  EXPECT_TRUE(before.differences().empty());
  host[99] = host[98] = 8;
  const auto ranges = before.differences();
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].begin, reinterpret_cast<std::uint64_t>(&host[98]));
  EXPECT_EQ(ranges[0].end, reinterpret_cast<std::uint64_t>(&host[99]) + 1);
  before.restore();
  EXPECT_EQ(host[99], 7);
  memory.disown(host.data());
}

}  // namespace
