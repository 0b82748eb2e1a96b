// SPDX-License-Identifier: Apache-2.0
// Small kernels: asynchronous copies and mbarriers.
#include "micro.cuh"

#include <cuda_pipeline.h>

namespace micro {

__global__ void async_copies(int* x) {
  __shared__ alignas(16) int s[kThreads * 8];
  const auto t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&s[t * 4], &x[t * 4], 16,
                          t % 3 == 0 ? 16 : 0);  // some lanes only write zeros
  if (t < 50) __pipeline_memcpy_async(&s[512 + t * 2], &x[t * 2], 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[1024 + thread_number()] = s[t * 4] + s[512 + t % 50];
}

// Asynchronous copies of each width, with and without bank conflicts, coalesced and not.
template <int kBytes, int kTo, int kFrom>
__global__ void copy_stride(int* x) {
  __shared__ alignas(16) char s[kThreads * kBytes * kTo];
  const auto t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&s[t * kTo * kBytes],
                          reinterpret_cast<const char*>(x) + t * kFrom * kBytes, kBytes);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[8192 + thread_number()] = s[t * kTo * kBytes];
}

// The same with some lanes inactive, and with several lanes that read one address.
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
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
        : "=r"(tried)
        : "r"(b)
        : "memory");
  }
  if (t < 13) {
    asm volatile(
        "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
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

// The number of arrivals is in memory, so that it is in a uniform register.
__global__ void mbarrier_counts(int* x) {
  __shared__ unsigned long long barrier;
  const unsigned b = shared_address(&barrier);
  const auto t = static_cast<int>(threadIdx.x);
  if (t < 1) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(x[3]) : "memory");
  __syncthreads();
  if (t < 1) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
  x[1024 + thread_number()] = t;
}

std::span<const Launch> async_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.async_copies", [](int* x) { start(async_copies, x); }},
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
      {"micro.mbarrier_counts", [](int* x) { start(mbarrier_counts, x); }},
  };
  return kLaunches;
}

}  // namespace micro
