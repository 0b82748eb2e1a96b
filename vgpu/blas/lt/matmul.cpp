// SPDX-License-Identifier: Apache-2.0
// cublasLtMatmul and the choice of its algorithm, of which there is one here.
#include <fmt/format.h>

#include <string>

#include "blas/lt/descriptors.hpp"
#include "blas/product.hpp"

namespace vgpu::blas::lt {
namespace {

constexpr const char* kName = "cublasLtMatmul";
constexpr float kZero[4] = {};

// A product of descriptors, or why there is none.
struct Described {
  Product product;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  std::string refused;  // what is not supported

  Described& refuse(std::string what) {
    if (status == CUBLAS_STATUS_SUCCESS) refused = std::move(what);
    status = CUBLAS_STATUS_NOT_SUPPORTED;
    return *this;
  }
};

// The type of a plane of a planar complex matrix; any other type stays.
cudaDataType plane_type(cudaDataType type) {
  switch (type) {
    case CUDA_C_16F: return CUDA_R_16F;
    case CUDA_C_16BF: return CUDA_R_16BF;
    case CUDA_C_32F: return CUDA_R_32F;
    default: return type;
  }
}

Scales scales_of(std::int32_t mode) {
  switch (mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F: return Scales::kOuter;
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F: return Scales::kOf128;
    case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F: return Scales::kOf128x128;
    default: return Scales::kOne;
  }
}

Operand operand_of(const Layout& layout, const void* scale, std::int32_t scale_mode) {
  const auto type = static_cast<cudaDataType>(layout.type);
  return {nullptr,
          layout.plane_offset != 0 ? plane_type(type) : type,
          layout.ld,
          layout.stride,
          layout.batch_mode != CUBLASLT_BATCH_MODE_STRIDED,
          layout.order == CUBLASLT_ORDER_ROW,
          scale,
          scales_of(scale_mode),
          layout.plane_offset};
}

bool has_shape(const Layout& layout, std::int64_t op, std::int64_t rows, std::int64_t columns) {
  const auto first = static_cast<std::int64_t>(layout.rows);
  const auto second = static_cast<std::int64_t>(layout.columns);
  return op == CUBLAS_OP_N ? first == rows && second == columns
                           : first == columns && second == rows;
}

cudaDataType bias_type_of(const Matmul& matmul, const Product& p) {
  if (matmul.bias_type >= 0) return static_cast<cudaDataType>(matmul.bias_type);
  if (is_fp8(p.d.type)) return p.c.type;
  if (is_fp8(p.a.type) && p.d.type == CUDA_R_32F) return CUDA_R_16BF;
  return p.d.type == CUDA_R_8I ? CUDA_R_32F : p.d.type;
}

Epilogue epilogue_of(const Matmul& matmul, const Product& p) {
  Epilogue e;
  e.kind = matmul.epilogue;
  e.bias = matmul.bias;
  e.bias_type = bias_type_of(matmul, p);
  e.bias_stride = matmul.bias_stride;
  e.aux = matmul.aux;
  e.aux_type = matmul.aux_type >= 0 ? static_cast<cudaDataType>(matmul.aux_type) : p.d.type;
  e.aux_ld = matmul.aux_ld;
  e.aux_stride = matmul.aux_stride;
  e.largest = matmul.largest_d;
  return e;
}

// The documented restrictions of epilogues; "" if they hold.
std::string unsupported_epilogue(const Product& p) {
  const Epilogue& e = p.epilogue;
  if (e.is_default()) return "";
  if (is_complex(p.d.type) || p.d.is_planar()) return "an epilogue of complex numbers";
  if (p.a.type == CUDA_R_8I) return "an epilogue of integers";
  if (p.d.row_major && e.has_activation() && (e.has_aux() || e.reads_bias() || e.writes_bias()))
    return "ReLU or GELU with a bias or an auxiliary matrix where D is row-major";
  return "";
}

// The type of the auxiliary matrix may differ from D's only behind GELU of fp8 operands.
bool aux_type_fits(const Matmul& matmul, const Product& p) {
  if (matmul.aux_type < 0 || matmul.aux_type == p.d.type) return true;
  const auto type = static_cast<cudaDataType>(matmul.aux_type);
  const bool fp8 = p.a.type == CUDA_R_8F_E4M3 && p.b.type == CUDA_R_8F_E4M3 &&
                   p.d.type == CUDA_R_8F_E4M3 && p.epilogue.bias_type == CUDA_R_16F &&
                   p.epilogue.kind == CUBLASLT_EPILOGUE_GELU_AUX;
  return fp8 && type == p.c.type && (type == CUDA_R_16F || type == CUDA_R_16BF);
}

bool is_scaled_without_fp8(const Operand& x) { return x.scale != nullptr && !is_fp8(x.type); }

// Scales are those of fp8 matrices. cuBLASLt takes one of a wider C beside fp8 operands, too; what
// it does with it is not documented.
bool scales_fit(const Product& p) {
  return !is_scaled_without_fp8(p.a) && !is_scaled_without_fp8(p.b) &&
         !is_scaled_without_fp8(p.d) && (!is_scaled_without_fp8(p.c) || is_fp8(p.a.type));
}

int compute_capability() {
  int device = 0, major = 0, minor = 0;
  const bool known =
      cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess;
  return known ? major * 10 + minor : 0;
}

// Why the scales of A and B are not supported; "" if they are. Hopper has one scale per matrix, per
// outer vector of both, per 128 elements of both, or per 128 elements of one and per 128 x 128 of
// the other.
std::string unsupported_scales(const Matmul& matmul, const Product& p) {
  const std::int32_t a = matmul.a_scale_mode, b = matmul.b_scale_mode;
  for (const int mode : {matmul.c_scale_mode, matmul.d_scale_mode, matmul.aux_scale_mode}) {
    if (mode != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) return fmt::format("scale mode {}", mode);
  }
  if (a == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F && b == a) return "";
  const bool outer = p.a.scales == Scales::kOuter && p.b.scales == Scales::kOuter;
  const bool blocks = (p.a.scales == Scales::kOf128 &&
                       (p.b.scales == Scales::kOf128 || p.b.scales == Scales::kOf128x128)) ||
                      (p.a.scales == Scales::kOf128x128 && p.b.scales == Scales::kOf128);
  if ((!outer && !blocks) || p.batch != 1 || is_fp8(p.d.type) || compute_capability() != 90)
    return fmt::format("scale modes {} and {} of A and B with this device, batch or type of D", a,
                       b);
  return "";
}

// What a descriptor asks for that this library does not have; "" if nothing.
std::string unsupported(const Matmul& matmul, const Product& p) {
  if (matmul.op_c != CUBLAS_OP_N) return "CUBLASLT_MATMUL_DESC_TRANSC";
  if (matmul.fill != CUBLAS_FILL_MODE_FULL) return "CUBLASLT_MATMUL_DESC_FILL_MODE";
  if (matmul.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
    return "CUBLASLT_POINTER_MODE_DEVICE_VECTOR";
  if (matmul.alpha_stride != 0) return "CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE";
  if (matmul.aux_scale != nullptr || matmul.aux_largest != nullptr)
    return "a scale or a largest magnitude of the auxiliary matrix";
  if (matmul.d_out_scale != nullptr || matmul.d_out_scale_mode != 0)
    return "CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER";
  if (std::string what = unsupported_scales(matmul, p); !what.empty()) return what;
  if (!is_known(p.epilogue)) return fmt::format("epilogue {}", matmul.epilogue);
  return unsupported_epilogue(p);
}

bool is_order(const Layout& layout) {
  return layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW;
}

// The rule of Ada and Hopper: A is transposed and B is not, and sizes are multiples of 16.
bool fits_fp8(const Product& p) {
  return p.op_a == CUBLAS_OP_T && p.op_b == CUBLAS_OP_N && p.m % 16 == 0 && p.k % 16 == 0 &&
         p.a.ld % 16 == 0 && p.b.ld % 16 == 0 && !p.a.row_major && !p.b.row_major && !p.d.row_major;
}

bool has_fp8() { return compute_capability() >= 89; }

// Scales of parts of a matrix must be given.
bool has_scales(const Operand& x) { return x.scales == Scales::kOne || x.scale != nullptr; }

Described describe(cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a_layout,
                   cublasLtMatrixLayout_t b_layout, cublasLtMatrixLayout_t c_layout,
                   cublasLtMatrixLayout_t d_layout) {
  Described described;
  if (operation == nullptr || a_layout == nullptr || b_layout == nullptr || c_layout == nullptr ||
      d_layout == nullptr) {
    described.status = CUBLAS_STATUS_INVALID_VALUE;
    return described;
  }
  const Matmul& matmul = matmul_of(operation);
  const Layout &a = layout_of(a_layout), &b = layout_of(b_layout), &c = layout_of(c_layout),
               &d = layout_of(d_layout);
  Product& p = described.product;
  p.function = kName;
  p.op_a = static_cast<cublasOperation_t>(matmul.op_a);
  p.op_b = static_cast<cublasOperation_t>(matmul.op_b);
  p.m = static_cast<std::int64_t>(d.rows);
  p.n = static_cast<std::int64_t>(d.columns);
  p.k = static_cast<std::int64_t>(p.op_a == CUBLAS_OP_N ? a.columns : a.rows);
  p.batch = d.batch;
  p.a = operand_of(a, matmul.a_scale, matmul.a_scale_mode);
  p.b = operand_of(b, matmul.b_scale, matmul.b_scale_mode);
  p.c = operand_of(c, matmul.c_scale, matmul.c_scale_mode);
  p.d = operand_of(d, matmul.d_scale, matmul.d_scale_mode);
  if (matmul.emulation != nullptr) p.mantissa_bits = emulation_of(matmul.emulation).kept_bits;
  p.compute = static_cast<cublasComputeType_t>(matmul.compute);
  p.scale_type = static_cast<cudaDataType>(matmul.scale_type);
  p.epilogue = epilogue_of(matmul, p);
  p.repeats_c = true;
  for (const Operand* const x : {&p.a, &p.b, &p.c, &p.d}) {
    if (x->type == CUDA_R_4F_E2M1) return described.refuse("CUDA_R_4F_E2M1");
  }
  const bool fit = has_shape(a, p.op_a, p.m, p.k) && has_shape(b, p.op_b, p.k, p.n) &&
                   has_shape(c, CUBLAS_OP_N, p.m, p.n) && c.order == d.order &&
                   a.batch == d.batch && b.batch == d.batch && c.batch == d.batch &&
                   aux_type_fits(matmul, p) && scales_fit(p) && has_scales(p.a) && has_scales(p.b);
  if (!fit) {
    described.status = CUBLAS_STATUS_INVALID_VALUE;
    return described;
  }
  if (!is_order(a) || !is_order(b) || !is_order(c) || !is_order(d))
    return described.refuse("an order that is neither of columns nor of rows");
  if (std::string what = unsupported(matmul, p); !what.empty()) return described.refuse(what);
  if (!is_known(p))
    return described.refuse(
        fmt::format("cudaDataType {}, {}, {}, {} with compute type {} and scale type {}", a.type,
                    b.type, c.type, d.type, matmul.compute, matmul.scale_type));
  if (!is_aligned(p))
    return described.refuse("8-bit integers, but for leading dimensions that are multiples of 4");
  if (is_fp8(p.a.type) && (!has_fp8() || !fits_fp8(p)))
    return described.refuse(
        "fp8 but for A transposed, B not, m, k and leading dimensions of a "
        "multiple of 16, on a device of 8.9 or later");
  return described;
}

bool epilogue_is_whole(const Product& p) {
  const Epilogue& e = p.epilogue;
  const std::int64_t last = p.batch - 1;
  if (e.reads_bias() || e.writes_bias()) {
    const std::int64_t length = e.bias_length(p.m, p.n) + last * e.bias_stride;
    if (e.bias == nullptr || bytes_of(e.bias_type) == 0 || !on_device(e.bias, length, e.bias_type))
      return false;
  }
  if (e.has_aux()) {
    const std::int64_t elements = (p.n - 1) * e.aux_ld + p.m + last * e.aux_stride;
    const std::int64_t unit = e.has_mask() ? 128 : 8;
    if (e.aux == nullptr || e.aux_ld < p.m || e.aux_ld % unit != 0 || e.aux_stride % unit != 0)
      return false;
    if (e.has_mask() ? !on_device(e.aux, (elements + 7) / 8, CUDA_R_8I)
                     : bytes_of(e.aux_type) == 0 || !on_device(e.aux, elements, e.aux_type))
      return false;
  }
  for (const void* scale : {p.c.scale, p.d.scale, static_cast<const void*>(e.largest),
                            static_cast<const void*>(p.mantissa_bits)}) {
    if (scale != nullptr && !on_device(scale, 1, CUDA_R_32F)) return false;
  }
  const auto has = [&](const Operand& x, std::int64_t outer) {
    return x.scale == nullptr || on_device(x.scale, scale_count(x, outer, p.k), CUDA_R_32F);
  };
  return has(p.a, p.m) && has(p.b, p.n);
}

void set_scalars(Product& p, int mode, const void* alpha, const void* beta) {
  const bool vector = mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO ||
                      mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST;
  const bool device = mode == CUBLASLT_POINTER_MODE_DEVICE;
  if (vector)
    p.alphas = alpha;
  else
    p.alpha = {alpha, p.scale_type, device};
  const bool zero = mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
  p.beta = {zero ? kZero : beta, p.scale_type, device};
}

void fill(cublasLtMatmulHeuristicResult_t& result) {
  result = {};
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  put(Algorithm{}, result.algo);
}

}  // namespace
}  // namespace vgpu::blas::lt

using namespace vgpu::blas::lt;  // NOLINT: the entry points are cuBLASLt's own names

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t*, void*,
                              size_t, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  Described described = describe(operation, a_layout, b_layout, c_layout, d_layout);
  if (!described.refused.empty()) return vgpu::blas::refuse(kName, described.refused);
  if (described.status != CUBLAS_STATUS_SUCCESS) return described.status;
  vgpu::blas::Product& p = described.product;
  p.a.data = a;
  p.b.data = b;
  p.c.data = c;
  p.d.data = d;
  set_scalars(p, matmul_of(operation).pointer_mode, alpha, beta);
  if (is_scaled_without_fp8(p.c)) {
    if (p.beta.on_device() || !p.beta.valid() || p.beta.value<float>() != 0.0F)
      return vgpu::blas::refuse(kName, "a scale of a C that is not fp8, with beta");
    p.c.scale = nullptr;
  }
  if (p.alphas != nullptr && !vgpu::blas::on_device(p.alphas, p.m, p.scale_type))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m != 0 && p.n != 0 && p.batch != 0 && !epilogue_is_whole(p))
    return CUBLAS_STATUS_INVALID_VALUE;
  return vgpu::blas::run(stream, p);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* returned) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (preference == nullptr || requested < 1 || results == nullptr || returned == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  *returned = 0;
  const Described described = describe(operation, a, b, c, d);
  if (!described.refused.empty()) return vgpu::blas::refuse_once(__func__, described.refused);
  if (described.status != CUBLAS_STATUS_SUCCESS) return described.status;
  fill(results[0]);
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (algorithm == nullptr || result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const Described described = describe(operation, a, b, c, d);
  if (described.status == CUBLAS_STATUS_SUCCESS) fill(*result);
  return described.status;
}
