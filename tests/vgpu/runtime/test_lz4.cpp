// SPDX-License-Identifier: Apache-2.0
// LZ4 blocks, made by hand from the format's description.
#include <gtest/gtest.h>

#include <string>

#include "fixture.hpp"
#include "runtime/image/image.hpp"

namespace vgpu::image {
namespace {

std::string block(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

std::string unpack(const std::string& packed, std::size_t size) {
  return lz4_decompress(bytes_of(packed), size);
}

TEST(Lz4, LiteralsOnly) { EXPECT_EQ(unpack(block({0x30, 'a', 'b', 'c'}), 3), "abc"); }

TEST(Lz4, Nothing) { EXPECT_EQ(unpack(block({0x00}), 0), ""); }

TEST(Lz4, AMatchCopiesWhatIsThere) {
  // "abcd", then 4 + 1 bytes from 4 back, then the literal "!".
  EXPECT_EQ(unpack(block({0x41, 'a', 'b', 'c', 'd', 4, 0, 0x10, '!'}), 10), "abcdabcda!");
}

TEST(Lz4, AMatchMayOverlapItself) {
  EXPECT_EQ(unpack(block({0x16, 'x', 1, 0, 0x00}), 11), std::string(11, 'x'));
}

TEST(Lz4, LengthsGoOnInFurtherBytes) {
  // 15 + 255 + 3 literals, then a match of 4 + 15 + 255 + 0.
  std::string packed = block({0xff, 255, 3}) + std::string(273, 'z') + block({1, 0, 255, 0, 0x00});
  EXPECT_EQ(unpack(packed, 273 + 274), std::string(547, 'z'));
}

TEST(Lz4, DamageIsRefused) {
  EXPECT_THROW(unpack(block({0x30, 'a', 'b'}), 3), Damaged) << "literals past the end";
  EXPECT_THROW(unpack(block({0x30, 'a', 'b', 'c'}), 2), Damaged) << "more than promised";
  EXPECT_THROW(unpack(block({0x30, 'a', 'b', 'c'}), 4), Damaged) << "less than promised";
  EXPECT_THROW(unpack(block({0xf0, 255}), 300), Damaged) << "a length without an end";
  EXPECT_THROW(unpack(block({0x10, 'a', 2, 0}), 5), Damaged) << "a match before the beginning";
  EXPECT_THROW(unpack(block({0x10, 'a', 0, 0}), 5), Damaged) << "a match at distance 0";
  EXPECT_THROW(unpack(block({0x10, 'a', 1}), 5), Damaged) << "half a distance";
  EXPECT_THROW(unpack(block({0x1f, 'a', 1, 0, 255, 255, 0}), 20), Damaged)
      << "a match past what was promised";
  EXPECT_THROW(unpack(block({0x10, 'a'}), std::size_t{1} << 40), Damaged)
      << "a size no block of that length has";
}

}  // namespace
}  // namespace vgpu::image
