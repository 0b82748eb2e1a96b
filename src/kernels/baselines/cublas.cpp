// SPDX-License-Identifier: Apache-2.0
// cuBLAS in IEEE FP32 (CUDA cores) and in TF32 (tensor cores): the CUDA rungs' baselines.
#include "problem/accept.hpp"

#include <cublas_v2.h>

#include <array>
#include <memory>
#include <mutex>
#include <span>

namespace ladder::cublas {

static Status accepts(const Problem&, const Device& device) {
  if (Status s = accept_cuda(device, 0); !s) return s;
  if (!device.is_virtual) return Status::ok();
  return {Code::kUnsupportedDevice, "cuBLAS is not executed on the virtual GPU"};
}

struct DestroyHandle {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};
using Handle = std::unique_ptr<cublasContext, DestroyHandle>;

// One handle a device, made at first use: creating one takes milliseconds and device memory.
static cublasStatus_t handle_of_device(cublasHandle_t* handle) {
  static std::mutex mutex;
  constexpr int kMaxDevices = 64;
  static std::array<Handle, kMaxDevices> handles;
  const std::lock_guard lock(mutex);
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kMaxDevices) return CUBLAS_STATUS_NOT_INITIALIZED;
  auto& slot = handles[static_cast<std::size_t>(device)];
  if (!slot) {
    cublasHandle_t fresh = nullptr;
    if (const auto status = cublasCreate(&fresh); status != CUBLAS_STATUS_SUCCESS) return status;
    slot.reset(fresh);
  }
  *handle = slot.get();
  return CUBLAS_STATUS_SUCCESS;
}

static cublasOperation_t operation(Op op) { return op == Op::kNone ? CUBLAS_OP_N : CUBLAS_OP_T; }

static cublasStatus_t run(const Problem& problem, const Operands& o, Stream stream,
                          cublasComputeType_t compute) {
  cublasHandle_t handle = nullptr;
  if (const auto status = handle_of_device(&handle); status != CUBLAS_STATUS_SUCCESS) return status;
  if (const auto status = cublasSetStream(handle, stream); status != CUBLAS_STATUS_SUCCESS) return status;
  // cuBLAS is column-major: a row-major C = A B is its C' = B' A'.
  const auto [p, swapped] = as_row_major(problem);
  const float* a = swapped ? o.b : o.a;
  const float* b = swapped ? o.a : o.b;
  if (compute == CUBLAS_COMPUTE_32F) {
    return cublasSgemm_64(handle, operation(p.op_b), operation(p.op_a), p.n, p.m, p.k, &p.alpha, b, p.ldb, a,
                          p.lda, &p.beta, o.c, p.ldc);
  }
  return cublasGemmEx_64(handle, operation(p.op_b), operation(p.op_a), p.n, p.m, p.k, &p.alpha, b, CUDA_R_32F,
                         p.ldb, a, CUDA_R_32F, p.lda, &p.beta, o.c, CUDA_R_32F, p.ldc, compute,
                         CUBLAS_GEMM_DEFAULT);
}

template <cublasComputeType_t kCompute>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  const cublasStatus_t status = run(p, o, stream, kCompute);
  if (status == CUBLAS_STATUS_SUCCESS) return Status::ok();
  return {Code::kLaunchFailed, std::string("cuBLAS: ") + cublasGetStatusString(status)};
}

static constexpr KernelInfo kKernels[] = {
    {.id = "cublas_ieee",
     .rung = "cublas",
     .idea = "cuBLAS SGEMM",
     .role = Role::kBaseline,
     .accepts = accepts,
     .launch = launch<CUBLAS_COMPUTE_32F>},
    {.id = "cublas_tf32",
     .rung = "cublas",
     .idea = "cuBLAS with TF32 tensor cores",
     .role = Role::kBaseline,
     .precision = Precision::kTf32,
     .min_cc = 80,
     .accepts = accepts,
     .launch = launch<CUBLAS_COMPUTE_32F_FAST_TF32>},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::cublas
