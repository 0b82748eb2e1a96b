// SPDX-License-Identifier: Apache-2.0
// widened_loads [beyond|race]: reads of neighbours in shared memory that nvcc joins to wider loads.
// What these load besides is no access of the program: it may lie behind the memory, or be written
// by another warp. With an argument the program has that access. Narrow parameters and constants
// are loaded by words, too.
#include <cstring>

#include "require.hpp"

namespace {

constexpr int kWords = 7;

template <class T, int kCount>
__device__ void gather(const T* from, int* out) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) out[i] = from[i];
}

// The block has `room` elements.
template <class T, int kCount>
__global__ void read_to_the_end(int* out, int room) {
  extern __shared__ int memory[];
  T* const elements = reinterpret_cast<T*>(memory);
  if (threadIdx.x < room) elements[threadIdx.x] = static_cast<T>(threadIdx.x + 1);
  __syncthreads();
  if (threadIdx.x == 0) gather<T, kCount>(elements, out);
}

// The second warp writes the word behind those that the first one reads.
template <int kCount>
__global__ void write_beside(int* out) {
  __shared__ int words[kWords + 1];
  if (threadIdx.x < kCount) words[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
  __syncthreads();
  if (threadIdx.x == 0) gather<int, kCount>(words, out);
  if (threadIdx.x == 32) words[kWords] = kWords + 1;
}

// Loads of one word by each lane, with words that differ between the lanes.
__global__ void read_scattered(int* out) {
  __shared__ int4 vectors[33];
  int* const words = reinterpret_cast<int*>(vectors);
  for (int i = static_cast<int>(threadIdx.x); i < 132; i += 32) words[i] = 3 * i;
  __syncthreads();
  const int4 found = vectors[threadIdx.x * 5 % 33];
  out[threadIdx.x] = found.x + found.z;
}

__constant__ unsigned short narrow_constant = 0xfedc;

// The word of the last parameter, and of the last constant, ends behind it.
template <class T>
__global__ void pass_narrow(int* out, T value) {
  *out = static_cast<int>(value) + (threadIdx.x == 0 ? narrow_constant : 0);
}

template <class T>
void check_narrow(int* out, T value) {
  pass_narrow<<<1, 1>>>(out, value);
  require(cudaDeviceSynchronize());
  require(*out == static_cast<int>(value) + 0xfedc, "a narrow parameter");
}

void check(const int* out, int count) {
  require(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) require(out[i] == i + 1, "a word");
}

}  // namespace

int main(int count, char** arguments) {
  int* out = nullptr;
  require(cudaMallocManaged(&out, 32 * sizeof *out));
  if (count > 1 && std::strcmp(arguments[1], "beyond") == 0) {
    read_to_the_end<int, kWords + 1><<<1, 32, kWords * sizeof(int)>>>(out, kWords);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  }
  if (count > 1 && std::strcmp(arguments[1], "race") == 0) {
    write_beside<kWords + 1><<<1, 64>>>(out);
    require(cudaDeviceSynchronize());
    return 0;
  }
  read_to_the_end<int, kWords><<<1, 32, kWords * sizeof(int)>>>(out, kWords);
  check(out, kWords);
  read_to_the_end<unsigned char, kWords><<<1, 32, kWords>>>(out, kWords);
  check(out, kWords);
  read_to_the_end<unsigned char, 3><<<1, 32, 3>>>(out, 3);
  check(out, 3);
  read_to_the_end<double, 3><<<1, 32, 3 * sizeof(double)>>>(out, 3);
  check(out, 3);
  write_beside<kWords><<<1, 64>>>(out);
  check(out, kWords);
  check_narrow<unsigned short>(out, 0xffff);
  check_narrow<short>(out, -3);
  check_narrow<unsigned char>(out, 200);
  check_narrow<bool>(out, true);
  read_scattered<<<1, 32>>>(out);
  require(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) {
    const int first = 4 * (i * 5 % 33);
    require(out[i] == 3 * first + 3 * (first + 2), "a scattered sum");
  }
  require(cudaFree(out));
  std::puts("right");
}
