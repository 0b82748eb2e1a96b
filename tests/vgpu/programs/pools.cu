// SPDX-License-Identifier: Apache-2.0
// Stream-ordered allocation and memory pools.
#include <cstdint>

#include "require.hpp"

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

static std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = ~0ull;
  require(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

int main() {
  cudaStream_t stream;
  cudaMemPool_t pool, other;
  int *data, *more;
  require(cudaStreamCreate(&stream));
  require(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = ~0ull;
  require(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
          "the release threshold");
  require(attribute(pool, cudaMemPoolAttrReleaseThreshold) == threshold, "the release threshold");

  require(cudaMallocAsync(&data, 4096, stream));
  require(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 4096, "4096 bytes are used");
  fill<<<1, 32, 0, stream>>>(data, 7);
  int value = 0;
  require(cudaMemcpyAsync(&value, data + 31, 4, cudaMemcpyDeviceToHost, stream));
  require(cudaStreamSynchronize(stream));
  require(value == 7, "what the kernel wrote");
  require(cudaFreeAsync(data, stream));
  require(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0, "nothing is used");
  require(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 4096, "4096 bytes were");
  require(cudaFreeAsync(data, stream), cudaErrorInvalidValue, "freed twice");

  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  require(cudaMemPoolCreate(&other, &properties));
  require(cudaMallocFromPoolAsync(&more, 100, other, stream));
  require(attribute(other, cudaMemPoolAttrUsedMemCurrent) == 100, "100 bytes are used");
  require(cudaFree(more), "cudaFree takes it too");
  require(attribute(other, cudaMemPoolAttrUsedMemCurrent) == 0, "nothing is used");
  require(cudaDeviceSetMemPool(0, other));
  require(cudaMallocAsync(&more, 64, stream));
  require(attribute(other, cudaMemPoolAttrUsedMemCurrent) == 64, "64 bytes are used");
  require(cudaFreeAsync(more, nullptr));
  require(cudaMemPoolTrimTo(other, 0));
  require(cudaMemPoolDestroy(other));
  require(cudaMemPoolDestroy(pool), cudaErrorInvalidValue, "the default pool stays");
  require(cudaMallocFromPoolAsync(&more, 100, other, stream), cudaErrorInvalidValue,
          "a destroyed pool");
}
