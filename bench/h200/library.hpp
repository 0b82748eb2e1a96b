// SPDX-License-Identifier: Apache-2.0
// What the parts of bench_library share.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <ladder/gemm.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace ladder::bench {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Ends the program if `status`, of CUDA, cuBLAS or libladder, is not success.
template <class Status>
void require(Status status, const char* what) {
  if (static_cast<int>(status) == 0) return;
  std::printf("%s: status %d; %s\n", what, static_cast<int>(status), ladder_last_error());
  std::exit(1);
}

class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    require(cudaMalloc(&g_, bytes()), "cudaMalloc");
  }
  ~DeviceArray() { static_cast<void>(cudaFree(g_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  float* get() const { return g_; }
  std::size_t bytes() const { return count_ * sizeof(float); }
  void set(const std::vector<float>& from, std::size_t count) {
    require(cudaMemcpy(g_, from.data(), count * sizeof(float), cudaMemcpyHostToDevice), "copy");
  }
  void get(std::vector<float>& to, std::size_t count) const {
    require(cudaMemcpy(to.data(), g_, count * sizeof(float), cudaMemcpyDeviceToHost), "copy");
  }

 private:
  std::size_t count_;
  float* g_ = nullptr;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double unit() { return std::uniform_real_distribution<double>(0, 1)(bits_); }
  std::uint64_t below(std::uint64_t n) { return bits_() % n; }
  bool chance(double p) { return unit() < p; }
  std::vector<float> values(std::size_t count) {  // uniform in [-1, 1)
    std::vector<float> x(count);
    for (float& value : x) value = static_cast<float>(2 * unit() - 1);
    return x;
  }

 private:
  std::mt19937_64 bits_;
};

// `calls` random calls beside cuBLAS: sizes, layouts, batches, epilogues, special values, alpha and
// beta on the host or on the device. Each check prints one line and returns whether all is right.
bool check_random(ladder_handle handle, cublasHandle_t cublas, int calls, Random& random);
// Matrices of more than 2^31 elements.
bool check_large(ladder_handle handle);
// The bits of a row with LADDER_BATCH_INVARIANT, whatever m.
bool check_invariance(ladder_handle handle, Random& random);

}  // namespace ladder::bench
