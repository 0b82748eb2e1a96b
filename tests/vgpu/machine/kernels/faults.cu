// SPDX-License-Identifier: Apache-2.0
// One kernel per kind of fault.
#include <cassert>
#include <cstdio>

extern "C" __global__ void out_of_bounds(float* data, int n) { data[threadIdx.x + n] = 1; }
extern "C" __global__ void read_at(const int* data, long long offset, int* out) {
  out[threadIdx.x] = *reinterpret_cast<const int*>(reinterpret_cast<const char*>(data) + offset);
}
extern "C" __global__ void shared_out_of_bounds(int* out, int at) {
  __shared__ int values[32];
  values[threadIdx.x] = 0;
  __syncthreads();
  values[at] = 1;
  out[threadIdx.x] = values[threadIdx.x];
}
extern "C" __global__ void misaligned(const char* data, float* out) {
  out[threadIdx.x] = *reinterpret_cast<const float*>(data + 4 * threadIdx.x + 2);
}
extern "C" __global__ void misaligned_vector(const float* data, float4* out) {
  out[threadIdx.x] = *reinterpret_cast<const float4*>(data + 1);
}
extern "C" __global__ void local_out_of_bounds(int at, int* out) {
  int values[64];  // too many for registers
  for (int k = 0; k < 64; ++k) values[k] = k * at;
  for (int k = 0; k < 64; ++k) values[(k * at >> 2) & 63] += k;
  out[threadIdx.x] = *(values + at);
}
extern "C" __global__ void divided_barriers(int* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = 2;
  } else {
    out[threadIdx.x] = 3;
    __syncthreads();
    out[threadIdx.x] = 4;
  }
}
extern "C" __global__ void other_barrier() {
  if (threadIdx.x < 32)
    asm volatile("bar.sync 1;");
  else
    asm volatile("bar.sync 2;");
}
extern "C" __global__ void too_few(int n) {
  if (threadIdx.x < n) asm volatile("bar.sync 3, 96;");
}
extern "C" __global__ void checks(const int* in) { assert(in[threadIdx.x] < 5 && "in range"); }
extern "C" __global__ void traps(int n) {
  if (threadIdx.x == n) __trap();
}
__device__ __noinline__ int forever(int n) { return n + forever(n * 3 + 1) * 2; }
extern "C" __global__ void endless(int* out) {
  out[threadIdx.x] = forever(static_cast<int>(threadIdx.x));
}
extern "C" __global__ void null_pointer(int* data) { *data = 1; }

// A missing barrier: the neighbour's value may not have been written yet.
extern "C" __global__ void race(int* out) {
  __shared__ int values[128];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = values[(threadIdx.x + 32) % 128];
}
extern "C" __global__ void race_of_writes(int* out) {
  __shared__ int value;
  value = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = value;
}
extern "C" __global__ void race_after_read(int* out) {
  __shared__ int values[128];
  values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = values[(threadIdx.x + 64) % 128];
  values[threadIdx.x] = 2;
}
extern "C" __global__ void no_race(int* out) {
  __shared__ int values[128];
  __shared__ unsigned char bytes[128];
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  __syncthreads();
  atomicAdd(&sum, 1);
  const int v = values[(threadIdx.x + 32) % 128] + bytes[127 - threadIdx.x];
  __syncthreads();
  values[127 - threadIdx.x] = v;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x] + sum;
}

extern "C" __global__ void prints() {
  if (threadIdx.x % 2 == 0) {
    printf("block %d thread %d: %5.2f|%-6s|%+d|%x|%c|%%|%llu|%hhd|%e|%*d\n", blockIdx.x,
           threadIdx.x, 1.5 * threadIdx.x, "ab", -3, 255, 'z', 1ull << 40, 300, 12345.678, 6, 42);
  }
}

// The first faulty block is reported, independently of the host's threads.
extern "C" __global__ void faulty_blocks(int* data, int n) {
  for (unsigned k = 0; k < 10 * (gridDim.x - blockIdx.x); ++k)
    data[blockIdx.x] += static_cast<int>(k);
  if (blockIdx.x >= 7) data[n + blockIdx.x] = 1;
}

extern "C" __global__ void refused(float* out, const float* in) {
  unsigned width;
  asm volatile("txq.channel_order.b32 %0, [%1];" : "=r"(width) : "l"(in));
  out[0] = static_cast<float>(width);
}
