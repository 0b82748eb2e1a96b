// SPDX-License-Identifier: Apache-2.0
// Accesses whose places the host chooses, one per lane.

extern "C" __global__ void reductions(unsigned* out, const int* at) {
  atomicAdd(&out[at[threadIdx.x]], 1);
}

extern "C" __global__ void old_values(unsigned* out, const int* at, unsigned* old) {
  old[threadIdx.x] = atomicAdd(&out[at[threadIdx.x]], 1);
}
