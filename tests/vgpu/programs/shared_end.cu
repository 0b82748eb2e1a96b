// SPDX-License-Identifier: Apache-2.0
// A 12-byte value at the end of shared memory, which ptxas loads by an instruction of 16 bytes;
// and, with an argument, a load of the word behind it.
#include "require.hpp"

constexpr int kHead = 32;  // the loaded value is aligned to 16 bytes

__global__ void sum_last(const float3* in, float* out, int index) {
  __shared__ float head[kHead];
  __shared__ alignas(16) float3 last;
  head[threadIdx.x] = in[threadIdx.x].x;
  if (threadIdx.x == 0) last = in[kHead];
  __syncthreads();
  const float3 all = last;
  out[threadIdx.x] = head[index] + all.x + all.y + all.z;
}

int main(int argc, char**) {
  constexpr int kWords = kHead + 3;
  float3* in;
  float* out;
  require(cudaMallocManaged(&in, (kHead + 1) * sizeof *in));
  require(cudaMallocManaged(&out, kHead * sizeof *out));
  for (int i = 0; i <= kHead; ++i) in[i] = make_float3(static_cast<float>(i), 2, 3);
  const bool beyond = argc == 2;
  sum_last<<<1, kHead>>>(in, out, beyond ? kWords : kHead - 1);
  require(cudaDeviceSynchronize() == (beyond ? cudaErrorIllegalAddress : cudaSuccess),
          "the kernel");
  require(beyond || out[0] == 31 + 32 + 2 + 3, "the sum");
  if (beyond) return 0;
  require(cudaFree(in));
  require(cudaFree(out));
}
