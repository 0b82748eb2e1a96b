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

__global__ void conversions(int* x) {
  const int t = thread_number();
  const auto f = static_cast<float>(x[t]) * 0.75F;
  const double d = static_cast<double>(f) + static_cast<double>(x[t + 1]);
  const __half h = __float2half(f);
  int sum = static_cast<int>(f) + __float2int_rd(f) + __double2int_rz(d) + __half2int_rn(h);
  sum += static_cast<int>(static_cast<float>(d)) + static_cast<int>(rintf(f) + floorf(f * 0.5F));
  sum += static_cast<int>(__half2float(h) + static_cast<float>(static_cast<short>(x[t + 2])));
  sum += static_cast<int>(static_cast<long long>(f * 3.0F) >> 1);
  x[1024 + t] = sum;
  x[2048 + t] = static_cast<int>(static_cast<float>(static_cast<unsigned char>(x[t + 3] >> 1)));
}

__global__ void bit_operations(int* x) {
  const int t = thread_number();
  const auto a = static_cast<unsigned>(x[t]), b = static_cast<unsigned>(x[t + 5]);
  unsigned sum = __popc(a) + __clz(b) + __brev(a) + __ffs(b) + __byte_perm(a, b, 0x3715);
  sum ^= __funnelshift_l(a, b, 7) + __funnelshift_r(a, b, a & 31);
  sum += static_cast<unsigned>(static_cast<signed char>(a)) + (a >> 3 & 0x7f);
  unsigned mask, field;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(a & 15), "r"(b & 15));
  asm("bfi.b32 %0, %1, %2, 3, 7;" : "=r"(field) : "r"(a), "r"(b));
  x[1024 + t] = static_cast<int>(sum ^ mask ^ field);
  x[2048 + t] = static_cast<int>((a & b) | (~a ^ b));
}

__global__ void integers(int* x) {
  const int t = thread_number();
  const int a = x[t] - 100, b = x[t + 7] * 3;
  int sum = abs(a) + min(a, b) + max(a, t) + __mulhi(a, b) + __mul24(a, b);
  sum += a > b ? x[t + 9] : b - t;
  sum += a / (t + 3) + b % 7;
  const long long wide = static_cast<long long>(a) * b + t;
  x[1024 + t] = sum;
  x[2048 + t] = static_cast<int>(wide >> 9) + (wide > 1000 ? 3 : 4);
}

__global__ void dot_products(int* x) {
  const int t = thread_number();
  x[1024 + t] = __dp4a(x[t], x[t + 7], t);
}

__global__ void special_functions(int* x) {
  const int t = thread_number();
  const float a = static_cast<float>(x[t] + 1), b = static_cast<float>(x[t + 3] + 2);
  float sum = __fdividef(a, b) + sqrtf(a) + rsqrtf(b) + __sinf(a) + __expf(-a) + __logf(b);
  sum += fminf(a, b) + fmaxf(a, 4.0F) + fabsf(a - b) + (a > b ? a : sum) + a / b;
  x[1024 + t] = __float_as_int(sum);
}

__global__ void exchange_more(int* x) {
  const int t = thread_number();
  const unsigned v = static_cast<unsigned>(x[t & 63]);
  const unsigned reduced = __reduce_add_sync(0xffffffff, v) ^ __reduce_max_sync(0xffffffff, v);
  const unsigned same = __match_any_sync(0xffffffff, v & 3);
  const int up = __shfl_up_sync(0xffffffff, t, 3) + __shfl_sync(0xffffffff, t, t & 7);
  x[1024 + t] = static_cast<int>(reduced + __popc(same)) + up + __all_sync(0xffffffff, v != 3);
}

// Several lanes at one address, and several in one word.
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

// Reductions whose addresses several lanes share.
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

// Asynchronous copies of each width, to places that conflict or not, from places that lie together or not.
template <int kBytes, int kTo, int kFrom>
__global__ void copy_stride(int* x) {
  __shared__ alignas(16) char s[kThreads * kBytes * kTo];
  const auto t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&s[t * kTo * kBytes], reinterpret_cast<const char*>(x) + t * kFrom * kBytes,
                          kBytes);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[8192 + thread_number()] = s[t * kTo * kBytes];
}

// The same where some lanes take no part, and where several read one address.
template <int kBytes>
__global__ void copy_some(int* x) {
  __shared__ alignas(16) char s[2 * kThreads * kBytes];
  const auto t = static_cast<int>(threadIdx.x);
  if (t % 3 != 0) {
    __pipeline_memcpy_async(&s[t * kBytes], reinterpret_cast<const char*>(x) + t * kBytes, kBytes);
  }
  __pipeline_memcpy_async(&s[(kThreads + (t ^ 5)) * kBytes],
                          reinterpret_cast<const char*>(x) + t / 4 * kBytes, kBytes);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[8192 + thread_number()] = s[(kThreads + t) * kBytes];
}

// What waits for nothing that lies ahead: other threads take part in each instruction, so that sums tell them apart.
__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void mbarriers(int* x) {
  __shared__ unsigned long long barrier;
  const unsigned b = shared_address(&barrier);
  const auto t = static_cast<int>(threadIdx.x);
  unsigned tried = 0, tested = 0;
  if (t < 1) asm volatile("mbarrier.init.shared.b64 [%0], 3;" ::"r"(b) : "memory");
  __syncthreads();
  if (t < 3) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(b) : "memory");
  __syncthreads();
  if (t < 7) {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                 : "=r"(tried)
                 : "r"(b)
                 : "memory");
  }
  if (t < 13) {
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                 : "=r"(tested)
                 : "r"(b)
                 : "memory");
  }
  __syncthreads();
  if (t < 1) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
  x[1024 + thread_number()] = static_cast<int>(tried + tested);
}

__global__ void mbarrier_copies(int* x) {
  __shared__ unsigned long long barrier;
  __shared__ int s[kThreads];
  const unsigned b = shared_address(&barrier);
  const auto t = static_cast<int>(threadIdx.x);
  if (t < 1) asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(b) : "memory");
  __syncthreads();
  if (t < 5) {
    __pipeline_memcpy_async(&s[t], &x[t], 4);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(b) : "memory");
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  x[1024 + thread_number()] = t;
}

// Masks from memory, all lanes.
__global__ void warp_barriers(int* x) {
  const int t = thread_number();
  for (int i = 0; i < 4; ++i) __syncwarp(static_cast<unsigned>(x[i] - 1 - i));
  x[1024 + t] = t;
}

enum class Fence { kBlock, kDevice, kSystem, kProxy };
template <Fence kFence>
__global__ void fences(int* x) {
  const int t = thread_number();
  x[1024 + t] = 1;
  if constexpr (kFence == Fence::kBlock) __threadfence_block();
  if constexpr (kFence == Fence::kDevice) __threadfence();
  if constexpr (kFence == Fence::kSystem) __threadfence_system();
  if constexpr (kFence == Fence::kProxy) asm volatile("fence.proxy.async;" ::: "memory");
  x[2048 + t] = 2;
}

__global__ void counting_barriers(int* x) {
  const int t = thread_number();
  const int count = __syncthreads_count(x[t] & 1);
  x[1024 + t] = count + __syncthreads_and(x[t + 1] & 1) + 2 * __syncthreads_or(x[t + 2] & 1);
}

__global__ void extensions(int* x) {
  const int t = thread_number();
  int low, wrapped, byte;
  asm("szext.clamp.s32 %0, %1, %2;" : "=r"(low) : "r"(x[t]), "r"(x[t + 1] & 15));
  asm("szext.wrap.u32 %0, %1, %2;" : "=r"(wrapped) : "r"(x[t]), "r"(x[t + 1] & 15));
  asm("cvt.sat.s8.s32 %0, %1;" : "=r"(byte) : "r"(x[t + 4] * 77));
  x[1024 + t] = low + wrapped + byte;
}

__global__ void elections(int* x) {
  unsigned leads;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(leads));
  x[1024 + thread_number()] = static_cast<int>(leads);
}

__global__ void naps(int* x) {
  __nanosleep(0);
  x[1024 + thread_number()] = 1;
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

// Sums made by comparing and exchanging; each thread has a place of its own, so that none is tried again.
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
  x[1024 + thread_number()] = static_cast<int>(f[t]) + static_cast<int>(d[t]) + static_cast<int>(u[t]);
}

// A warp for each exponent of the dividend, a step for each of the divisor: which pairs take the long way.
__global__ void divisions(int* x) {
  const int exponent = thread_number() / 32;
  float sum = 0;
#pragma unroll 1
  for (int divisor = 0; divisor < 256; ++divisor) {
    sum += __int_as_float(exponent << 23 | x[0]) / __int_as_float(divisor << 23 | (x[0] + 0x123456));
  }
  x[1024 + thread_number()] = __float_as_int(sum);
}

__global__ void exchange_in_branch(int* x) {
  const int t = thread_number();
  int v = x[t];
  if (t % 32 < 16) {
    v = __shfl_xor_sync(0xffff, v, 1);
    v += __reduce_add_sync(0xffff, v);
  }
  x[1024 + t] = v;
}

enum class Product { kTf32, kBf16, kHalfSums, kDouble };
template <Product kProduct>
__global__ void products(int* x) {
  const int t = thread_number();
  const int a0 = x[t], a1 = x[t + 1], a2 = x[t + 2], a3 = x[t + 3], b0 = x[t + 4], b1 = x[t + 5];
  int* const to = x + 1024 + t * 4;
  if constexpr (kProduct == Product::kHalfSums) {
    int c0 = a0, c1 = a1;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(c0), "+r"(c1)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    to[0] = c0;
    to[1] = c1;
  } else if constexpr (kProduct == Product::kDouble) {
    double c0 = 0, c1 = 0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c0), "+d"(c1)
                 : "d"(static_cast<double>(a0)), "d"(static_cast<double>(b0)));
    to[0] = static_cast<int>(c0);
    to[1] = static_cast<int>(c1);
  } else {
    float f0 = 0, f1 = 0, f2 = 0, f3 = 0;
    if constexpr (kProduct == Product::kTf32) {
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3)
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    } else {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
          "{%0,%1,%2,%3};"
          : "+f"(f0), "+f"(f1), "+f"(f2), "+f"(f3)
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    to[0] = __float_as_int(f0 + f1);
    to[1] = __float_as_int(f2 + f3);
  }
}

__global__ void matrix_stores(int* x) {
  __shared__ alignas(16) int s[kThreads * 4];
  const auto t = static_cast<int>(threadIdx.x);
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(shared_address(s + t * 4)),
      "r"(x[t]), "r"(x[t + 1]), "r"(x[t + 2]), "r"(x[t + 3])
      : "memory");
  __syncthreads();
  x[1024 + thread_number()] = s[t];
}

// Positions and widths on either side of a word's 32 bits.
__global__ void bit_masks(int* x) {
  const int t = thread_number();
  unsigned clamped, wrapped;
  const auto from = static_cast<unsigned>(x[t] * 3 % 67), width = static_cast<unsigned>(x[t] * 5 % 41);
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(clamped) : "r"(from), "r"(width));
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(wrapped) : "r"(from), "r"(width));
  x[1024 + t] = static_cast<int>(clamped ^ wrapped);
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
      {"micro.conversions", [](int* x) { start(conversions, x); }},
      {"micro.bit_operations", [](int* x) { start(bit_operations, x); }},
      {"micro.integers", [](int* x) { start(integers, x); }},
      {"micro.dot_products", [](int* x) { start(dot_products, x); }},
      {"micro.special_functions", [](int* x) { start(special_functions, x); }},
      {"micro.exchange_more", [](int* x) { start(exchange_more, x); }},
      {"micro.lanes_32", [](int* x) { start(shared_lanes<int>, x); }},
      {"micro.lanes_64", [](int* x) { start(shared_lanes<int2>, x); }},
      {"micro.lanes_128", [](int* x) { start(shared_lanes<int4>, x); }},
      {"micro.narrow_8", [](int* x) { start(narrow<unsigned char>, x); }},
      {"micro.narrow_16", [](int* x) { start(narrow<short>, x); }},
      {"micro.reductions_1", [](int* x) { start(reductions<1>, x); }},
      {"micro.reductions_2", [](int* x) { start(reductions<2>, x); }},
      {"micro.reductions_8", [](int* x) { start(reductions<8>, x); }},
      {"micro.shared_atomics", [](int* x) { start(shared_atomics, x); }},
      {"micro.copy_32", [](int* x) { start(copy_stride<4, 1, 1>, x); }},
      {"micro.copy_32_to_2", [](int* x) { start(copy_stride<4, 2, 1>, x); }},
      {"micro.copy_32_to_8", [](int* x) { start(copy_stride<4, 8, 1>, x); }},
      {"micro.copy_32_from_8", [](int* x) { start(copy_stride<4, 1, 8>, x); }},
      {"micro.copy_32_from_33", [](int* x) { start(copy_stride<4, 1, 33>, x); }},
      {"micro.copy_64", [](int* x) { start(copy_stride<8, 1, 1>, x); }},
      {"micro.copy_64_to_2", [](int* x) { start(copy_stride<8, 2, 1>, x); }},
      {"micro.copy_64_from_5", [](int* x) { start(copy_stride<8, 1, 5>, x); }},
      {"micro.copy_128", [](int* x) { start(copy_stride<16, 1, 1>, x); }},
      {"micro.copy_128_to_2", [](int* x) { start(copy_stride<16, 2, 1>, x); }},
      {"micro.copy_128_from_3", [](int* x) { start(copy_stride<16, 1, 3>, x); }},
      {"micro.copy_128_from_9", [](int* x) { start(copy_stride<16, 1, 9>, x); }},
      {"micro.copy_some_32", [](int* x) { start(copy_some<4>, x); }},
      {"micro.copy_some_128", [](int* x) { start(copy_some<16>, x); }},
      {"micro.mbarriers", [](int* x) { start(mbarriers, x); }},
      {"micro.mbarrier_copies", [](int* x) { start(mbarrier_copies, x); }},
      {"micro.warp_barriers", [](int* x) { start(warp_barriers, x); }},
      {"micro.fence_block", [](int* x) { start(fences<Fence::kBlock>, x); }},
      {"micro.fence_device", [](int* x) { start(fences<Fence::kDevice>, x); }},
      {"micro.fence_system", [](int* x) { start(fences<Fence::kSystem>, x); }},
      {"micro.fence_proxy", [](int* x) { start(fences<Fence::kProxy>, x); }},
      {"micro.counting_barriers", [](int* x) { start(counting_barriers, x); }},
      {"micro.extensions", [](int* x) { start(extensions, x); }},
      {"micro.elections", [](int* x) { start(elections, x); }},
      {"micro.naps", [](int* x) { start(naps, x); }},
      {"micro.generic_atomics", [](int* x) { start(generic_atomics, x); }},
      {"micro.exchange_loops", [](int* x) { start(exchange_loops, x); }},
      {"micro.divisions", [](int* x) { divisions<<<64, kThreads>>>(x); }},
      {"micro.exchange_in_branch", [](int* x) { start(exchange_in_branch, x); }},
      {"micro.product_tf32", [](int* x) { start(products<Product::kTf32>, x); }},
      {"micro.product_bf16", [](int* x) { start(products<Product::kBf16>, x); }},
      {"micro.product_half_sums", [](int* x) { start(products<Product::kHalfSums>, x); }},
      {"micro.product_double", [](int* x) { start(products<Product::kDouble>, x); }},
      {"micro.matrix_stores", [](int* x) { start(matrix_stores, x); }},
      {"micro.bit_masks", [](int* x) { start(bit_masks, x); }},
  };
  return kLaunches;
}

}  // namespace micro
