// SPDX-License-Identifier: Apache-2.0
// Every way to allocate memory for kernels, attributes of pointers, and bounds of copies.
#include <cstring>
#include <vector>

#include "require.hpp"

__global__ void increment(int* data) { data[threadIdx.x] += 1; }

static void run(int* data, const char* what) {
  for (int i = 0; i < 32; ++i) data[i] = i;
  increment<<<1, 32>>>(data);
  require(cudaDeviceSynchronize(), what);
  for (int i = 0; i < 32; ++i) require(data[i] == i + 1, what);
}

static cudaMemoryType type_of(const void* pointer) {
  cudaPointerAttributes attributes;
  require(cudaPointerGetAttributes(&attributes, pointer));
  return attributes.type;
}

int main() {
  int *pinned, *mapped, *managed, *device;
  require(cudaMallocHost(&pinned, 128));
  require(cudaHostAlloc(&mapped, 128, cudaHostAllocMapped));
  require(cudaMallocManaged(&managed, 128));
  require(cudaMalloc(&device, 128));
  std::vector<int> ordinary(32);
  for (int i = 0; i < 32; ++i) require(managed[i] == 0, "managed memory begins as zero");
  run(pinned, "pinned memory");
  run(managed, "managed memory");
  int* seen;
  require(cudaHostGetDevicePointer(&seen, mapped, 0));
  run(seen, "mapped memory");
  require(cudaHostRegister(ordinary.data(), 128, cudaHostRegisterDefault));
  run(ordinary.data(), "registered memory");
  require(type_of(ordinary.data()) == cudaMemoryTypeHost, "registered memory's type");
  require(cudaHostUnregister(ordinary.data()));
  require(type_of(ordinary.data()) == cudaMemoryTypeUnregistered, "ordinary memory's type");
  require(type_of(pinned) == cudaMemoryTypeHost, "pinned memory's type");
  require(type_of(managed + 3) == cudaMemoryTypeManaged, "managed memory's type");
  require(type_of(device + 31) == cudaMemoryTypeDevice, "device memory's type");

  // A pitched plane, copied in both directions with different pitches.
  constexpr int kWidth = 20, kRows = 5;
  char *plane, host[kRows][32], back[kRows][kWidth];
  std::size_t pitch = 0;
  require(cudaMallocPitch(&plane, &pitch, kWidth, kRows));
  require(pitch >= kWidth && pitch % 512 == 0, "the pitch");
  for (int i = 0; i < kRows; ++i) std::memset(host[i], 'a' + i, sizeof host[i]);
  require(cudaMemcpy2D(plane, pitch, host, 32, kWidth, kRows, cudaMemcpyHostToDevice));
  require(cudaMemset2D(plane + 5, pitch, '!', 2, kRows));
  require(cudaMemcpy2D(back, kWidth, plane, pitch, kWidth, kRows, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kWidth; ++j)
      require(back[i][j] == (j == 5 || j == 6 ? '!' : 'a' + i), "the plane");
  }
  require(cudaMemcpy2D(plane, pitch, host, 32, pitch + 1, kRows, cudaMemcpyHostToDevice),
          cudaErrorInvalidPitchValue, "a width above the pitch");
  require(cudaMemcpy2D(plane, pitch, host, 32, kWidth, kRows + 1, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue, "a row too many");

  std::size_t free_before = 0, free_after = 0, total = 0;
  require(cudaMemGetInfo(&free_before, &total));
  int* large;
  require(cudaMalloc(&large, std::size_t{1} << 30));
  require(cudaMemGetInfo(&free_after, &total));
  require(free_before - free_after == std::size_t{1} << 30, "memory taken");
  require(cudaMalloc(&seen, total), cudaErrorMemoryAllocation, "more than there is");
  require(cudaFree(large));
  require(cudaFree(large), cudaErrorInvalidValue, "freed twice");
  require(cudaFree(pinned), cudaErrorInvalidValue, "pinned memory is not cudaFree's");
  require(cudaFreeHost(pinned));
  require(cudaFreeHost(mapped));
  require(cudaFree(managed));
}
