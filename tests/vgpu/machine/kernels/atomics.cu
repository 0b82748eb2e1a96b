// SPDX-License-Identifier: Apache-2.0
// Atomics, and blocks that wait for each other.
#include <cuda_fp16.h>

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) local[k] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    atomicAdd(&local[in[i]], 1);
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&bins[k], local[k]);
}

extern "C" __global__ void every_operation(int* s, unsigned* u, unsigned long long* w, float* f,
                                           double* d) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&s[0], i);
  atomicSub(&s[1], i);
  atomicMin(&s[2], i - 50);
  atomicMax(&s[3], i - 50);
  atomicAnd(&u[0], ~(1u << (i % 8)));
  atomicOr(&u[1], 1u << (i % 20));
  atomicXor(&u[2], static_cast<unsigned>(i));
  atomicInc(&u[3], 9);
  atomicDec(&u[4], 9);
  atomicMin(&u[5], static_cast<unsigned>(i + 3));
  atomicMax(&u[6], static_cast<unsigned>(i));
  atomicAdd(&w[0], 0x100000000ull + static_cast<unsigned long long>(i));
  atomicMax(&w[1], static_cast<unsigned long long>(i) << 40);
  atomicAdd(f, 0.25F);
  atomicAdd(d, 0.125);
}

extern "C" __global__ void old_values(unsigned* next, unsigned* order) {
  const unsigned mine = atomicAdd(next, 1);
  order[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

extern "C" __global__ void compare_and_swap(float* sum, const float* in) {
  // Addition by compare-and-swap, as before there was an instruction for it.
  unsigned* const word = reinterpret_cast<unsigned*>(sum);
  unsigned old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(
        word, assumed,
        __float_as_uint(__uint_as_float(assumed) + in[blockIdx.x * blockDim.x + threadIdx.x]));
  } while (assumed != old);
}

extern "C" __global__ void float_sum(float* sum, const float* in) {
  atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void shared_float(float* out, const float* in) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void shared_floats(float* out, const float* in, int words) {
  __shared__ float sums[64];
  sums[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sums[static_cast<int>(threadIdx.x) % words], in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x];
}

extern "C" __global__ void compacted(unsigned* next, int* out, const int* in) {
  const int value = in[threadIdx.x];
  out[atomicAdd(next, 1)] = value;
}

extern "C" __global__ void half_sum(__half2* sum, __half* one) {
  atomicAdd(sum, __halves2half2(__float2half(0.5F), __float2half(1.0F)));
  atomicAdd(one, __float2half(0.25F));
}

extern "C" __global__ void last_block(const int* in, int* partial, unsigned* arrived, int* total) {
  __shared__ bool last;
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
    *total = all;
  }
}

// All blocks wait for all others.
extern "C" __global__ void grid_barrier(volatile unsigned* arrived, int* data, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = static_cast<int>(i) * 3;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(const_cast<unsigned*>(arrived), 1);
    while (*arrived < gridDim.x) {
    }
  }
  __syncthreads();
  out[i] = data[(i + blockDim.x) % (gridDim.x * blockDim.x)];
}

// A block waits for the next one.
extern "C" __global__ void chain(volatile int* ready, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x + 1 < gridDim.x) {
    while (ready[blockIdx.x + 1] == 0) {
    }
    out[blockIdx.x] = out[blockIdx.x + 1] + 1;
  } else {
    out[blockIdx.x] = 1;
  }
  __threadfence();
  ready[blockIdx.x] = 1;
}

extern "C" __global__ void waits_forever(volatile int* flag) {
  while (*flag == 0) {
  }
}

extern "C" __global__ void waits_in_block(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    while (flag == 0) {
    }
    out[threadIdx.x] = flag;
  } else if (threadIdx.x == 32) {
    flag = 7;
  }
}
