// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "runtime/image/image.hpp"

namespace vgpu::image {
namespace {

std::map<std::string, Resources> resources(const char* mode) {
  const std::string file = fixture(mode);
  const auto entries = read_entries(bytes_of(file));
  const std::string code = contents(*choose_cubin(entries, 90));
  return read_resources(bytes_of(code));
}

TEST(Cubin, GivesRegistersAndBarriersOfEveryKernel) {
  const auto kernels = resources("none");
  ASSERT_EQ(kernels.size(), 2u);
  ASSERT_TRUE(kernels.contains("small"));
  ASSERT_TRUE(kernels.contains("large"));
  EXPECT_GE(kernels.at("small").registers, 4u);
  EXPECT_LE(kernels.at("small").registers, 24u);
  EXPECT_GE(kernels.at("large").registers, 49u) << "48 sums are live at once";
  EXPECT_LE(kernels.at("large").registers, 255u);
  EXPECT_EQ(kernels.at("small").barriers, 0u);
  EXPECT_EQ(kernels.at("large").barriers, 1u);
}

TEST(Cubin, IsTheSameWhenItWasCompressed) { EXPECT_EQ(resources("size"), resources("none")); }

TEST(Cubin, OtherFilesAreRefused) {
  EXPECT_THROW(read_resources(bytes_of("")), Damaged);
  EXPECT_THROW(read_resources(bytes_of(std::string(1000, 'x'))), Damaged);
}

}  // namespace
}  // namespace vgpu::image
