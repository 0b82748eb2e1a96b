// SPDX-License-Identifier: Apache-2.0
// Damaged fat binaries: an error, never a crash, a hang or a very large allocation. Most useful
// under a sanitizer.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "fixture.hpp"
#include "runtime/image/image.hpp"

namespace vgpu::image {
namespace {

// Reads the whole file. Returns false if it is damaged.
bool readable(std::span<const std::byte> file) {
  try {
    for (const Entry& entry : read_entries(file)) {
      const std::string plain = contents(entry);
      if (entry.kind == Kind::kCubin) read_resources(bytes_of(plain));
    }
    return true;
  } catch (const Damaged&) {
    return false;
  }
}

template <class T>
std::string with(std::string file, std::size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
  return file;
}

constexpr std::size_t kEntry = 16;  // the first entry's header
constexpr std::uint64_t kHuge64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kHuge32 = std::numeric_limits<std::uint32_t>::max();

TEST(DamagedFatBinary, CutShortAnywhereIsRefused) {
  for (const char* mode : {"none", "speed", "size"}) {
    const std::string file = fixture(mode);
    ASSERT_TRUE(readable(bytes_of(file)));
    for (std::size_t size = 0; size < file.size(); size += 1 + size / 64) {
      EXPECT_FALSE(readable(bytes_of(file).first(size))) << mode << " cut to " << size << " bytes";
    }
  }
}

TEST(DamagedFatBinary, SizesThatDoNotAddUpAreRefused) {
  const std::string file = fixture("size");
  EXPECT_FALSE(readable(bytes_of(with(file, 0, std::uint32_t{0x12345678})))) << "magic";
  EXPECT_FALSE(readable(bytes_of(with(file, 6, std::uint16_t{0})))) << "header size 0";
  EXPECT_FALSE(readable(bytes_of(with(file, 6, std::uint16_t{0xffff}))))
      << "header size past the end";
  EXPECT_FALSE(readable(bytes_of(with(file, 8, kHuge64)))) << "size of the entries";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 4, std::uint32_t{0}))))
      << "entry header of 0 bytes";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 4, kHuge32)))) << "entry header past the end";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 8, kHuge64)))) << "entry size";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 8, kHuge64 - 63))))
      << "entry size that wraps around";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 16, kHuge32)))) << "compressed size";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 16, std::uint32_t{3}))))
      << "compressed size too small";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 56, kHuge64)))) << "plain size";
  EXPECT_FALSE(readable(bytes_of(with(file, kEntry + 56, std::uint64_t{1} << 29))))
      << "plain size not the frame's";
}

// Random damage, the same in every run.
TEST(DamagedFatBinary, WithRandomBytesNeverCrashes) {
  for (const char* mode : {"none", "speed", "size"}) {
    const std::string file = fixture(mode);
    std::mt19937 random(1);
    int refused = 0;
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = file;
      const int changes = 1 + static_cast<int>(random() % 4);
      for (int i = 0; i < changes; ++i) {
        // Half of the changes are in the headers, where they have the most effect.
        const std::size_t range = random() % 2 == 0 ? 160 : damaged.size();
        damaged[random() % range] = static_cast<char>(random());
      }
      refused += readable(bytes_of(damaged)) ? 0 : 1;
    }
    EXPECT_GT(refused, 0) << mode;
  }
}

}  // namespace
}  // namespace vgpu::image
