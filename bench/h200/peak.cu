// SPDX-License-Identifier: Apache-2.0
// r12 and cuBLAS in turn, over sizes and operation pairs, with their errors. Prints CSV: n, operations, kernel, median
// GFLOP/s, ratio to cuBLAS, largest and root mean square error against FP64, on uniform(-1, 1) operands.
//   bench/h200/peak.sh runs it
#include <ladder/registry.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>

namespace {

using namespace ladder;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "peak: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
struct DeviceArray {
  explicit DeviceArray(std::size_t size) : size(size) { check(cudaMalloc(&data, size * sizeof(T))); }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  std::size_t size;
  T* data = nullptr;
};

void fill_uniform(DeviceArray<float>& x, unsigned seed) {
  std::vector<float> host(x.size);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  for (float& value : host) value = uniform(generator);
  check(cudaMemcpy(x.data, host.data(), x.size * sizeof(float), cudaMemcpyHostToDevice));
}

// One element a thread; operands of op(X) by their two strides.
struct Strided {
  const float* g;
  std::int64_t row, col;
};
__global__ void product_fp64(Strided a, Strided b, double* gC, int n) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row >= n || col >= n) return;
  double sum = 0.0;
  for (int k = 0; k < n; ++k) {
    sum += static_cast<double>(a.g[row * a.row + k * a.col]) * b.g[k * b.row + col * b.col];
  }
  gC[static_cast<std::int64_t>(row) * n + col] = sum;
}

struct Error {
  double largest = 0.0, rms = 0.0;
};
Error error_of(const DeviceArray<float>& c, const std::vector<double>& reference) {
  std::vector<float> host(c.size);
  check(cudaMemcpy(host.data(), c.data, c.size * sizeof(float), cudaMemcpyDeviceToHost));
  Error error;
  double squares = 0.0;
  for (std::size_t i = 0; i < c.size; ++i) {
    const double e = std::abs(host[i] - reference[i]);
    if (!(e <= error.largest)) error.largest = e;  // NaN stays
    squares += e * e;
  }
  error.rms = std::sqrt(squares / static_cast<double>(c.size));
  return error;
}

const KernelInfo& kernel_named(std::string_view id) {
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.id == id) return kernel;
  }
  std::fprintf(stderr, "peak: this build has no %s\n", std::string(id).c_str());
  std::exit(1);
}

class Timer {
 public:
  Timer() {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Milliseconds of the second of two launches, so that the first covers the host's part.
  template <class Launch>
  float operator()(Launch launch) {
    launch();
    check(cudaEventRecord(begin_));
    launch();
    check(cudaEventRecord(end_));
    check(cudaEventSynchronize(end_));
    float ms = 0.0F;
    check(cudaEventElapsedTime(&ms, begin_, end_));
    return ms;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void measure(const std::array<const KernelInfo*, 2>& kernels, int n, Op op_a, Op op_b) {
  constexpr int kSamples = 15;
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  DeviceArray<float> a(size), b(size), c(size);
  fill_uniform(a, 1);
  fill_uniform(b, 2);
  const Problem p = make_problem(n, n, n, 1.0F, 0.0F, op_a, op_b);
  const Operands o = {a.data, b.data, c.data};
  const auto launch = [&](int i) {
    if (const Status status = kernels[i]->launch(p, o, nullptr); !status) {
      std::fprintf(stderr, "peak: %s\n", status.message().c_str());
      std::exit(1);
    }
  };

  std::vector<double> reference(size);
  {
    const DeviceArray<double> exact(size);
    const auto strides = [n](const float* g, Op op) {
      return op == Op::kNone ? Strided{g, n, 1} : Strided{g, 1, n};
    };
    const unsigned blocks = (static_cast<unsigned>(n) + 15) / 16;
    product_fp64<<<dim3(blocks, blocks), dim3(16, 16)>>>(strides(a.data, op_a), strides(b.data, op_b),
                                                         exact.data, n);
    check(cudaMemcpy(reference.data(), exact.data, size * sizeof(double), cudaMemcpyDeviceToHost));
  }
  std::array<Error, 2> errors;
  for (int i = 0; i < 2; ++i) {
    check(cudaMemset(c.data, 0xFF, size * sizeof(float)));
    launch(i);
    errors[i] = error_of(c, reference);
  }

  Timer timer;
  std::array<std::vector<float>, 2> times;
  for (int sample = 0; sample < kSamples; ++sample) {
    for (int i = 0; i < 2; ++i) times[i].push_back(timer([&] { launch(i); }));
  }
  std::array<double, 2> rates{};
  for (int i = 0; i < 2; ++i) {
    std::ranges::sort(times[i]);
    rates[i] = flops(p) / times[i][kSamples / 2] / 1e6;
    std::printf("%d,%c%c,%s,%.1f,%.4f,%.3e,%.3e\n", n, op_a == Op::kNone ? 'N' : 'T',
                op_b == Op::kNone ? 'N' : 'T', std::string(kernels[i]->id).c_str(), rates[i],
                rates[i] / rates[0], errors[i].largest, errors[i].rms);
  }
  std::fflush(stdout);
}

}  // namespace

int main() {
  const std::array kernels{&kernel_named("cublas_ieee"), &kernel_named("r12_simt_peak")};
  std::printf("n,operations,kernel,gflops,ratio,largest_error,rms_error\n");
  for (const int n : {1024, 2048, 3072, 4092, 4096, 8192}) measure(kernels, n, Op::kNone, Op::kNone);
  for (const int n : {4096, 4093}) {
    for (const Op op_a : {Op::kNone, Op::kTranspose}) {
      for (const Op op_b : {Op::kNone, Op::kTranspose}) {
        if (n == 4096 && op_a == Op::kNone && op_b == Op::kNone) continue;  // above
        measure(kernels, n, op_a, op_b);
      }
    }
  }
  return 0;
}
