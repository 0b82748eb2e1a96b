// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "host/pack.hpp"

namespace ladder::host {
namespace {

// Panels of either operand, packed or in place, contain every element of the block once.
TEST(Panels, ShowTheirBlock) {
  const MicroKernel& kernel = micro_kernel();
  const Shape tile = kernel.shape(2);
  const std::int64_t lines = 9 * tile.cols + 5, k = 21;
  for (const bool along_k : {false, true}) {
    const std::int64_t ld = (along_k ? k : lines) + 2;
    std::vector<float> x((along_k ? lines : k) * ld);
    std::iota(x.begin(), x.end(), 1.0F);
    const Operand operand{x.data(), ld, along_k};
    for (const Panels::Role role : {Panels::Role::kRows, Panels::Role::kCols}) {
      for (const auto& [packed, one_by_one] :
           {std::pair{true, true}, {true, false}, {false, false}}) {
        const Piece block{2, lines - 3}, depth{1, k - 4};
        std::vector<float> memory(
            packed_floats(block.size, block.size, depth.size, depth.size, tile.cols));
        const Panels panels(kernel, tile, role, operand, block, depth, packed, memory.data());
        // One by one in any order, because threads pack panels at the same time, or all together.
        if (one_by_one) {
          for (std::int64_t i = panels.count(); i-- > 0;) panels.pack(i);
        } else {
          panels.pack();
        }
        std::int64_t next = 0;
        for (std::int64_t i = 0; i < panels.count(); ++i) {
          const Panel panel = panels.at(i);
          ASSERT_EQ(panel.begin, next);
          next += panel.lines;
          ASSERT_LE(panel.lines, role == Panels::Role::kRows ? tile.rows : tile.cols);
          for (int line = 0; line < panel.lines; ++line) {
            for (std::int64_t d = 0; d < depth.size; ++d) {
              const float shown =
                  !packed && along_k ? panel.x[line * panel.ld + d] : panel.x[d * panel.ld + line];
              ASSERT_EQ(shown, *operand.at(block.begin + panel.begin + line, depth.begin + d));
            }
          }
        }
        EXPECT_EQ(next, block.size);
      }
    }
  }
}

TEST(Workspace, IsKeptAlignedAndPerUse) {
  float* a = workspace(Use::kA, 100);
  float* b = workspace(Use::kB, 100);
  ASSERT_NE(a, nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 64, 0U);
  EXPECT_EQ(workspace(Use::kA, 50), a);
  EXPECT_NE(workspace(Use::kA, 1 << 20), nullptr);
}

TEST(Workspace, TooMuchIsNull) { EXPECT_EQ(workspace(Use::kB, std::size_t{1} << 60), nullptr); }

}  // namespace
}  // namespace ladder::host
