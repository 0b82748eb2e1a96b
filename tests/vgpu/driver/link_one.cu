// SPDX-License-Identifier: Apache-2.0
// One of two units that are linked at run time.
#include "link.cuh"

static __device__ int table[2] = {1, 2};
static __device__ __noinline__ int own(int i) { return table[i]; }

extern "C" __global__ void first(int* out) {
  out[0] = own(1) + common(5);
  out[1] = of_second(7);
  shared_variable = 40;
}
