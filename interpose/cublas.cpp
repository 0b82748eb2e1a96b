// SPDX-License-Identifier: Apache-2.0
// Replaces the FP32 products of cuBLAS by those of libladder:
//   LD_PRELOAD=libladder_cublas.so program
// What libladder does not compute is forwarded to cuBLAS, as is all that cuBLAS would refuse.
// docs/library/cublas.md has the rules.
#include "cublas_calls.hpp"

#include <optional>
#include <type_traits>

namespace {

using ladder::interpose::attempt;
using ladder::interpose::forwarded;
using ladder::interpose::Product;

constexpr const char* kLibrary = "libcublas.so";
#define NEXT(name) LADDER_NEXT(name, kLibrary)

// Calls a function whose parameters have the types of the arguments.
template <class... Arguments>
cublasStatus_t call(void* function, Arguments... arguments) {
  if (function == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const ladder::interpose::Forwarding within;
  return reinterpret_cast<cublasStatus_t (*)(Arguments...)>(function)(arguments...);
}

// Fills in what cuBLAS's handle knows. False with the reason if the call is to be forwarded.
bool ask_handle(cublasHandle_t handle, Product& product) {
  if (handle == nullptr) return forwarded(product.function, "handle: null"), false;
  const auto get_stream = NEXT(cublasGetStream_v2);
  const auto get_mode = NEXT(cublasGetPointerMode_v2);
  const auto get_math = NEXT(cublasGetMathMode);
  cublasPointerMode_t mode{};
  cublasMath_t math{};
  if (get_stream == nullptr || get_mode == nullptr || get_math == nullptr ||
      get_stream(handle, &product.stream) != CUBLAS_STATUS_SUCCESS ||
      get_mode(handle, &mode) != CUBLAS_STATUS_SUCCESS ||
      get_math(handle, &math) != CUBLAS_STATUS_SUCCESS)
    return forwarded(product.function, "handle: cuBLAS says nothing about it"), false;
  product.pointer_mode =
      mode == CUBLAS_POINTER_MODE_HOST ? LADDER_POINTER_MODE_HOST : LADDER_POINTER_MODE_DEVICE;
  const int kind = math & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  if (kind == CUBLAS_TF32_TENSOR_OP_MATH || kind == CUBLAS_TENSOR_OP_MATH)
    return forwarded(product.function, "math mode: allows less than FP32"), false;
  if (kind == CUBLAS_FP32_EMULATED_BF16X9_MATH)
    return forwarded(product.function, "math mode: cuBLAS's emulation"), false;
  product.is_pedantic |= kind == CUBLAS_PEDANTIC_MATH;
  const auto workspace = ladder::interpose::workspace_of(handle);
  product.workspace = workspace.memory;
  product.workspace_bytes = workspace.bytes;
  return true;
}

// The product of every form, computed by libladder; none if the call is to be forwarded.
template <class T>
std::optional<cublasStatus_t> computed(cublasHandle_t handle, Product& product,
                                       cublasOperation_t op_a, cublasOperation_t op_b,
                                       std::int64_t m, std::int64_t n, std::int64_t k,
                                       const T* alpha, const std::type_identity_t<T>* a,
                                       std::int64_t lda, const std::type_identity_t<T>* b,
                                       std::int64_t ldb, const T* beta, std::type_identity_t<T>* c,
                                       std::int64_t ldc) {
  ladder_gemm_call& call = product.call;
  const auto is_known = [](cublasOperation_t op) {
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
  };
  if (!is_known(op_a) || !is_known(op_b))
    return forwarded(product.function, "transa, transb: neither N, T nor C"), std::nullopt;
  call.op_a = static_cast<ladder_op>(op_a);  // the same values
  call.op_b = static_cast<ladder_op>(op_b);
  static_assert(LADDER_OP_T == int{CUBLAS_OP_T} && LADDER_OP_C == int{CUBLAS_OP_C});
  call.m = m, call.n = n, call.k = k;
  call.alpha = static_cast<const float*>(alpha);
  call.beta = static_cast<const float*>(beta);
  call.a = static_cast<const float*>(a);
  call.b = static_cast<const float*>(b);
  call.c = static_cast<float*>(c);
  call.lda = lda, call.ldb = ldb, call.ldc = ldc;
  return ask_handle(handle, product) ? attempt(handle, product) : std::nullopt;
}

void set_batch(Product& product, std::int64_t count, long long a, long long b, long long c) {
  product.call.batch_count = count;
  product.call.stride_a = a;
  product.call.stride_b = b;
  product.call.stride_c = c;
}

// Whether the types and the compute type of an Ex function are FP32 throughout.
bool is_fp32(Product& product, cudaDataType a, cudaDataType b, cudaDataType c,
             cublasComputeType_t compute) {
  if (a != CUDA_R_32F || b != CUDA_R_32F || c != CUDA_R_32F)
    return forwarded(product.function, "types: not FP32"), false;
  product.is_pedantic = compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  if (compute == CUBLAS_COMPUTE_32F || product.is_pedantic) return true;
  return forwarded(product.function, "computeType: allows less than FP32"), false;
}

}  // namespace

// Each function: fills in the product, attempts it, or forwards the call.
#define FORWARD(name, ...)                                                    \
  static void* const next = ladder::interpose::next_address(#name, kLibrary); \
  return call(next, __VA_ARGS__)
#define OPERATION cublasOperation_t op_a, cublasOperation_t op_b
#define OPS op_a, op_b

#define COMPUTE(...)                                                                   \
  if (const auto status = computed(handle, product, op_a, op_b, m, n, k, __VA_ARGS__)) \
  return *status

#define SGEMM(name, Int)                                                                         \
  cublasStatus_t name(cublasHandle_t handle, OPERATION, Int m, Int n, Int k, const float* alpha, \
                      const float* a, Int lda, const float* b, Int ldb, const float* beta,       \
                      float* c, Int ldc) {                                                       \
    Product product(#name);                                                                      \
    COMPUTE(alpha, a, lda, b, ldb, beta, c, ldc);                                                \
    FORWARD(name, handle, OPS, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                    \
  }
#define SGEMM_STRIDED(name, Int)                                                                 \
  cublasStatus_t name(cublasHandle_t handle, OPERATION, Int m, Int n, Int k, const float* alpha, \
                      const float* a, Int lda, long long stride_a, const float* b, Int ldb,      \
                      long long stride_b, const float* beta, float* c, Int ldc,                  \
                      long long stride_c, Int count) {                                           \
    Product product(#name);                                                                      \
    set_batch(product, count, stride_a, stride_b, stride_c);                                     \
    COMPUTE(alpha, a, lda, b, ldb, beta, c, ldc);                                                \
    FORWARD(name, handle, OPS, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, \
            stride_c, count);                                                                    \
  }
#define SGEMM_POINTERS(name, Int)                                                                \
  cublasStatus_t name(cublasHandle_t handle, OPERATION, Int m, Int n, Int k, const float* alpha, \
                      const float* const a[], Int lda, const float* const b[], Int ldb,          \
                      const float* beta, float* const c[], Int ldc, Int count) {                 \
    Product product(#name);                                                                      \
    product.call.a_pointers = a, product.call.b_pointers = b, product.call.c_pointers = c;       \
    product.call.batch_count = count;                                                            \
    COMPUTE(alpha, nullptr, lda, nullptr, ldb, beta, nullptr, ldc);                              \
    FORWARD(name, handle, OPS, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count);             \
  }
#define GEMM_EX(name, Int)                                                                      \
  cublasStatus_t name(cublasHandle_t handle, OPERATION, Int m, Int n, Int k, const void* alpha, \
                      const void* a, cudaDataType type_a, Int lda, const void* b,               \
                      cudaDataType type_b, Int ldb, const void* beta, void* c,                  \
                      cudaDataType type_c, Int ldc, cublasComputeType_t compute,                \
                      cublasGemmAlgo_t algorithm) {                                             \
    Product product(#name);                                                                     \
    if (is_fp32(product, type_a, type_b, type_c, compute))                                      \
      COMPUTE(alpha, a, lda, b, ldb, beta, c, ldc);                                             \
    FORWARD(name, handle, OPS, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, \
            ldc, compute, algorithm);                                                           \
  }
#define GEMM_STRIDED_EX(name, Int)                                                                 \
  cublasStatus_t name(cublasHandle_t handle, OPERATION, Int m, Int n, Int k, const void* alpha,    \
                      const void* a, cudaDataType type_a, Int lda, long long stride_a,             \
                      const void* b, cudaDataType type_b, Int ldb, long long stride_b,             \
                      const void* beta, void* c, cudaDataType type_c, Int ldc, long long stride_c, \
                      Int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {        \
    Product product(#name);                                                                        \
    set_batch(product, count, stride_a, stride_b, stride_c);                                       \
    if (is_fp32(product, type_a, type_b, type_c, compute))                                         \
      COMPUTE(alpha, a, lda, b, ldb, beta, c, ldc);                                                \
    FORWARD(name, handle, OPS, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, \
            beta, c, type_c, ldc, stride_c, count, compute, algorithm);                            \
  }

extern "C" {

SGEMM(cublasSgemm_v2, int)
SGEMM(cublasSgemm_v2_64, std::int64_t)
SGEMM_STRIDED(cublasSgemmStridedBatched, int)
SGEMM_STRIDED(cublasSgemmStridedBatched_64, std::int64_t)
SGEMM_POINTERS(cublasSgemmBatched, int)
SGEMM_POINTERS(cublasSgemmBatched_64, std::int64_t)
GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, std::int64_t)
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, std::int64_t)

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  ladder::interpose::forget(handle);
  FORWARD(cublasDestroy_v2, handle);
}

// As in cuBLAS, a new stream ends the use of the workspace.
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  ladder::interpose::keep_workspace(handle, {});
  FORWARD(cublasSetStream_v2, handle, stream);
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* memory, std::size_t bytes) {
  const auto next_set = NEXT(cublasSetWorkspace_v2);
  if (next_set == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cublasStatus_t status = next_set(handle, memory, bytes);
  if (status == CUBLAS_STATUS_SUCCESS)
    ladder::interpose::keep_workspace(handle, {bytes > 0 ? memory : nullptr, bytes});
  return status;
}

}  // extern "C"
