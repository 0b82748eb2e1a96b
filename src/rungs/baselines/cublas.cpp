// SPDX-License-Identifier: Apache-2.0
// cuBLAS in IEEE FP32 (CUDA cores), and in TF32, bf16 and fp16 (tensor cores): the CUDA rungs'
// baselines.
#include "rungs/baselines/cublas_terms.hpp"

#include <array>
#include <mutex>
#include <span>

namespace ladder::cublas {

static Status accepts(const Problem&, const Device& device) {
  if (Status s = accept_cuda(device, 0); !s) return s;
  if (!device.is_virtual) return Status::ok();
  return {Code::kUnsupportedDevice, "cuBLAS is not executed on the virtual GPU"};
}

using Handle = Owned<cublasHandle_t, cublasDestroy>;

// One handle per device, created at first use, which takes milliseconds and device memory. One
// thread at a time may use it.
static cublasStatus_t handle_of_device(cublasHandle_t* handle) {
  constexpr int kMaxDevices = 64;
  static std::array<Handle, kMaxDevices> handles;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kMaxDevices)
    return CUBLAS_STATUS_NOT_INITIALIZED;
  auto& slot = handles[static_cast<std::size_t>(device)];
  if (!slot) {
    cublasHandle_t fresh = nullptr;
    if (const auto status = cublasCreate(&fresh); status != CUBLAS_STATUS_SUCCESS) return status;
    slot.reset(fresh);
    // By default, cuBLAS adds the k-splits of 16-bit results in 16 bits, and sums of integers are
    // not exact.
    if (const auto status =
            cublasSetMathMode(fresh, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
        status != CUBLAS_STATUS_SUCCESS)
      return status;
  }
  *handle = slot.get();
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t run(const Problem& problem, const Operands& o, Stream stream,
                          cublasComputeType_t compute) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  cublasHandle_t handle = nullptr;
  if (const auto status = handle_of_device(&handle); status != CUBLAS_STATUS_SUCCESS) return status;
  if (const auto status = cublasSetStream(handle, stream); status != CUBLAS_STATUS_SUCCESS)
    return status;
  // cuBLAS is column-major: a row-major C = A B is its C' = B' A'.
  const auto [p, swapped] = as_row_major(problem);
  const float* a = swapped ? o.b : o.a;
  const float* b = swapped ? o.a : o.b;
  if (compute == CUBLAS_COMPUTE_32F && p.in == Type::kF32) {
    return cublasSgemm_64(handle, operation(p.op_b), operation(p.op_a), p.n, p.m, p.k, &p.alpha, b,
                          p.ldb, a, p.lda, &p.beta, o.c, p.ldc);
  }
  const cudaDataType_t in = type_of(p.in), out = type_of(p.out);
  // With 16-bit operands, cuBLAS reads A and B even if alpha = 0.
  const std::int64_t depth = reads_ab(p) ? p.k : 0;
  return cublasGemmEx_64(handle, operation(p.op_b), operation(p.op_a), p.n, p.m, depth, &p.alpha, b,
                         in, p.ldb, a, in, p.lda, &p.beta, o.c, out, p.ldc, compute,
                         CUBLAS_GEMM_DEFAULT);
}

template <cublasComputeType_t kCompute>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  const cublasStatus_t status = run(p, o, stream, kCompute);
  if (status == CUBLAS_STATUS_SUCCESS) return Status::ok();
  return {Code::kLaunchFailed, std::string("cuBLAS: ") + cublasGetStatusString(status)};
}

// On other devices cuBLAS has no kernel for it and would compute in another precision.
static Status accepts_emulation(const Problem& problem, const Device& device) {
  if (Status s = accepts(problem, device); !s) return s;
  if (device.cc == 100 || device.cc == 103) return Status::ok();
  return {Code::kUnsupportedDevice,
          "cuBLAS emulates FP32 by bf16 on compute capability 10.0 and 10.3, " + device.name +
              " has " + std::to_string(device.cc / 10) + "." + std::to_string(device.cc % 10)};
}

static constexpr KernelInfo other_mode(std::string_view id, std::string_view idea,
                                       decltype(KernelInfo::accepts) accepts,
                                       decltype(KernelInfo::launch) launch) {
  return {.id = id,
          .rung = "cublas",
          .idea = idea,
          .role = Role::kBaseline,
          .accepts = accepts,
          .launch = launch};
}

static constexpr KernelInfo of_mode(std::string_view id, std::string_view idea, Precision precision,
                                    Type in, Type out) {
  return baseline(
      "cublas", id, idea, precision, in, out, accepts,
      {.fp32 = launch<CUBLAS_COMPUTE_32F>, .tf32 = launch<CUBLAS_COMPUTE_32F_FAST_TF32>});
}

static constexpr KernelInfo kKernels[] = {
    of_mode("cublas_ieee", "cuBLAS SGEMM", Precision::kIeee, Type::kF32, Type::kF32),
    of_mode("cublas_tf32", "cuBLAS with TF32 tensor cores", Precision::kTf32, Type::kF32,
            Type::kF32),
    of_mode("cublas_bf16", "cuBLAS, bf16 in and out", Precision::kBf16, Type::kBf16, Type::kBf16),
    of_mode("cublas_bf16_f32", "cuBLAS, bf16 in, f32 out", Precision::kBf16, Type::kBf16,
            Type::kF32),
    of_mode("cublas_fp16", "cuBLAS, fp16 in and out", Precision::kFp16, Type::kF16, Type::kF16),
    of_mode("cublas_fp16_f32", "cuBLAS, fp16 in, f32 out", Precision::kFp16, Type::kF16,
            Type::kF32),
    other_mode("cublas_pedantic", "cuBLAS SGEMM, pedantic: no reassociation", accepts,
               launch<CUBLAS_COMPUTE_32F_PEDANTIC>),
    other_mode("cublas_bf16x9", "cuBLAS SGEMM emulated by nine bf16 products", accepts_emulation,
               launch<CUBLAS_COMPUTE_32F_EMULATED_16BFX9>),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::cublas
