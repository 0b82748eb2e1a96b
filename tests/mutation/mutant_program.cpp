// SPDX-License-Identifier: Apache-2.0
// Runs the CUDA kernels of one rung on two small problems, one ragged with wide leading dimensions, and compares with
// sums of integers, padding included: mutant_program RUNG. Exit status 1 where a result is wrong, 3 where a launch fails.
#include <ladder/registry.hpp>

#include "dispatch/query.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kWrongResult = 1, kUsage = 2, kLaunchFailed = 3;

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "mutant_program: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(kLaunchFailed);
}

struct FreeDevice {
  void operator()(float* p) const { cudaFree(p); }
};

// A matrix on host and device; what lies between its rows is NaN.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns, std::int64_t stride, int seed)
      : host_(static_cast<std::size_t>((rows - 1) * stride + columns),
              std::numeric_limits<float>::quiet_NaN()),
        stride_(stride) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j)
        at(i, j) = static_cast<float>((i * 7 + j * 3 + seed) % 5 - 2);
    }
    void* memory = nullptr;
    require(cudaMalloc(&memory, bytes()), "cudaMalloc");
    device_.reset(static_cast<float*>(memory));
    require(cudaMemcpy(memory, host_.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  float& at(std::int64_t i, std::int64_t j) { return host_[static_cast<std::size_t>(i * stride_ + j)]; }
  float* device() { return device_.get(); }

  // Whether the device holds what the host does, NaN where the host has NaN.
  bool same_on_device() const {
    std::vector<float> found(host_.size());
    require(cudaMemcpy(found.data(), device_.get(), bytes(), cudaMemcpyDeviceToHost), "kernel");
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool both_nan = found[i] != found[i] && host_[i] != host_[i];
      if (found[i] != host_[i] && !both_nan) return false;
    }
    return true;
  }

 private:
  std::size_t bytes() const { return host_.size() * sizeof(float); }
  std::vector<float> host_;
  std::int64_t stride_;
  std::unique_ptr<float, FreeDevice> device_;
};

bool right(const ladder::KernelInfo& kernel, const ladder::Problem& p) {
  Matrix a(p.m, p.k, p.lda, 1), b(p.k, p.n, p.ldb, 2), c(p.m, p.n, p.ldc, 3);
  if (const ladder::Status status = kernel.launch(p, {a.device(), b.device(), c.device()}, nullptr);
      !status) {
    std::fprintf(stderr, "mutant_program: %s\n", status.message().c_str());
    std::exit(kLaunchFailed);
  }
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l) sum += a.at(i, l) * b.at(l, j);
      c.at(i, j) = p.alpha * sum + p.beta * c.at(i, j);
    }
  }
  return c.same_on_device();
}

}  // namespace

int main(int argc, char** argv) {
  const auto device = ladder::query_device(0);
  if (argc != 2 || !device) {
    std::fprintf(stderr, "usage: mutant_program RUNG, with a CUDA device\n");
    return kUsage;
  }
  ladder::Problem ragged = ladder::make_problem(133, 134, 35, 2.0F, -1.0F);
  ragged.lda = 37, ragged.ldb = 139, ragged.ldc = 141;
  ladder::Problem aligned = ladder::make_problem(131, 132, 36, 2.0F, -1.0F);
  aligned.lda = 40, aligned.ldb = 136, aligned.ldc = 144;
  int kernels = 0;
  for (const ladder::KernelInfo& kernel : ladder::kernels()) {
    if (kernel.place != ladder::Place::kCuda || !std::string(kernel.id).starts_with(argv[1])) continue;
    for (const ladder::Problem& problem : {ragged, aligned}) {
      if (!kernel.accepts(problem, device.value())) continue;
      ++kernels;
      if (!right(kernel, problem)) return kWrongResult;
    }
  }
  return kernels == 0 ? kUsage : 0;
}
