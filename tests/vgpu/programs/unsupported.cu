// SPDX-License-Identifier: Apache-2.0
// Functions of the runtime that are not implemented report so and fail.
#include <cooperative_groups.h>

#include "require.hpp"

__global__ void nothing() {}

__global__ void waits_for_the_grid() { cooperative_groups::this_grid().sync(); }

int main() {
  skip_on_hardware();
  cudaArraySparseProperties properties;
  for (int i = 0; i < 2; ++i) {
    require(cudaArrayGetSparseProperties(&properties, nullptr), cudaErrorNotSupported,
            "cudaArrayGetSparseProperties");
  }
  require(cudaGetLastError(), cudaErrorNotSupported, "the last error");
  void* function = &function;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
  require(
      cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault, &status),
      "a driver function that does not exist");
  require(function == nullptr && status == cudaDriverEntryPointSymbolNotFound,
          "its pointer and status");

  require(cudaLaunchCooperativeKernel(nothing, dim3(4), dim3(32), nullptr),
          "a cooperative launch that needs nothing");
  require(cudaLaunchCooperativeKernel(waits_for_the_grid, dim3(4), dim3(32), nullptr),
          "a grid-wide barrier");
  require(cudaLaunchCooperativeKernel(waits_for_the_grid, dim3(100000), dim3(32), nullptr),
          cudaErrorCooperativeLaunchTooLarge, "more blocks than run at the same time");
}
