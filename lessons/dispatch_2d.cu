// SPDX-License-Identifier: Apache-2.0
// Lesson: a two-dimensional launch. Every thread records its (row, column); a grid of (2,3) blocks
// of (2,2) threads fills a table of 6 rows and 4 columns. x counts columns, y rows. Without a GPU:
// vgpu build/bin/dispatch_2d
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace {

struct Place {
  int row, col;
};

__global__ void record(Place* places, int width) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  places[row * width + col] = {row, col};
}

bool ok(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return true;
  std::fprintf(stderr, "dispatch_2d: %s: %s\n", what, cudaGetErrorString(error));
  return false;
}

}  // namespace

int main() {
  constexpr dim3 kGrid(2, 3), kBlock(2, 2);
  constexpr int kWidth = kGrid.x * kBlock.x, kHeight = kGrid.y * kBlock.y;
  std::vector<Place> places(kWidth * kHeight, Place{-1, -1});

  Place* gPlaces = nullptr;
  const size_t bytes = places.size() * sizeof(Place);
  if (!ok(cudaMalloc(&gPlaces, bytes), "cudaMalloc")) return 1;
  record<<<kGrid, kBlock>>>(gPlaces, kWidth);
  if (!ok(cudaGetLastError(), "launch") ||
      !ok(cudaMemcpy(places.data(), gPlaces, bytes, cudaMemcpyDeviceToHost), "copy back")) {
    return 1;
  }
  cudaFree(gPlaces);

  for (int row = 0; row < kHeight; ++row) {
    for (int col = 0; col < kWidth; ++col) {
      const Place& place = places[row * kWidth + col];
      std::printf("%s(%d,%d)", col == 0 ? "" : " ", place.row, place.col);
    }
    std::printf("\n");
  }
  return 0;
}
