// SPDX-License-Identifier: Apache-2.0
// Shared by the programs of this folder: errors that end the program, operands generated on the
// device, kernels by name, timing.
#pragma once
#include <ladder/registry.hpp>
#include <ladder/status.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ladder::bench {

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
inline void require(const Status& status, const char* what) {
  if (status) return;
  std::fprintf(stderr, "%s: %s\n", what, status.message().c_str());
  std::exit(1);
}

// Uniform in [-1, 1): a hash of the index and the seed.
static __device__ float uniform(std::int64_t i, std::uint32_t seed) {
  std::uint32_t x = (static_cast<std::uint32_t>(i) + seed) * 2654435761U;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return static_cast<float>(static_cast<int>(x ^ (x >> 16))) * 0x1p-31F;
}
static __global__ void fill(float* g, std::int64_t count, std::uint32_t seed) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    g[i] = uniform(i, seed);
  }
}

struct Free {
  void operator()(void* g) const { static_cast<void>(cudaFree(g)); }
};
template <class T>
using Memory = std::unique_ptr<T[], Free>;  // device memory
template <class T>
Memory<T> allocate(std::int64_t count, const char* what) {
  T* g = nullptr;
  require(cudaMalloc(&g, sizeof(T) * static_cast<std::size_t>(std::max<std::int64_t>(count, 1))),
          what);
  return Memory<T>(g);
}
inline Memory<float> uniform_operand(std::int64_t count, std::uint32_t seed) {
  Memory<float> memory = allocate<float>(count, "operand");
  fill<<<1024, 256>>>(memory.get(), count, seed);
  return memory;
}

inline const KernelInfo& kernel_named(std::string_view id) {
  const auto found = find_kernels(id);
  require(found.status(), std::string(id).c_str());
  return *found.value().front();
}

// Measures the time of the work that it enqueues on a stream.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream = nullptr) : stream_(stream) {
    require(cudaEventCreate(&begin_), "event");
    require(cudaEventCreate(&end_), "event");
  }
  ~Stopwatch() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  template <class Work>
  void enqueue(int launches, Work work) {
    require(cudaEventRecord(begin_, stream_), "record");
    for (int i = 0; i < launches; ++i) work();
    require(cudaEventRecord(end_, stream_), "record");
  }
  float wait_ms() {
    require(cudaEventSynchronize(end_), "work");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin_, end_), "elapsed");
    return ms;
  }
  template <class Work>
  float ms(int launches, Work work) {
    enqueue(launches, work);
    return wait_ms();
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

template <class T>
T median(std::vector<T> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace ladder::bench
