// SPDX-License-Identifier: Apache-2.0
// The other unit: it has functions and variables of the same names as the first, of its own.
#include "link.cuh"

static __device__ int table[2] = {10, 20};
static __device__ __noinline__ int own(int i) { return table[i]; }

__device__ int shared_variable = 4;
__device__ int of_second(int value) { return value * own(1); }

extern "C" __global__ void second(int* out) { out[2] = common(6) + own(0) + shared_variable; }
