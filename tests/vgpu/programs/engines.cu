// SPDX-License-Identifier: Apache-2.0
// Small kernels for each group of instructions, with a hash of each result: both engines must print
// the same.
#include <cstdio>
#include <cstring>
#include <vector>

#include "device_array.hpp"

namespace {

__global__ void breaks(int n, int* out) {  // a loop that lanes leave one by one, and a nested one
  const int i = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += k * i;
    if (sum % 37 == 36) break;
    for (int j = 0; j < i % 5; ++j) {
      sum ^= j + k;
      if ((sum & 63) == 7) break;
    }
    if (sum > 5000 + 97 * i) break;
  }
  out[i] = sum;
}

// I2I: numbers at both sides of the limits of the narrow types, as a hash of the four results.
__global__ void clamps(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  const int x = (i % 2 == 0 ? 1 : -1) * ((1 << i / 4) + i % 4 - 2);
  int byte, unsigned_byte;
  short half;
  unsigned short unsigned_half;
  asm("cvt.sat.s8.s32 %0, %1;" : "=r"(byte) : "r"(x));
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(unsigned_byte) : "r"(x));
  asm("cvt.sat.s16.s32 %0, %1;" : "=h"(half) : "r"(x));
  asm("cvt.sat.u16.s32 %0, %1;" : "=h"(unsigned_half) : "r"(x));
  out[i] = byte + 31 * unsigned_byte + 257 * half + 65599 * unsigned_half;
}

__global__ void divergent_loop(int n, const float* a, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;
  for (int k = 0; k < i % 97 && k < n; ++k) sum = k % 2 == 0 ? sum + a[k] : sum * a[k + 1];
  out[i] = sum;
}

__global__ void collatz(int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  unsigned v = static_cast<unsigned>(i) + 1;
  int steps = 0;
  while (v != 1) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++steps;
  }
  out[i] = steps;
}

__global__ void quits(int n, const int* in, int* out) {  // returns inside of loops
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < n; ++k) {
    if (in[(i + k) % 64] == 63) {
      out[i] = k;
      return;
    }
    if (k == i) return;
  }
  out[i] = -1;
}

__global__ void jumps(const int* in, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int v = in[i % 64];
  switch (v % 9) {
    case 0: v = v * 3; break;
    case 1: v = v / 3 + out[i]; break;
    case 2: v ^= 0x55; break;
    case 3: v = __popc(v); break;
    case 4: v = v * v - 1; break;
    case 5: out[i] = v; return;
    case 6: v = -v; break;
    default: v += 100;
  }
  out[i] = v;
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void calls(int* out) { out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x) % 9); }

__global__ void quotients(const float* a, const float* b, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = a[i] / b[i];
}
// Numbers, infinities and NaN.
__global__ void comparisons(const float* a, const float* b, float limit, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float x = a[i], y = b[i];
  float sum = x < y ? 1.0F : 0.0F;
  sum = sum * 2 + (x > y ? 1.0F : 0.0F);
  sum = sum * 2 + (x == -y ? 1.0F : 0.0F);
  sum = sum * 2 + (fabsf(x) != y ? 1.0F : 0.0F);
  sum = sum * 2 + (!(x <= limit) ? 1.0F : 0.0F);
  sum = sum * 2 + (x >= 3.0F && y < limit ? 1.0F : 0.0F);
  sum = sum * 2 + (x < -fabsf(y) || isnan(y) ? 1.0F : 0.0F);
  out[i] = sum;
}
// Bits of every byte of a word become predicates.
__global__ void masks(const int* in, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  const auto mask = static_cast<unsigned>(in[i]) * 0x9e3779b9U;
  int greatest = -1;
#pragma unroll
  for (int k = 0; k < 31; ++k)
    greatest = max(greatest, (mask >> k & 1) != 0 ? in[(i + k) % 64] : -k);
  out[i] = greatest;
}
__global__ void roots(const double* a, double* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = sqrt(a[i]) / (a[i] + 1.5);
}

__global__ void exchanges(const int* in, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  int v = in[i % 64];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  if (i % 2 == 0) v += __reduce_add_sync(0x55555555, v);
  v += static_cast<int>(__ballot_sync(0xffffffff, v & 1)) +
       static_cast<int>(__match_any_sync(0xffffffff, v & 3));
  out[i] = v;
}

__global__ void atomics(int* counters, float* sums) {
  __shared__ int bins[32];
  const int i = static_cast<int>(threadIdx.x);
  if (i < 32) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[i * 7 % 32], i);
  atomicMax(&bins[i % 3], i);
  __syncthreads();
  atomicAdd(&counters[i % 11], bins[i % 32]);
  if (atomicAdd(&counters[11 + i % 2], 1) == 5) atomicAdd(&sums[i % 4], 1.5F);
}

template <class T>
__global__ void shared_patterns(const T* in, T* out, int stride, int offset) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* const tile = reinterpret_cast<T*>(raw);
  const int i = static_cast<int>(threadIdx.x);
  tile[i] = in[i];
  tile[i + 32] = in[i];
  __syncthreads();
  const T first = tile[i * stride % 64], second = tile[(i / 2 + offset) % 64];
  const T third = tile[(i & ~2) % 64], fourth = tile[(i ^ 5) % 64];
  out[4 * i] = first;
  out[4 * i + 1] = second;
  if (i % 3 != 0) out[4 * i + 2] = third;
  out[4 * i + 3] = fourth;
  __syncthreads();
  tile[i * stride % 64] = first;
  if (i % 2 == 0) tile[(i + offset) % 64] = second;
}

__global__ void spills(const int* in, int* out, int n) {
  int local[40];
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 40; ++k) local[k] = in[(i + k) % 64];
  for (int k = 0; k < n; ++k) local[(k * 7 + i) % 40] += local[(k * 3 + 1) % 40];
  int sum = 0;
  for (int k = 0; k < 40; ++k) sum += local[k];
  out[i] = sum;
}

template <class T>
void say(const char* name, const T* data, std::size_t count) {
  unsigned long long hash = 0xcbf29ce484222325;  // FNV-1a
  for (const unsigned char byte :
       download(reinterpret_cast<const unsigned char*>(data), count * sizeof(T)))
    hash = (hash ^ byte) * 0x100000001b3;
  std::printf("%s %016llx\n", name, hash);
}

template <class T>
T* array(int count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    std::memset(static_cast<void*>(&host[static_cast<std::size_t>(i)]), (i * 37 + 5) & 0x3f,
                sizeof(T));
  }
  return upload(host);
}

template <class T>
void patterns(const char* name) {
  T* const in = array<T>(64);
  T* const out = array<T>(256);
  for (const int stride : {1, 2, 3, 8}) {
    shared_patterns<T><<<1, 32, 64 * sizeof(T)>>>(in, out, stride, stride * 5);
    say(name, out, 256);
  }
}

}  // namespace

int main() {
  std::vector<float> numerators(4096), denominators(4096);
  for (int i = 0; i < 4096; ++i) {
    const auto n = static_cast<std::size_t>(i);
    numerators[n] = i % 50 == 0 ? 1e-39F * static_cast<float>(i)
                                : static_cast<float>(i % 100) * (i % 7 == 0 ? 1e36F : 1.25F);
    denominators[n] = i % 33 == 0   ? 3e38F
                      : i % 61 == 0 ? 0.0F
                      : i % 29 == 0 ? 1e-40F
                                    : static_cast<float>(i % 17 + 1) * (i % 5 == 0 ? 1e-30F : 3.5F);
  }
  std::vector<int> shuffled(64);
  std::vector<double> reals(64);
  for (int i = 0; i < 64; ++i) {
    shuffled[static_cast<std::size_t>(i)] = i * 29 % 64;
    reals[static_cast<std::size_t>(i)] = i * 1.37 + 0.1;
  }
  int* const numbers = upload(shuffled);
  int* const out = array<int>(4096);
  float* const floats = upload(numerators);
  float* const others = upload(denominators);
  float* const results = array<float>(4096);
  double* const doubles = upload(reals);

  breaks<<<1, 64>>>(50, out);
  say("breaks", out, 64);
  clamps<<<1, 96>>>(out);
  say("clamps", out, 96);
  divergent_loop<<<8, 128>>>(80, floats, results);
  say("divergent_loop", results, 1024);
  collatz<<<4, 64>>>(out);
  say("collatz", out, 256);
  quits<<<1, 64>>>(50, numbers, out);
  say("quits", out, 64);
  jumps<<<1, 64>>>(numbers, out);
  say("jumps", out, 64);
  calls<<<1, 64>>>(out);
  say("calls", out, 64);
  quotients<<<32, 128>>>(floats, others, results);
  say("quotients", results, 4096);
  comparisons<<<32, 128>>>(results, floats, 2.5F, others);
  say("comparisons", others, 4096);
  masks<<<1, 64>>>(numbers, out);
  say("masks", out, 64);
  roots<<<1, 64>>>(doubles, doubles);
  say("roots", doubles, 64);
  exchanges<<<1, 64>>>(numbers, out);
  say("exchanges", out, 64);
  atomics<<<2, 64>>>(out, floats);
  say("atomics", out, 64);
  say("atomics", floats, 64);
  spills<<<1, 64>>>(numbers, out, 100);
  say("spills", out, 64);
  patterns<unsigned char>("bytes");
  patterns<short>("shorts");
  patterns<float>("floats");
  patterns<double>("doubles");
  patterns<float4>("vectors");
  require(cudaDeviceSynchronize());
}
