// SPDX-License-Identifier: Apache-2.0
// Kernels that add floats atomically, so that their results depend on the order of the blocks.

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void add_and_store(float* sum, double* wide, unsigned* count, float* out,
                                         const float* in) {
  const int i = index();
  atomicAdd(sum, in[i]);
  atomicAdd(wide, in[i] / 3.0);
  atomicAdd(count, 1u);
  out[i] = 2 * in[i];
}

extern "C" __global__ void add_and_read(const float* read, float* sum, float* seen, int* steps,
                                        const float* in) {
  const int i = index();
  atomicAdd(sum, in[i]);
  ++steps[i];
  __syncthreads();
  if (threadIdx.x == 0) seen[blockIdx.x] = *read;
}

// Reads what only the next block writes.
extern "C" __global__ void add_and_look_ahead(const float* read, float* sum, float* seen,
                                              float* out) {
  const int i = index();
  atomicAdd(sum, 1.0F);
  out[i] = 1;
  if (blockIdx.x + 1 < gridDim.x) seen[i] = out[i + blockDim.x] + *read;
}
