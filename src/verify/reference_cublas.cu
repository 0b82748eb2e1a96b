// SPDX-License-Identifier: Apache-2.0
// The FP64 reference on a GPU: operands widened there, two cuBLAS dgemm, results brought to the host.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>
#include <vector>

#include "verify/buffer.hpp"
#include "verify/reference.hpp"
#include "verify/virtual_gpu.hpp"

namespace ladder {
namespace {

constexpr int kThreads = 256;

// op(X) in double, dense and row-major.
__global__ void widen(const float* x, bool transposed, long long ld, long long rows, long long columns,
                      bool absolute, double* wide) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < rows * columns;
       at += step) {
    const long long i = at / columns;
    const long long j = at % columns;
    const double value = transposed ? x[j * ld + i] : x[i * ld + j];
    wide[at] = absolute ? fabs(value) : value;
  }
}

Status cublas_status(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return Status::ok();
  return {Code::kLaunchFailed, std::string(call) + ": " + cublasGetStatusString(status)};
}

class Handle {
 public:
  Handle() = default;
  ~Handle() {
    if (handle_ != nullptr) (void)cublasDestroy(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Status create() {
    if (Status s = cublas_status(cublasCreate(&handle_), "cublasCreate"); !s) return s;
    return cublas_status(cublasSetMathMode(handle_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  }
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

struct Wide {
  Buffer narrow, wide;
};

Result<Wide> place(const float* x, const Extent& extent, std::int64_t elements) {
  auto narrow = Buffer::allocate(Place::kCuda, sizeof(float) * static_cast<std::size_t>(extent.elements()));
  if (!narrow) return narrow.status();
  auto wide = Buffer::allocate(Place::kCuda, sizeof(double) * static_cast<std::size_t>(elements));
  if (!wide) return wide.status();
  Status status = narrow.value().upload(x, narrow.value().bytes());
  if (!status) return status;
  return Wide{std::move(narrow).value(), std::move(wide).value()};
}

Status convert(const Wide& matrix, Op op, std::int64_t ld, std::int64_t rows, std::int64_t columns,
               bool absolute) {
  const std::int64_t blocks = std::min<std::int64_t>((rows * columns + kThreads - 1) / kThreads, 1 << 16);
  widen<<<static_cast<unsigned>(blocks), kThreads>>>(matrix.narrow.as<float>(), op == Op::kTranspose, ld,
                                                     rows, columns, absolute, matrix.wide.as<double>());
  return cuda_status(cudaGetLastError(), "widen");
}

}  // namespace

Status cublas_reference(const Operation& operation, Reference& reference) {
  if (virtual_gpu::active()) {
    return {Code::kUnsupportedDevice, "the cuBLAS reference is not executed on the virtual GPU"};
  }
  const Problem& p = operation.problem;
  reference.name = "cuBLAS dgemm";
  if (!reads_ab(p) || p.m == 0 || p.n == 0) return Status::ok();
  auto a = place(operation.a, extent_a(p), p.m * p.k);
  if (!a) return a.status();
  auto b = place(operation.b, extent_b(p), p.k * p.n);
  if (!b) return b.status();
  auto c = Buffer::allocate(Place::kCuda, sizeof(double) * static_cast<std::size_t>(p.m * p.n));
  if (!c) return c.status();
  Handle handle;
  if (Status status = handle.create(); !status) return status;
  for (const bool absolute : {false, true}) {
    if (Status status = convert(a.value(), p.op_a, p.lda, p.m, p.k, absolute); !status) return status;
    if (Status status = convert(b.value(), p.op_b, p.ldb, p.k, p.n, absolute); !status) return status;
    const double one = 1;
    const double zero = 0;
    // Row-major C = A B is column-major C' = B' A'.
    Status status =
        cublas_status(cublasDgemm_64(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one,
                                     b.value().wide.as<double>(), p.n, a.value().wide.as<double>(), p.k,
                                     &zero, c.value().as<double>(), p.n),
                      "cublasDgemm");
    if (!status) return status;
    if (status = synchronize(); !status) return status;
    std::vector<double>& target = absolute ? reference.abs_products : reference.c;
    if (status = c.value().download(target.data(), target.size() * sizeof(double)); !status) return status;
  }
  return Status::ok();
}

}  // namespace ladder
