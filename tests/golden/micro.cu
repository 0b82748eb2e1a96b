// SPDX-License-Identifier: Apache-2.0
// Small kernels for the counters that the rungs do not touch: one feature each, a few warps, every value determined by
// the thread's number. Each touches only the 64 KB it is given.
#include "micro.hpp"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

namespace micro {

// In no anonymous namespace: its kernels' names would depend on where the file lies.

constexpr int kThreads = 128, kBlocks = 3;

__device__ int thread_number() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// Lanes leave a loop one after the other.
__global__ void break_partly(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 40; ++i) {
    sum += x[i];
    if (i == t % 37) break;
    sum ^= i;
  }
  x[1024 + t] = sum;
}

__global__ void trip_counts(int* x) {
  const int t = thread_number();
  int sum = t;
#pragma unroll 1
  for (int i = 0; i < t % 23; ++i) sum = sum * 3 + x[i];
  x[1024 + t] = sum;
}

__global__ void nested_branches(int* x) {
  const int t = thread_number();
  int sum = 0;
  if (t % 2 == 0) {
    if (t % 4 == 0) {
      sum = x[t] * 3;
    } else {
      sum = x[t + 1] + x[t + 2];
    }
  } else if (t % 3 == 0) {
    sum = x[t + 3] - 1;
  }
  x[1024 + t] = sum;
}

__global__ void early_exit(int* x) {
  const int t = thread_number();
  if (t % 5 == 0) return;
  x[1024 + t] = x[t] + 1;
  if (t % 7 == 0) return;
  x[2048 + t] = x[t] + 2;
}

// Accesses of each width, at strides that conflict or not.
template <class T, int kStride>
__global__ void shared_stride(int* x) {
  __shared__ T s[kThreads * kStride];
  const auto t = static_cast<int>(threadIdx.x);
  s[t * kStride] = reinterpret_cast<const T*>(x)[t];
  __syncthreads();
  reinterpret_cast<T*>(x)[1024 + thread_number()] = s[(t ^ 1) * kStride];
}

template <class T>
__global__ void shared_broadcast(int* x) {
  __shared__ T s[kThreads];
  const auto t = static_cast<int>(threadIdx.x);
  s[t] = reinterpret_cast<const T*>(x)[t];
  __syncthreads();
  reinterpret_cast<T*>(x)[1024 + thread_number()] = s[t / 8];
}

// An array that is indexed by data stays in local memory.
__global__ void local_array(int* x) {
  const int t = thread_number();
  int a[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) a[i] = x[i] + i;
  for (int i = 0; i < 5; ++i) a[(x[i] + t) & 15] += i;
  x[1024 + t] = a[t & 15];
}

__global__ void atomics(int* x) {
  __shared__ int s[8];
  const int t = thread_number();
  if (threadIdx.x < 8) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[t % 8], t);
  atomicMax(&x[1024 + t % 4], t);
  x[2048 + t] = atomicAdd(&x[1032 + t], 1);
  __syncthreads();
  if (threadIdx.x < 8) x[4096 + threadIdx.x] = s[threadIdx.x];
}

__global__ void exchange(int* x) {
  const int t = thread_number();
  int v = x[t & 63];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  const unsigned even = __ballot_sync(0xffffffff, v % 2 == 0);
  x[1024 + t] = v + __popc(even) + __any_sync(0xffffffff, v == 3);
}

__global__ void doubles(int* x) {
  const int t = thread_number();
  auto* d = reinterpret_cast<double*>(x);
  const double a = __dmul_rn(d[t], 1.5), b = __dadd_rn(a, d[t + 1]);
  d[1024 + t] = __fma_rn(a, b, 2.0);
}

__global__ void halves(int* x) {
  const int t = thread_number();
  auto* h = reinterpret_cast<__half2*>(x);
  h[1024 + t] = __hfma2(h[t], h[t + 1], __hadd2(h[t + 2], h[t]));
}

__global__ void guarded_loads(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (t + i * 64 < 300) sum += x[t + i * 64];
  }
  x[1024 + t] = sum;
}

__global__ void async_copies(int* x) {
  __shared__ alignas(16) int s[kThreads * 8];
  const auto t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&s[t * 4], &x[t * 4], 16, t % 3 == 0 ? 16 : 0);  // some lanes only fill with zeros
  if (t < 50) __pipeline_memcpy_async(&s[512 + t * 2], &x[t * 2], 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[1024 + thread_number()] = s[t * 4] + s[512 + t % 50];
}

__global__ void tensor(int* x) {
  using namespace nvcuda::wmma;
  __shared__ alignas(32) __half s[2 * 256];
  const auto t = static_cast<int>(threadIdx.x);
  for (int i = t; i < 512; i += kThreads) s[i] = __int2half_rn(x[i] & 7);
  __syncthreads();
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0F);
  load_matrix_sync(a, s, 16);
  load_matrix_sync(b, s + 256, 16);
  mma_sync(c, a, b, c);
  store_matrix_sync(reinterpret_cast<float*>(x) + 1024 + (thread_number() / 32) * 256, c, 16, mem_row_major);
}

__global__ void named_barriers(int* x) {
  const int t = thread_number();
  const auto half = static_cast<int>(threadIdx.x / 64);
  __shared__ int s[kThreads];
  s[threadIdx.x] = x[t & 63];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  x[1024 + t] = s[threadIdx.x ^ 1];
}

__global__ void vector_loads(int* x) {
  const int t = thread_number();
  const int4 a = reinterpret_cast<const int4*>(x)[t * 2];
  const int2 b = reinterpret_cast<const int2*>(x)[t * 3 + 1];
  reinterpret_cast<int4*>(x)[1024 + t] = make_int4(a.x, b.x, a.z, b.y);
  reinterpret_cast<char*>(x)[32768 + t * 3] = static_cast<char>(a.w);
}

template <class Kernel>
void start(Kernel kernel, int* x) {
  kernel<<<kBlocks, kThreads>>>(x);
}

std::span<const Launch> launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.break_partly", [](int* x) { start(break_partly, x); }},
      {"micro.trip_counts", [](int* x) { start(trip_counts, x); }},
      {"micro.nested_branches", [](int* x) { start(nested_branches, x); }},
      {"micro.early_exit", [](int* x) { start(early_exit, x); }},
      {"micro.shared_32", [](int* x) { start(shared_stride<int, 1>, x); }},
      {"micro.shared_32_by_4", [](int* x) { start(shared_stride<int, 4>, x); }},
      {"micro.shared_32_by_33", [](int* x) { start(shared_stride<int, 33>, x); }},
      {"micro.shared_64", [](int* x) { start(shared_stride<int2, 1>, x); }},
      {"micro.shared_64_by_3", [](int* x) { start(shared_stride<int2, 3>, x); }},
      {"micro.shared_128", [](int* x) { start(shared_stride<int4, 1>, x); }},
      {"micro.shared_128_by_2", [](int* x) { start(shared_stride<int4, 2>, x); }},
      {"micro.broadcast_32", [](int* x) { start(shared_broadcast<int>, x); }},
      {"micro.broadcast_64", [](int* x) { start(shared_broadcast<int2>, x); }},
      {"micro.broadcast_128", [](int* x) { start(shared_broadcast<int4>, x); }},
      {"micro.local_array", [](int* x) { start(local_array, x); }},
      {"micro.atomics", [](int* x) { start(atomics, x); }},
      {"micro.exchange", [](int* x) { start(exchange, x); }},
      {"micro.doubles", [](int* x) { start(doubles, x); }},
      {"micro.halves", [](int* x) { start(halves, x); }},
      {"micro.guarded_loads", [](int* x) { start(guarded_loads, x); }},
      {"micro.async_copies", [](int* x) { start(async_copies, x); }},
      {"micro.tensor", [](int* x) { start(tensor, x); }},
      {"micro.named_barriers", [](int* x) { start(named_barriers, x); }},
      {"micro.vector_loads", [](int* x) { start(vector_loads, x); }},
  };
  return kLaunches;
}

}  // namespace micro
