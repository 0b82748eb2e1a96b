// SPDX-License-Identifier: Apache-2.0
// Memory that kernels share from launch to launch: flags are zero whatever is done to scratch memory.
#include "device/workspace.cuh"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ladder {
namespace {

constexpr cudaStream_t kStream = nullptr;

void fill_scratch(std::size_t bytes) {
  cudaError_t error = cudaSuccess;
  void* const at = Workspace::scratch(kStream, bytes, error);
  ASSERT_NE(at, nullptr) << cudaGetErrorString(error);
  ASSERT_EQ(cudaMemset(at, 0xFF, bytes), cudaSuccess);
}

void expect_zero_flags(std::size_t count) {
  cudaError_t error = cudaSuccess;
  const unsigned* const gFlags = Workspace::flags(kStream, count, error);
  ASSERT_NE(gFlags, nullptr) << cudaGetErrorString(error);
  std::vector<unsigned> flags(count, 1);
  ASSERT_EQ(cudaMemcpy(flags.data(), gFlags, count * sizeof(unsigned), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_TRUE(std::all_of(flags.begin(), flags.end(), [](unsigned flag) { return flag == 0; })) << count;
}

TEST(Workspace, FlagsStayZeroBesideScratchOfAnySize) {
  for (const std::size_t count : {64, 264, 1056}) {
    fill_scratch(1 << 20);
    expect_zero_flags(count);
    fill_scratch(2 << 20);
    expect_zero_flags(count);
    expect_zero_flags(count / 2);
  }
}

TEST(Workspace, IsTheSameAsLongAsItSuffices) {
  cudaError_t error = cudaSuccess;
  void* const large = Workspace::scratch(kStream, 8 << 20, error);
  EXPECT_EQ(Workspace::scratch(kStream, 1 << 10, error), large);
  EXPECT_NE(Workspace::flags(kStream, 16, error), nullptr);
  EXPECT_EQ(Workspace::scratch(kStream, 8 << 20, error), large);
}

}  // namespace
}  // namespace ladder
