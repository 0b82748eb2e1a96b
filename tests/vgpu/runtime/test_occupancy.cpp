// SPDX-License-Identifier: Apache-2.0
// Occupancy against what cudaOccupancyMaxActiveBlocksPerMultiprocessor answered on an H200 (driver 580,
// CUDA 13.0).
#include <gtest/gtest.h>

#include "runtime/occupancy.hpp"

namespace vgpu::runtime {
namespace {

const Device& h200() { return *find_device("h200"); }

struct Measured {
  unsigned registers;
  int threads;
  std::size_t shared;
  int blocks;
};

TEST(Occupancy, IsThatOfAnH200) {
  constexpr Measured kMeasured[] = {
      {4, 32, 0, 32},     {4, 32, 9000, 23},   {4, 32, 40000, 5},     {4, 100, 0, 16},
      {4, 100, 9000, 16}, {4, 100, 40000, 5},  {4, 256, 0, 8},        {4, 256, 40000, 5},
      {4, 512, 0, 4},     {4, 512, 40000, 4},  {4, 1024, 0, 2},       {8, 32, 40000, 5},
      {8, 256, 49000, 4}, {8, 1024, 49000, 2}, {8, 512, 80000, 2},    {216, 32, 0, 8},
      {216, 32, 9000, 8}, {216, 32, 40000, 5}, {216, 100, 0, 2},      {216, 128, 40000, 2},
      {216, 256, 0, 1},   {216, 512, 0, 0},    {216, 1024, 40000, 0}, {4, 2048, 0, 0},
      {8, 32, 272448, 0},
  };
  for (const Measured& m : kMeasured) {
    EXPECT_EQ(blocks_per_multiprocessor(h200(), m.registers, m.threads, m.shared), m.blocks)
        << m.registers << " registers, " << m.threads << " threads, " << m.shared << " bytes";
  }
}

TEST(Occupancy, LargestBlockIsLimitedByRegisters) {
  EXPECT_EQ(largest_block(h200(), 4), 1024);
  EXPECT_EQ(largest_block(h200(), 64), 1024);
  EXPECT_EQ(largest_block(h200(), 216), 256);  // measured
  EXPECT_EQ(largest_block(h200(), 0), 1024) << "not known: no limit";
}

TEST(Occupancy, DynamicSharedMemoryFillsWhatTheBlocksLeave) {
  for (const int blocks : {1, 2, 3, 7}) {
    const std::size_t bytes = dynamic_shared_for(h200(), blocks, 1000);
    EXPECT_EQ(blocks_per_multiprocessor(h200(), 16, 64, 1000 + bytes), blocks);
    if (blocks > 1) {
      EXPECT_LT(blocks_per_multiprocessor(h200(), 16, 64, 1000 + bytes + 128), blocks);
    }
  }
}

}  // namespace
}  // namespace vgpu::runtime
