// SPDX-License-Identifier: Apache-2.0
// Occupancy, compared with cudaOccupancyMaxActiveBlocksPerMultiprocessor on an H200 (driver 580,
// CUDA 13.0), and on every device with the toolkit's calculator (cuda_occupancy.h).
#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "runtime/occupancy.hpp"

#include <cuda_occupancy.h>

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

cudaOccDeviceProp toolkit_properties(const Device& device) {
  cudaOccDeviceProp p;
  p.computeMajor = device.major;
  p.computeMinor = device.minor;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiprocessor = device.threads_per_multiprocessor;
  p.regsPerBlock = device.registers_per_block;
  p.regsPerMultiprocessor = device.registers_per_multiprocessor;
  p.warpSize = 32;
  p.sharedMemPerBlock = device.shared_per_block;
  p.sharedMemPerMultiprocessor = device.shared_per_multiprocessor;
  p.numSms = device.multiprocessors;
  p.sharedMemPerBlockOptin = device.shared_per_block_optin;
  p.reservedSharedMemPerBlock = device.reserved_shared_per_block;
  return p;
}

int toolkit_limit(int limit) { return limit == INT_MAX ? Occupancy::kNoLimit : limit; }

TEST(Occupancy, IsThatOfTheToolkitsCalculatorOnEveryDevice) {
  std::mt19937 random(1);
  const auto any = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  int fitting = 0, limiters[5] = {};
  for (const Device& device : devices()) {
    const cudaOccDeviceProp properties = toolkit_properties(device);
    for (int i = 0; i < 2000; ++i) {
      BlockResources block;
      block.registers = static_cast<std::uint32_t>(any(1, 255));
      block.threads = any(1, 1024);
      block.shared_bytes = static_cast<std::size_t>(
          i % 3 == 0 ? 0 : any(0, static_cast<int>(device.shared_per_block_optin)));
      block.barriers = static_cast<std::uint32_t>(any(0, 16));
      cudaOccFuncAttributes attributes;
      attributes.maxThreadsPerBlock = 1024;
      attributes.numRegs = static_cast<int>(block.registers);
      attributes.sharedSizeBytes = 0;
      attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
      attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
      attributes.maxDynamicSharedSizeBytes = device.shared_per_block_optin;
      attributes.numBlockBarriers = static_cast<int>(block.barriers);
      attributes.virtualResourceCount = 0;
      const cudaOccDeviceState state;
      cudaOccResult expected;
      ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&expected, &properties, &attributes, &state,
                                                        block.threads, block.shared_bytes),
                CUDA_OCC_SUCCESS);
      const Occupancy o = occupancy(device, block);
      const auto what = ::testing::Message()
                        << device.id << ": " << block.registers << " registers, " << block.threads
                        << " threads, " << block.shared_bytes << " bytes, " << block.barriers
                        << " barriers";
      EXPECT_EQ(o.by_blocks, expected.blockLimitBlocks) << what;
      EXPECT_EQ(o.by_registers, toolkit_limit(expected.blockLimitRegs)) << what;
      EXPECT_EQ(o.by_shared, toolkit_limit(expected.blockLimitSharedMem)) << what;
      EXPECT_EQ(o.by_warps, expected.blockLimitWarps) << what;
      EXPECT_EQ(o.by_barriers, toolkit_limit(expected.blockLimitBarriers)) << what;
      EXPECT_EQ(o.blocks, expected.activeBlocksPerMultiprocessor) << what;
      fitting += o.blocks > 0;
      ++limiters[static_cast<int>(o.limiter)];
    }
  }
  EXPECT_GT(fitting, 1000) << "most of the questions must have an answer";
  for (const int times : limiters)
    EXPECT_GT(times, 0) << "every resource must have been the one that limits";
}

}  // namespace
}  // namespace vgpu::runtime
