// SPDX-License-Identifier: Apache-2.0
// Complete fat binaries: the reader returns what nvcc wrote, for each way of compressing.
#include <gtest/gtest.h>

#include <vector>

#include "fixture.hpp"
#include "runtime/image/image.hpp"

namespace vgpu::image {
namespace {

class FatBinaryOf : public testing::TestWithParam<const char*> {};

TEST_P(FatBinaryOf, HoldsTheCubinAndThePtx) {
  const std::string file = fixture(GetParam());
  const auto entries = read_entries(bytes_of(file));
  ASSERT_EQ(entries.size(), 2u);

  const Entry* cubin = choose_cubin(entries, 90);
  ASSERT_NE(cubin, nullptr);
  EXPECT_EQ(cubin->kind, Kind::kCubin);
  EXPECT_EQ(cubin->target, 90u);
  EXPECT_EQ(contents(*cubin).substr(0, 4),
            "\x7f"
            "ELF");
  const Entry* ptx = choose_ptx(entries, 90);
  ASSERT_NE(ptx, nullptr);
  EXPECT_EQ(ptx->target, 80u);
  const std::string text = ptx_text(*ptx);
  EXPECT_NE(text.find(".target sm_80"), text.npos);
  EXPECT_NE(text.find(".entry small("), text.npos);
  EXPECT_NE(text.find(".entry large("), text.npos);
  EXPECT_EQ(text.find('\0'), text.npos);
}

TEST_P(FatBinaryOf, HoldsTheSameAsTheUncompressedOne) {
  const std::string plain_file = fixture("none"), file = fixture(GetParam());
  const auto plain = read_entries(bytes_of(plain_file)), entries = read_entries(bytes_of(file));
  ASSERT_EQ(entries.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i].kind == Kind::kPtx) {
      EXPECT_EQ(ptx_text(entries[i]), ptx_text(plain[i]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mode, FatBinaryOf, testing::Values("default", "none", "speed", "size"),
                         [](const auto& mode) { return std::string(mode.param); });

TEST(FatBinary, ModesCompressAsNamed) {
  const auto ptx_compression = [](const char* mode) {
    const std::string file = fixture(mode);
    const auto entries = read_entries(bytes_of(file));
    return choose_ptx(entries, 90)->compression;
  };
  EXPECT_EQ(ptx_compression("none"), Compression::kNone);
  EXPECT_EQ(ptx_compression("speed"), Compression::kLz4);
  EXPECT_EQ(ptx_compression("size"), Compression::kZstd);
  EXPECT_EQ(ptx_compression("default"), Compression::kZstd);
}

TEST(FatBinary, IsFoundThroughTheRegistrationWrapper) {
  const std::string file = fixture("default");
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    const void* const* units = nullptr;
  } wrapper;
  wrapper.data = file.data();
  EXPECT_EQ(fat_binary_of(&wrapper).size(), file.size());
  EXPECT_EQ(static_cast<const void*>(fat_binary_of(&wrapper).data()), file.data());
  EXPECT_TRUE(linked_units(&wrapper).empty());
  const void* const units[] = {file.data(), file.data(), nullptr};
  wrapper.units = units;
  EXPECT_TRUE(linked_units(&wrapper).empty());
  wrapper.version = 2;
  EXPECT_EQ(linked_units(&wrapper).size(), 2);
  EXPECT_EQ(linked_units(&wrapper)[1].size(), file.size());
  wrapper.units = nullptr;
  EXPECT_TRUE(linked_units(&wrapper).empty());
  const char damaged[kFatBinaryHeader] = "no fat binary";
  const void* const other[] = {file.data(), damaged, nullptr};
  wrapper.units = other;
  EXPECT_THROW(linked_units(&wrapper), Damaged);
  wrapper.magic ^= 1;
  EXPECT_THROW(fat_binary_of(&wrapper), Damaged);
  EXPECT_THROW(linked_units(&wrapper), Damaged);
  wrapper.magic ^= 1;
  wrapper.data = nullptr;
  EXPECT_THROW(fat_binary_of(&wrapper), Damaged);
}

Entry ptx(std::uint32_t target, bool arch_specific = false) {
  Entry entry;
  entry.kind = Kind::kPtx;
  entry.target = target;
  entry.arch_specific = arch_specific;
  return entry;
}

Entry cubin(std::uint32_t target, bool arch_specific = false) {
  Entry entry = ptx(target, arch_specific);
  entry.kind = Kind::kCubin;
  return entry;
}

TEST(Choice, OfPtxIsTheHighestThatTheDeviceCanTake) {
  const std::vector<Entry> entries = {ptx(80), ptx(100), ptx(86), cubin(90)};
  EXPECT_EQ(choose_ptx(entries, 90), &entries[2]);
  EXPECT_EQ(choose_ptx(entries, 80), &entries[0]);
  EXPECT_EQ(choose_ptx(entries, 120), &entries[1]);
  EXPECT_EQ(choose_ptx(entries, 75), nullptr);
}

TEST(Choice, OfArchitectureSpecificPtxIsForThatTargetOnly) {
  const std::vector<Entry> entries = {ptx(90), ptx(90, true), ptx(80)};
  EXPECT_EQ(choose_ptx(entries, 90), &entries[1]);
  EXPECT_EQ(choose_ptx(entries, 100), &entries[0]);
}

TEST(Choice, OfMachineCodeStaysWithinTheMajorVersion) {
  const std::vector<Entry> entries = {cubin(80), cubin(86), cubin(90), ptx(90)};
  EXPECT_EQ(choose_cubin(entries, 90), &entries[2]);
  EXPECT_EQ(choose_cubin(entries, 89), &entries[1]);
  EXPECT_EQ(choose_cubin(entries, 80), &entries[0]);
  EXPECT_EQ(choose_cubin(entries, 100), nullptr);
}

}  // namespace
}  // namespace vgpu::image
