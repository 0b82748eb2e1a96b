// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "runtime/image/cubin.hpp"
#include "runtime/image/fatbin.hpp"

namespace vgpu::image {
namespace {

std::map<std::string, std::uint32_t> counts(const char* mode) {
  const std::string file = fixture(mode);
  const auto entries = read_entries(bytes_of(file));
  const std::string code = contents(*choose_cubin(entries, 90));
  return read_register_counts(bytes_of(code));
}

TEST(Cubin, GivesTheRegistersOfEveryKernel) {
  const auto registers = counts("none");
  ASSERT_EQ(registers.size(), 2u);
  ASSERT_TRUE(registers.contains("small"));
  ASSERT_TRUE(registers.contains("large"));
  EXPECT_GE(registers.at("small"), 4u);
  EXPECT_LE(registers.at("small"), 24u);
  EXPECT_GE(registers.at("large"), 49u) << "48 sums are live at once";
  EXPECT_LE(registers.at("large"), 255u);
}

TEST(Cubin, IsTheSameWhenItWasCompressed) { EXPECT_EQ(counts("size"), counts("none")); }

TEST(Cubin, OtherFilesAreRefused) {
  EXPECT_THROW(read_register_counts(bytes_of("")), Damaged);
  EXPECT_THROW(read_register_counts(bytes_of(std::string(1000, 'x'))), Damaged);
}

}  // namespace
}  // namespace vgpu::image
