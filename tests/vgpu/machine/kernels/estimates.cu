// SPDX-License-Identifier: Apache-2.0
// Accesses whose places the host chooses, one per lane.

extern "C" __global__ void reductions(unsigned* out, const int* at) {
  atomicAdd(&out[at[threadIdx.x]], 1);
}

extern "C" __global__ void old_values(unsigned* out, const int* at, unsigned* old) {
  old[threadIdx.x] = atomicAdd(&out[at[threadIdx.x]], 1);
}

// The first `lanes` lanes load from shared memory.
template <class T>
static __device__ void loads(T* out, const int* at, int lanes) {
  __shared__ T data[64];
  data[threadIdx.x] = out[threadIdx.x];
  data[threadIdx.x + 32] = out[threadIdx.x + 32];
  __syncthreads();
  if (threadIdx.x < static_cast<unsigned>(lanes)) out[threadIdx.x] = data[at[threadIdx.x]];
}
extern "C" __global__ void loads4(float* out, const int* at, int lanes) { loads(out, at, lanes); }
extern "C" __global__ void loads8(float2* out, const int* at, int lanes) { loads(out, at, lanes); }
extern "C" __global__ void loads16(float4* out, const int* at, int lanes) { loads(out, at, lanes); }
