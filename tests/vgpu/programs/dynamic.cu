// SPDX-License-Identifier: Apache-2.0
// Kernels that launch kernels, copies and fills: in streams, at the tail of a grid, recursively,
// with errors that the launching thread sees, with a fault in a launched kernel ("fault"), and with
// a copy beyond the end of its destination ("copy"; vgpu alone refuses it).
#include <cstring>
#include <vector>

#include "device_array.hpp"

namespace {

__global__ void add(int* values, int n, int what) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] += what;
}

__global__ void multiply(int* values, int n, int by) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] *= by;
}

// Launches of one block into one stream run in order; those at the tail after all others.
__global__ void in_order(int* values, int n) {
  if (threadIdx.x != 0) return;
  const int blocks = (n + 63) / 64;
  multiply<<<blocks, 64, 0, cudaStreamTailLaunch>>>(values, n, 10);
  add<<<blocks, 64>>>(values, n, 1);
  multiply<<<blocks, 64>>>(values, n, 3);
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  add<<<blocks, 64, 0, stream>>>(values + n, n, 5);
  multiply<<<blocks, 64, 0, stream>>>(values + n, n, 7);
  cudaStreamDestroy(stream);
}

// Sums a segment of powers of two by halves, each by a kernel of its own.
__global__ void tree(const int* values, int n, int* sum) {
  if (n == 1) {
    atomicAdd(sum, *values);
    return;
  }
  tree<<<1, 1, 0, cudaStreamFireAndForget>>>(values, n / 2, sum);
  tree<<<1, 1, 0, cudaStreamFireAndForget>>>(values + n / 2, n / 2, sum);
}

struct Wide {
  long long values[40];
};

__global__ void sum_of(Wide wide, long long* out) {
  long long sum = 0;
  for (const long long v : wide.values) sum += v;
  out[threadIdx.x] = sum + threadIdx.x;
}

// Every thread launches, with parameters of its own.
__global__ void of_each_thread(long long* out) {
  Wide wide;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 40; ++k) wide.values[k] = i + k;
  sum_of<<<1, 2>>>(wide, out + 2 * i);
}

// A fill, launches and copies of the same memory, the last at the tail of the grid.
__global__ void copies_among_launches(int* values, int n, int fill, int* codes) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(int);
  cudaMemcpyAsync(values + 2 * n, values, bytes, cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
  codes[0] = cudaMemsetAsync(values, fill, bytes, nullptr);
  add<<<1, n>>>(values, n, 1);
  codes[1] = cudaMemcpyAsync(values + n, values, bytes, cudaMemcpyDeviceToDevice, nullptr);
  add<<<1, n>>>(values, n, 1);
}

__global__ void copies_shared_memory(int* values, int* codes) {
  __shared__ int shared;
  shared = 0;
  codes[0] = cudaMemcpyAsync(values, &shared, sizeof(int), cudaMemcpyDeviceToDevice, nullptr);
  codes[1] = cudaGetLastError();
}

__global__ void copies_too_much(int* values) {
  cudaMemcpyAsync(values, values + 64, 4096, cudaMemcpyDeviceToDevice, nullptr);
}

__global__ void errors(int* codes, int* values) {
  codes[0] = cudaGetLastError();
  add<<<1, 2000>>>(values, 1, 1);  // too many threads
  codes[1] = cudaPeekAtLastError();
  codes[2] = cudaGetLastError();
  codes[3] = cudaGetLastError();
  int device = -1;
  codes[4] = cudaGetDevice(&device);
  codes[5] = device;
}

__global__ void launches_fault() { add<<<1, 1>>>(nullptr, 1, 1); }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "fault") == 0) {
    launches_fault<<<1, 1>>>();
    require(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "the fault");
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "copy") == 0) {
    if (!on_virtual_gpu()) return 77;
    int* few = nullptr;
    require(cudaMalloc(&few, 512));
    require(cudaMemset(few, 0, 512));
    copies_too_much<<<1, 1>>>(few);
    require(cudaDeviceSynchronize(), cudaErrorInvalidValue, "a copy beyond the end");
    return 0;
  }
  constexpr int kCount = 100;
  int* values = nullptr;
  require(cudaMalloc(&values, 2 * kCount * sizeof(int)));
  require(cudaMemset(values, 0, 2 * kCount * sizeof(int)));
  in_order<<<1, 32>>>(values, kCount);
  require(cudaDeviceSynchronize());
  const auto got = download(values, 2 * kCount);
  for (int i = 0; i < kCount; ++i) {
    require(got[i] == 30, "launches in order");
    require(got[kCount + i] == 35, "launches into a stream");
  }

  std::vector<int> powers(32);
  for (int i = 0; i < 32; ++i) powers[i] = static_cast<int>(1u << i);
  require(cudaMemcpy(values, powers.data(), 32 * sizeof(int), cudaMemcpyHostToDevice));
  require(cudaMemset(values + 32, 0, sizeof(int)));
  tree<<<1, 1>>>(values, 32, values + 32);
  require(cudaDeviceSynchronize());
  require(download(values + 32, 1)[0] == -1, "a sum by recursion");

  long long* sums = nullptr;
  require(cudaMalloc(&sums, 2 * 96 * sizeof(long long)));
  of_each_thread<<<3, 32>>>(sums);
  require(cudaDeviceSynchronize());
  const auto each = download(sums, 2 * 96);
  for (int i = 0; i < 192; ++i)
    require(each[i] == 40LL * (i / 2) + 780 + i % 2, "parameters of each thread");

  int* codes = nullptr;
  require(cudaMalloc(&codes, 6 * sizeof(int)));
  errors<<<1, 1>>>(codes, values);
  require(cudaDeviceSynchronize());
  const auto answers = download(codes, 6);
  require(answers[0] == cudaSuccess && answers[1] == cudaErrorInvalidConfiguration &&
              answers[2] == cudaErrorInvalidConfiguration && answers[3] == cudaSuccess,
          "the error of a launch");
  require(answers[4] == cudaSuccess && answers[5] == 0, "cudaGetDevice");
  constexpr int kCopied = 64;
  int* copied = nullptr;
  require(cudaMalloc(&copied, 3 * kCopied * sizeof(int)));
  std::vector<int> numbers(3 * kCopied);
  for (int i = 0; i < 3 * kCopied; ++i) numbers[i] = i;
  require(cudaMemcpy(copied, numbers.data(), 3 * kCopied * sizeof(int), cudaMemcpyHostToDevice));
  // An H200 with driver 580 fills with 0 whatever the value is.
  const int fill = on_virtual_gpu() ? 1 : 0, filled = fill * 0x01010101;
  copies_among_launches<<<1, 1>>>(copied, kCopied, fill, codes);
  require(cudaDeviceSynchronize());
  const auto of_both = download(codes, 2);
  require(of_both[0] == cudaSuccess, "a fill is accepted");
  require(of_both[1] == cudaSuccess, "a copy is accepted");
  const auto after = download(copied, 3 * kCopied);
  for (int i = 0; i < kCopied; ++i) {
    require(after[i] == filled + 2, "a fill, and launches behind it");
    require(after[kCopied + i] == filled + 1, "a copy between launches");
    require(after[2 * kCopied + i] == filled + 2, "a copy at the tail");
  }
  if (on_virtual_gpu()) {
    copies_shared_memory<<<1, 1>>>(copied, codes);
    require(cudaDeviceSynchronize());
    const auto of_shared = download(codes, 2);
    require(of_shared[0] == cudaErrorInvalidValue && of_shared[1] == cudaErrorInvalidValue,
            "a copy of shared memory");
  }
  require(cudaFree(copied));
  for (void* memory :
       {static_cast<void*>(values), static_cast<void*>(sums), static_cast<void*>(codes)})
    require(cudaFree(memory));
}
