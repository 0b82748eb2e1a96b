// SPDX-License-Identifier: Apache-2.0
// The FP64 reference on a GPU: operands converted to double on the device, two cuBLAS dgemm calls.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "operands/buffer.hpp"
#include "operands/device_element.cuh"
#include "operands/virtual_gpu.hpp"
#include "verify/proof_device.hpp"
#include "verify/reference.hpp"

namespace ladder {
namespace {

constexpr int kThreads = 256;

// op(X) in double, dense and row-major.
template <class E>
__global__ void widen(const typename E::Bits* x, bool transposed, long long ld, long long rows,
                      long long columns, bool absolute, double* wide) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       at < rows * columns; at += step) {
    const long long i = at / columns;
    const long long j = at % columns;
    const double value = E::value(transposed ? x[j * ld + i] : x[i * ld + j]);
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

Status convert(Type type, const void* x, Op op, std::int64_t ld, std::int64_t rows,
               std::int64_t columns, bool absolute, double* wide) {
  const std::int64_t blocks =
      std::min<std::int64_t>((rows * columns + kThreads - 1) / kThreads, 1 << 16);
  with_element(type, [&](auto element) {
    using E = decltype(element);
    widen<E><<<static_cast<unsigned>(blocks), kThreads>>>(static_cast<const typename E::Bits*>(x),
                                                          op == Op::kTranspose, ld, rows, columns,
                                                          absolute, wide);
  });
  return cuda_status(cudaGetLastError(), "widen");
}

Result<Buffer> doubles(std::int64_t count) {
  return Buffer::allocate(Place::kCuda, sizeof(double) * static_cast<std::size_t>(count));
}

Result<Buffer> brought(const float* x, const Extent& extent) {
  auto buffer =
      Buffer::allocate(Place::kCuda, sizeof(float) * static_cast<std::size_t>(extent.elements()));
  if (!buffer) return buffer;
  if (Status status = buffer->upload(x, buffer->bytes()); !status) return status;
  return buffer;
}

}  // namespace

Status cublas_products(const Problem& p, const void* a, const void* b, double* c,
                       double* abs_products) {
  if (virtual_gpu::active()) {
    return {Code::kUnsupportedDevice, "the cuBLAS reference is not executed on the virtual GPU"};
  }
  const auto wide_a = doubles(p.m * p.k);
  if (!wide_a) return wide_a.status();
  const auto wide_b = doubles(p.k * p.n);
  if (!wide_b) return wide_b.status();
  auto* left = wide_a.value().as<double>();
  auto* right = wide_b.value().as<double>();
  Handle handle;
  if (Status status = handle.create(); !status) return status;
  for (const bool absolute : {false, true}) {
    if (Status status = convert(p.in, a, p.op_a, p.lda, p.m, p.k, absolute, left); !status)
      return status;
    if (Status status = convert(p.in, b, p.op_b, p.ldb, p.k, p.n, absolute, right); !status)
      return status;
    const double one = 1;
    const double zero = 0;
    // Row-major C = A B is column-major C' = B' A'.
    Status status = cublas_status(
        cublasDgemm_64(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, right, p.n,
                       left, p.k, &zero, absolute ? abs_products : c, p.n),
        "cublasDgemm");
    if (!status) return status;
  }
  return synchronize();
}

Status cublas_reference(const Operation& operation, Reference& reference) {
  if (virtual_gpu::active()) {
    return {Code::kUnsupportedDevice, "the cuBLAS reference is not executed on the virtual GPU"};
  }
  Problem p = operation.problem;
  p.in = Type::kF32;  // the host's images hold numbers of the problem's type as binary32
  reference.name = "cuBLAS dgemm";
  if (!reads_ab(p) || p.m == 0 || p.n == 0) return Status::ok();
  const auto a = brought(operation.a, extent_a(p));
  if (!a) return a.status();
  const auto b = brought(operation.b, extent_b(p));
  if (!b) return b.status();
  const auto c = doubles(p.m * p.n);
  if (!c) return c.status();
  const auto abs_products = doubles(p.m * p.n);
  if (!abs_products) return abs_products.status();
  if (Status status = cublas_products(p, a.value().as<float>(), b.value().as<float>(),
                                      c.value().as<double>(), abs_products.value().as<double>());
      !status)
    return status;
  const std::size_t bytes = c.value().bytes();
  if (Status status = c.value().download(reference.c.data(), bytes); !status) return status;
  return abs_products.value().download(reference.abs_products.data(), bytes);
}

}  // namespace ladder
