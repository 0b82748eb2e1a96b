// SPDX-License-Identifier: Apache-2.0
// ladder_large_tiles and cuBLAS, launched alternately, over sizes and operation pairs, with their
// errors. Prints CSV: n, operations, kernel, median GFLOP/s, ratio to cuBLAS, largest and root mean
// square error against FP64, for operands uniform in (-1, 1).
//   bench/h200/peak.sh runs it
#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::allocate;
using bench::require;

// One element per thread; op(X) is addressed by its two strides.
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
Error error_of(const float* gC, const std::vector<double>& reference) {
  std::vector<float> host(reference.size());
  require(cudaMemcpy(host.data(), gC, host.size() * sizeof(float), cudaMemcpyDeviceToHost),
          "results");
  Error error;
  double squares = 0.0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const double e = std::abs(host[i] - reference[i]);
    if (!(e <= error.largest)) error.largest = e;  // keeps NaN
    squares += e * e;
  }
  error.rms = std::sqrt(squares / static_cast<double>(host.size()));
  return error;
}

void measure(const std::array<const KernelInfo*, 2>& kernels, int n, Op op_a, Op op_b) {
  constexpr int kSamples = 15;
  const std::int64_t size = std::int64_t{n} * n;
  const auto a = bench::uniform_operand(size, 1), b = bench::uniform_operand(size, 77),
             c = allocate<float>(size, "C");
  const Problem p = make_problem(n, n, n, 1.0F, 0.0F, op_a, op_b);
  const Operands o = {a.get(), b.get(), c.get()};
  const auto launch = [&](int i) { require(kernels[i]->launch(p, o, nullptr), "launch"); };

  std::vector<double> reference(static_cast<std::size_t>(size));
  {
    const auto exact = allocate<double>(size, "exact C");
    const auto strides = [n](const float* g, Op op) {
      return op == Op::kNone ? Strided{g, n, 1} : Strided{g, 1, n};
    };
    const unsigned blocks = (static_cast<unsigned>(n) + 15) / 16;
    product_fp64<<<dim3(blocks, blocks), dim3(16, 16)>>>(strides(a.get(), op_a),
                                                         strides(b.get(), op_b), exact.get(), n);
    require(cudaMemcpy(reference.data(), exact.get(), reference.size() * sizeof(double),
                       cudaMemcpyDeviceToHost),
            "exact C");
  }
  std::array<Error, 2> errors;
  for (int i = 0; i < 2; ++i) {
    require(cudaMemset(c.get(), 0xFF, static_cast<std::size_t>(size) * sizeof(float)), "C");
    launch(i);
    errors[i] = error_of(c.get(), reference);
  }

  bench::Stopwatch watch;
  std::array<std::vector<float>, 2> times;
  for (int sample = 0; sample < kSamples; ++sample) {
    for (int i = 0; i < 2; ++i) {
      launch(i);  // hides the host time of the timed launch
      times[i].push_back(watch.ms(1, [&] { launch(i); }));
    }
  }
  std::array<double, 2> rates{};
  for (int i = 0; i < 2; ++i) {
    rates[i] = flops(p) / bench::median(times[i]) / 1e6;
    std::printf("%d,%c%c,%s,%.1f,%.4f,%.3e,%.3e\n", n, op_a == Op::kNone ? 'N' : 'T',
                op_b == Op::kNone ? 'N' : 'T', std::string(kernels[i]->id).c_str(), rates[i],
                rates[i] / rates[0], errors[i].largest, errors[i].rms);
  }
  std::fflush(stdout);
}

}  // namespace

int main() {
  const std::array kernels{&bench::kernel_named("cublas_ieee"),
                           &bench::kernel_named("ladder_large_tiles")};
  std::printf("n,operations,kernel,gflops,ratio,largest_error,rms_error\n");
  for (const int n : {1024, 2048, 3072, 4092, 4096, 8192})
    measure(kernels, n, Op::kNone, Op::kNone);
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
