// SPDX-License-Identifier: Apache-2.0
// Programs with one fault each for the checks, and a correct counterpart of each ("... right").
#include <cstring>
#include <string>

#include "require.hpp"

__global__ void scale(float* out, const float* in, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 2 * in[i];
}

__global__ void sum_tile(float* out, bool fill) {
  __shared__ float tile[32];
  if (fill || threadIdx.x != 31) tile[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += tile[i];
    *out = sum;
  }
}

// The whole tile, with its padding, is written to scratch memory.
__global__ void spill_tile(float* scratch, int written) {
  __shared__ float tile[32];
  if (static_cast<int>(threadIdx.x) < written) tile[threadIdx.x] = 1;
  __syncthreads();
  scratch[threadIdx.x] = 2 * tile[31 - threadIdx.x];
}

__global__ void total(int* sum, bool atomically) {
  if (threadIdx.x != 0) return;
  if (atomically)
    atomicAdd(sum, 1);
  else
    *sum = *sum + 1;
}

// Lanes of a warp wait at different barriers; hardware from Volta on does not stop.
__global__ void divided(int* out, bool together) {
  if (together || threadIdx.x < 16) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool right = argc > 2 && std::strcmp(argv[2], "right") == 0;
  float *a, *b, host[64] = {};
  require(cudaMalloc(&a, sizeof host));
  require(cudaMalloc(&b, sizeof host));
  if (what == "copied") {  // the last element never arrives
    require(cudaMemcpy(a, host, (right ? 64 : 63) * sizeof(float), cudaMemcpyHostToDevice));
    scale<<<2, 32>>>(b, a, 64);
  } else if (what == "rows") {  // rows of 15 of 16 floats
    require(cudaMemcpy2D(a, 64, host, 64, right ? 64 : 60, 4, cudaMemcpyHostToDevice));
    scale<<<2, 32>>>(b, a, 64);
  } else if (what == "moved") {  // a copy of uninitialised memory
    require(cudaMemset(a, 0, right ? sizeof host : 4));
    require(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice));
    scale<<<2, 32>>>(a, b, 64);
  } else if (what == "back") {  // copying it to the host is not a fault and gives no report
    require(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
  } else if (what == "tile") {
    sum_tile<<<1, 32>>>(b, right);
    require(cudaDeviceSynchronize());  // it has not been read yet
    (void)cudaMemcpy(host, b, 4, cudaMemcpyDeviceToHost);
  } else if (what == "scratch") {  // the second kernel reads one element beyond the end
    spill_tile<<<1, 32>>>(a, 30);
    scale<<<1, 32>>>(b, a + (right ? 2 : 1), 30);
    (void)cudaMemset(a, 0, sizeof host);  // none of the remaining bytes is marked
    (void)cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
  } else if (what == "total") {
    require(cudaMemset(a, 0, 4));
    total<<<8, 32>>>(reinterpret_cast<int*>(a), right);
  } else if (what == "divided") {
    divided<<<1, 32>>>(reinterpret_cast<int*>(a), right);
  } else if (what == "leak") {
    require(cudaFree(a));
    if (right) require(cudaFree(b));
    return 0;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (right) {
    require(error, "cudaDeviceSynchronize");
    require(cudaFree(a));
    require(cudaFree(b));
  }
  return 0;
}
