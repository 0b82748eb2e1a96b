// SPDX-License-Identifier: Apache-2.0
// Shared by the small kernels for counters that the rungs do not exercise: one feature per kernel,
// a few warps, every value determined by the thread's number, and only the given 64 KB of memory
// accessed. They are not in an anonymous namespace, because their names would then depend on the
// file's path.
#pragma once
#include "micro.hpp"

namespace micro {

inline constexpr int kThreads = 128, kBlocks = 3;

__device__ inline int thread_number() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

template <class Kernel>
void start(Kernel kernel, int* x) {
  kernel<<<kBlocks, kThreads>>>(x);
}

}  // namespace micro
