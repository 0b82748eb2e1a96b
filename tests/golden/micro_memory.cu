// SPDX-License-Identifier: Apache-2.0
// Small kernels: shared, local, global and generic memory, and atomics.
#include "micro.cuh"

#include <cuda_fp16.h>

namespace micro {

// Accesses of each width, at strides with and without bank conflicts.
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

// An array with dynamic indices is placed in local memory.
__global__ void local_array(int* x) {
  const int t = thread_number();
  int a[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) a[i] = x[i] + i;
  for (int i = 0; i < 5; ++i) a[(x[i] + t) & 15] += i;
  x[1024 + t] = a[t & 15];
}

template <class T>
__global__ void local_vectors(int* x) {
  const int t = thread_number();
  T a[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) a[i] = reinterpret_cast<const T*>(x)[i];
  for (int i = 0; i < 5; ++i) a[(x[i] + t) & 7] = a[(x[i + 1] + t / 2) & 7];
  reinterpret_cast<T*>(x)[512 + t] = a[t & 7];
}

// Generic addresses that point to local memory.
__global__ void generic_local(int* x) {
  const int t = thread_number();
  int a[8];
  for (int i = 0; i < 8; ++i) a[i] = x[t + i];
  int* const p = x[0] == 12345 ? x : a;
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += p[(x[i] + i + t % 3) & 7];
  p[x[1] & 7] = 3;
  x[1024 + t] = sum + a[x[2] & 7];
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

__global__ void guarded_loads(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (t + i * 64 < 300) sum += x[t + i * 64];
  }
  x[1024 + t] = sum;
}

__global__ void vector_loads(int* x) {
  const int t = thread_number();
  const int4 a = reinterpret_cast<const int4*>(x)[t * 2];
  const int2 b = reinterpret_cast<const int2*>(x)[t * 3 + 1];
  reinterpret_cast<int4*>(x)[1024 + t] = make_int4(a.x, b.x, a.z, b.y);
  reinterpret_cast<char*>(x)[32768 + t * 3] = static_cast<char>(a.w);
}

// Several lanes with one address, and several addresses within one 4-byte word.
template <class T>
__global__ void shared_lanes(int* x) {
  __shared__ T s[kThreads];
  const auto t = static_cast<int>(threadIdx.x);
  const int mine = 32 + t / 32 * 8;  // of the warp
  s[t / 4] = reinterpret_cast<const T*>(x)[t / 4];
  s[mine + t % 8] = reinterpret_cast<const T*>(x)[t % 8];
  __syncthreads();
  reinterpret_cast<T*>(x)[1024 + thread_number() / 2] = s[t / 8];
  reinterpret_cast<T*>(x)[2048 + thread_number() / 32 * 3 + t % 3] = s[mine + t % 3];
}

__device__ unsigned scrambled(unsigned value) {
  value = (value ^ value >> 16) * 0x7feb352dU;
  value = (value ^ value >> 15) * 0x846ca68bU;
  return value ^ value >> 16;
}

// Loads by whole warps and by parts of them, of which pairs of lanes share an address or none do,
// with and without bank conflicts. A step's pattern follows from a number.
template <class T>
__global__ void lane_pairs(int* x) {
  constexpr unsigned kPlaces = 64, kBanks = 128 / sizeof(T);
  __shared__ T s[kPlaces];
  const unsigned lane = threadIdx.x % 32, warp = thread_number() / 32;
  if (threadIdx.x < kPlaces) s[threadIdx.x] = reinterpret_cast<const T*>(x)[threadIdx.x];
  __syncthreads();
  int sum = 0;
  for (unsigned step = 0; step < 48; ++step) {
    const unsigned h = scrambled(step * 64 + warp);
    const unsigned shared = h % 4, first = lane & ~shared;
    // The number of the group of lanes with one address.
    const unsigned rank = shared == 0   ? lane
                          : shared == 1 ? lane / 2
                          : shared == 2 ? lane % 2 + lane / 4 * 2
                                        : lane / 4;
    const unsigned random = scrambled(h + first);
    const unsigned place =
        h / 4 % 4 == 0   ? random % kPlaces
        : h / 4 % 4 == 1 ? random % (kPlaces / kBanks) * kBanks
                         : (rank * 3 + h / 64) % kBanks + random / 64 % (kPlaces / kBanks) * kBanks;
    const unsigned of_pair = h / 16 % 4 == 1 ? lane / 2 : lane;
    const bool active = h / 16 % 4 == 0 || (h / 16 % 4 == 3 && lane >= h / 256 % 32) ||
                        (h / 16 % 4 != 3 && scrambled(h + 99 + of_pair) % 4 != 0);
    if (active) sum += s[place].x;
  }
  x[1024 + thread_number()] = sum;
}

template <class T>
__global__ void narrow(int* x) {
  __shared__ T s[kThreads * 3];
  const auto t = static_cast<int>(threadIdx.x);
  s[t * 3] = reinterpret_cast<const T*>(x)[t];
  s[t * 3 + 1] = reinterpret_cast<const T*>(x)[t * 5 + 1];
  __syncthreads();
  reinterpret_cast<T*>(x)[32000 / sizeof(T) + thread_number()] =
      static_cast<T>(s[(t ^ 1) * 3] + s[t / 2 * 3]);
}

// Reductions in which several lanes have one address.
template <int kShared>
__global__ void reductions(int* x) {
  const int t = thread_number();
  atomicMax(&x[1024 + t / kShared], t);
  atomicMin(&x[4096 + t % (32 / kShared)], t);
  x[8192 + t] = atomicOr(&x[2048 + t / kShared * 5], t);
}

__global__ void shared_atomics(int* x) {
  __shared__ int s[64];
  const auto t = static_cast<int>(threadIdx.x);
  if (t < 64) s[t] = t;
  __syncthreads();
  atomicAdd(&s[t % 4], t);
  atomicMax(&s[16 + t / 8], t);
  __syncthreads();
  x[1024 + thread_number()] = s[t % 64];
}

__global__ void generic_atomics(int* x) {
  __shared__ int s[kThreads];
  const int t = thread_number();
  s[threadIdx.x] = 0;
  __syncthreads();
  int* const p = (x[t & 31] & 1) != 0 ? &s[threadIdx.x] : &x[2048 + t];
  atomicAdd(p, 1);
  *p += 2;
  x[1024 + t] = s[threadIdx.x] + static_cast<int>(__isShared(p));
}

// Sums by compare-and-swap; each thread has its own address, so that no attempt is repeated.
__global__ void exchange_loops(int* x) {
  __shared__ float f[kThreads];
  __shared__ double d[kThreads];
  __shared__ unsigned long long u[kThreads];
  const auto t = static_cast<int>(threadIdx.x);
  f[t] = 1.0F;
  d[t] = 2.0;
  u[t] = 3;
  atomicAdd(&f[t], 1.0F);
  atomicAdd(&d[t], 1.0);
  atomicAdd(&u[t], 1ull);
  atomicAdd(reinterpret_cast<__half*>(x + 8192 + thread_number()), __float2half(1.0F));
  x[1024 + thread_number()] =
      static_cast<int>(f[t]) + static_cast<int>(d[t]) + static_cast<int>(u[t]);
}

std::span<const Launch> memory_launches() {
  static constexpr Launch kLaunches[] = {
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
      {"micro.local_64", [](int* x) { start(local_vectors<int2>, x); }},
      {"micro.local_128", [](int* x) { start(local_vectors<int4>, x); }},
      {"micro.generic_local", [](int* x) { start(generic_local, x); }},
      {"micro.atomics", [](int* x) { start(atomics, x); }},
      {"micro.guarded_loads", [](int* x) { start(guarded_loads, x); }},
      {"micro.vector_loads", [](int* x) { start(vector_loads, x); }},
      {"micro.lanes_32", [](int* x) { start(shared_lanes<int>, x); }},
      {"micro.lanes_64", [](int* x) { start(shared_lanes<int2>, x); }},
      {"micro.lanes_128", [](int* x) { start(shared_lanes<int4>, x); }},
      {"micro.lane_pairs_64", [](int* x) { start(lane_pairs<int2>, x); }},
      {"micro.lane_pairs_128", [](int* x) { start(lane_pairs<int4>, x); }},
      {"micro.narrow_8", [](int* x) { start(narrow<unsigned char>, x); }},
      {"micro.narrow_16", [](int* x) { start(narrow<short>, x); }},
      {"micro.reductions_1", [](int* x) { start(reductions<1>, x); }},
      {"micro.reductions_2", [](int* x) { start(reductions<2>, x); }},
      {"micro.reductions_8", [](int* x) { start(reductions<8>, x); }},
      {"micro.shared_atomics", [](int* x) { start(shared_atomics, x); }},
      {"micro.generic_atomics", [](int* x) { start(generic_atomics, x); }},
      {"micro.exchange_loops", [](int* x) { start(exchange_loops, x); }},
  };
  return kLaunches;
}

}  // namespace micro
