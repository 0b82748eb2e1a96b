// SPDX-License-Identifier: Apache-2.0
#pragma once

extern __device__ int shared_variable;
__device__ int of_second(int value);

// Both units define it.
template <class T>
__device__ __noinline__ T common(T value) {
  return value * value;
}
