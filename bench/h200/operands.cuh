// SPDX-License-Identifier: Apache-2.0
// What the programs here share: operands drawn on the device, and errors that end the program.
#pragma once
#include <ladder/status.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ladder::bench {

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
inline void require(const Status& status, const char* what) {
  if (status) return;
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  std::exit(1);
}

// Uniform in [-1, 1), a hash of the place and the seed.
static __device__ float uniform(std::int64_t i, std::uint32_t seed) {
  std::uint32_t x = (static_cast<std::uint32_t>(i) + seed) * 2654435761U;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return static_cast<float>(static_cast<int>(x ^ (x >> 16))) * 0x1p-31F;
}
template <class T>
static __global__ void fill(T* g, std::int64_t count, std::uint32_t seed) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    g[i] = static_cast<T>(uniform(i, seed));
  }
}

}  // namespace ladder::bench
