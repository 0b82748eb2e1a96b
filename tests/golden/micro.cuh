// SPDX-License-Identifier: Apache-2.0
// What the small kernels for the counters that the rungs do not touch have in common: one feature
// each, a few warps, every value determined by the thread's number, and no memory touched but the
// 64 KB that is given. They are in no anonymous namespace: their names would depend on where the
// file lies.
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
