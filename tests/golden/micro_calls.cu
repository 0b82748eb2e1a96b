// SPDX-License-Identifier: Apache-2.0
// Small kernels that call functions that are not inlined.
#include "micro.cuh"

#undef NDEBUG
#include <cassert>
#include <cstdio>

namespace micro {

// The convergence barrier is saved across the calls.
__device__ __noinline__ int descend(int n, const int* x) {
  if (n <= 0) return x[0];
  int a = 0;
  if ((n & 1) != 0) a = descend(n - 2, x);
  return a + descend(n - 1, x) + n;
}

__global__ void recursion(int* x) {
  const int t = thread_number();
  x[1024 + t] = descend(x[t] & 3, x);
}

__global__ void recursion_of_some(int* x) {
  const int t = thread_number();
  int v = t;
  if (t % 32 < 21) v = descend(t * 5 % 7 / 2, x);
  x[1024 + t] = v;
}

// Lanes leave the loop, and return, one after the other.
__device__ __noinline__ int sum_of(int n, const int* x) {
  int sum = n;
#pragma unroll 1
  for (int i = 0; i < (n & 3); ++i) sum += x[i];
  return sum;
}
__device__ __noinline__ int two_sums(int n, int* x) {
  int sum = 0;
  if (n % 32 < 7) {
    sum = sum_of(n, x) * 3;
    x[2048 + n] = sum;
  }
  return sum + sum_of(n + 1, x);
}

__global__ void returns_apart(int* x) {
  const int t = thread_number();
  int v = x[t];
  if (t % 32 < 21) v += two_sums(t, x);
  x[1024 + t] = v;
}

__device__ __noinline__ int threefold(int a, const int* x) { return a * 3 + x[1]; }
__device__ __noinline__ int flipped(int a, const int* x) { return a ^ x[2]; }

__global__ void indirect_calls(int* x) {
  const int t = thread_number();
  int (*const function)(int, const int*) = (x[t / 32] & 1) != 0 ? threefold : flipped;
  x[1024 + t] = function(x[t], x);
}

// printf is code of the driver.
__global__ void prints(int* x) {
  const int t = thread_number();
  if (t == 7) printf("thread %d\n", x[t]);
  x[1024 + t] = t;
}

// Lanes wait for others at a WARPSYNC.ALL.
__global__ void asserts_in_branch(int* x) {
  const int t = thread_number();
  if (t % 32 < 20) {
    x[1024 + t] = x[t];
    assert(x[1024 + t] >= 0);
    x[1536 + t] = x[t + 1];
  }
  __syncthreads();
  x[2048 + t] = x[t] + 1;
}

__global__ void asserts_in_loop(int* x) {
  const int t = thread_number();
  for (int i = 0; i < 7; ++i) {
    if (t % 32 == i) {
      x[1024 + t] = x[t + i];
      assert(x[1024 + t] >= 0);
    }
    __syncthreads();
    x[2048 + t] += x[i];
  }
}

std::span<const Launch> call_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.recursion", [](int* x) { start(recursion, x); }},
      {"micro.recursion_of_some", [](int* x) { start(recursion_of_some, x); }},
      {"micro.returns_apart", [](int* x) { start(returns_apart, x); }},
      {"micro.indirect_calls", [](int* x) { start(indirect_calls, x); }},
      {"micro.prints", [](int* x) { start(prints, x); }},
      {"micro.asserts_in_branch", [](int* x) { start(asserts_in_branch, x); }},
      {"micro.asserts_in_loop", [](int* x) { start(asserts_in_loop, x); }},
  };
  return kLaunches;
}

}  // namespace micro
