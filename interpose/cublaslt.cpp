// SPDX-License-Identifier: Apache-2.0
// cublasLtMatmul in FP32 by libladder.
#include <cublasLt.h>

#include "cublas_calls.hpp"

namespace {

using ladder::interpose::attempt;
using ladder::interpose::Product;

constexpr const char* kFunction = "cublasLtMatmul";

#define NEXT(name) LADDER_NEXT(name, "libcublasLt.so")

template <class T>
bool get(cublasLtMatmulDesc_t of, cublasLtMatmulDescAttributes_t which, T& value) {
  const auto next = NEXT(cublasLtMatmulDescGetAttribute);
  std::size_t written = 0;
  return next != nullptr &&
         next(of, which, &value, sizeof value, &written) == CUBLAS_STATUS_SUCCESS;
}
template <class T>
bool get(cublasLtMatrixLayout_t of, cublasLtMatrixLayoutAttribute_t which, T& value) {
  const auto next = NEXT(cublasLtMatrixLayoutGetAttribute);
  std::size_t written = 0;
  return next != nullptr &&
         next(of, which, &value, sizeof value, &written) == CUBLAS_STATUS_SUCCESS;
}

struct Layout {
  std::uint32_t type = 0;
  std::int32_t order = 0, count = 0;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t ld = 0, stride = 0;
  bool operator==(const Layout&) const = default;
};

bool read(cublasLtMatrixLayout_t of, Layout& x) {
  return of != nullptr && get(of, CUBLASLT_MATRIX_LAYOUT_TYPE, x.type) &&
         get(of, CUBLASLT_MATRIX_LAYOUT_ORDER, x.order) &&
         get(of, CUBLASLT_MATRIX_LAYOUT_ROWS, x.rows) &&
         get(of, CUBLASLT_MATRIX_LAYOUT_COLS, x.cols) && get(of, CUBLASLT_MATRIX_LAYOUT_LD, x.ld) &&
         get(of, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, x.count) &&
         get(of, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, x.stride);
}

// Attributes that change the result and that libladder does not have. They are zero by default.
bool has_more(cublasLtMatmulDesc_t of) {
  for (const auto pointer :
       {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
        CUBLASLT_MATMUL_DESC_AMAX_D_POINTER}) {
    const void* value = nullptr;
    if (get(of, pointer, value) && value != nullptr) return true;
  }
  return false;
}

// Why the epilogue is left to cuBLASLt; null if it is libladder's. cuBLASLt's GELU is the one by
// tanh.
const char* set_epilogue(cublasLtMatmulDesc_t of, ladder_epilogue& epilogue) {
  std::uint32_t kind = 0;
  if (!get(of, CUBLASLT_MATMUL_DESC_EPILOGUE, kind)) return "epilogue: unknown";
  const bool has_bias = (kind & CUBLASLT_EPILOGUE_BIAS) != 0;
  switch (kind & ~static_cast<std::uint32_t>(CUBLASLT_EPILOGUE_BIAS)) {
    case 0:
    case CUBLASLT_EPILOGUE_DEFAULT: break;
    case CUBLASLT_EPILOGUE_RELU: epilogue.activation = LADDER_ACTIVATION_RELU; break;
    case CUBLASLT_EPILOGUE_GELU: epilogue.activation = LADDER_ACTIVATION_GELU_TANH; break;
    default: return "epilogue: not one of libladder's";
  }
  if (!has_bias) return nullptr;
  std::int32_t type = -1;  // by default that of D
  if (get(of, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type) && type != -1 && type != CUDA_R_32F)
    return "epilogue: a bias that is not FP32";
  epilogue.bias_kind = LADDER_BIAS_PER_ROW;
  if (!get(of, CUBLASLT_MATMUL_DESC_BIAS_POINTER, epilogue.bias) ||
      !get(of, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, epilogue.bias_stride))
    return "epilogue: unknown";
  return nullptr;
}

// Fills in the product. Why the call is to be forwarded; null if it is not.
const char* describe(cublasLtMatmulDesc_t of, const Layout& a, const Layout& b, const Layout& d,
                     Product& product) {
  std::int32_t compute = 0, scale = 0, pointer_mode = 0, op_a = 0, op_b = 0;
  if (!get(of, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute) ||
      !get(of, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale) ||
      !get(of, CUBLASLT_MATMUL_DESC_POINTER_MODE, pointer_mode) ||
      !get(of, CUBLASLT_MATMUL_DESC_TRANSA, op_a) || !get(of, CUBLASLT_MATMUL_DESC_TRANSB, op_b))
    return "computeDesc: unknown";
  if (a.type != CUDA_R_32F || b.type != CUDA_R_32F || d.type != CUDA_R_32F || scale != CUDA_R_32F)
    return "types: not FP32";
  product.is_pedantic = compute == CUBLAS_COMPUTE_32F_PEDANTIC;
  if (compute != CUBLAS_COMPUTE_32F && !product.is_pedantic)
    return "computeType: allows less than FP32";
  if (pointer_mode != CUBLASLT_POINTER_MODE_HOST && pointer_mode != CUBLASLT_POINTER_MODE_DEVICE)
    return "pointer mode: a vector of alpha";
  product.pointer_mode = pointer_mode == CUBLASLT_POINTER_MODE_HOST ? LADDER_POINTER_MODE_HOST
                                                                    : LADDER_POINTER_MODE_DEVICE;
  const bool columns = a.order == CUBLASLT_ORDER_COL;
  if (a.order != b.order || a.order != d.order || (!columns && a.order != CUBLASLT_ORDER_ROW))
    return "order: not all by columns or all by rows";
  if (a.count != d.count || b.count != d.count) return "batch: counts differ";
  if (has_more(of)) return "computeDesc: scales or a maximum of operands";
  ladder_gemm_call& call = product.call;
  if (const char* const why = set_epilogue(of, call.epilogue)) return why;
  call.layout = columns ? LADDER_COL_MAJOR : LADDER_ROW_MAJOR;
  if (op_a < CUBLAS_OP_N || op_a > CUBLAS_OP_C || op_b < CUBLAS_OP_N || op_b > CUBLAS_OP_C)
    return "transa, transb: neither N, T nor C";
  call.op_a = static_cast<ladder_op>(op_a);
  call.op_b = static_cast<ladder_op>(op_b);
  call.m = static_cast<std::int64_t>(d.rows);
  call.n = static_cast<std::int64_t>(d.cols);
  const auto rows_of = [](const Layout& x, int op) { return op == CUBLAS_OP_N ? x.rows : x.cols; };
  const auto cols_of = [](const Layout& x, int op) { return op == CUBLAS_OP_N ? x.cols : x.rows; };
  call.k = static_cast<std::int64_t>(cols_of(a, op_a));
  if (rows_of(a, op_a) != d.rows || cols_of(b, op_b) != d.cols ||
      rows_of(b, op_b) != cols_of(a, op_a))
    return "layouts: sizes differ";
  call.lda = a.ld;
  call.ldb = b.ld;
  call.ldc = d.ld;
  call.batch_count = d.count;
  call.stride_a = a.stride;
  call.stride_b = b.stride;
  call.stride_c = d.stride;
  return nullptr;
}

}  // namespace

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                         const void* alpha, const void* a,
                                         cublasLtMatrixLayout_t a_layout, const void* b,
                                         cublasLtMatrixLayout_t b_layout, const void* beta,
                                         const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                         cublasLtMatrixLayout_t d_layout,
                                         const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                                         size_t workspace_bytes, cudaStream_t stream) {
  Product product(kFunction);
  Layout of_a, of_b, of_c, of_d;
  const char* why = "layouts: unknown";
  if (operation != nullptr && read(a_layout, of_a) && read(b_layout, of_b) &&
      read(c_layout, of_c) && read(d_layout, of_d))
    why = describe(operation, of_a, of_b, of_d, product);
  if (why == nullptr && (c != d || !(of_c == of_d))) {
    // then C is read from elsewhere, unless beta is 0
    const bool unread = product.pointer_mode == LADDER_POINTER_MODE_HOST && beta != nullptr &&
                        *static_cast<const float*>(beta) == 0.0F;
    if (!unread) why = "C: is not D";
  }
  if (why == nullptr) {
    product.call.alpha = static_cast<const float*>(alpha);
    product.call.beta = static_cast<const float*>(beta);
    product.call.a = static_cast<const float*>(a);
    product.call.b = static_cast<const float*>(b);
    product.call.c = static_cast<float*>(d);
    product.stream = stream;
    product.workspace = workspace_bytes > 0 ? workspace : nullptr;
    product.workspace_bytes = product.workspace == nullptr ? 0 : workspace_bytes;
    if (const auto status = attempt(nullptr, product)) return *status;
  } else {
    ladder::interpose::forwarded(kFunction, why);
  }
  const auto next = NEXT(cublasLtMatmul);
  if (next == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const ladder::interpose::Forwarding within;
  return next(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
              algorithm, workspace, workspace_bytes, stream);
}
