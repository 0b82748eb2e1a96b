// SPDX-License-Identifier: Apache-2.0
// The stand-in for cuBLASLt against products in double precision: scales of parts of fp8 matrices,
// planar complex matrices and emulated double precision, on random sizes.
#include <cublasLt.h>

#include <complex>

#include "blas_matrix.hpp"

namespace {

constexpr double kSingle = 0x1p-24;

class Product {
 public:
  Product(cublasComputeType_t compute, cudaDataType scale, cublasOperation_t op_a,
          cublasOperation_t op_b) {
    ok(cublasLtMatmulDescCreate(&desc_, compute, scale));
    set(CUBLASLT_MATMUL_DESC_TRANSA, op_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, op_b);
  }
  ~Product() {
    for (const auto layout : layouts_) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(desc_);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ok(cublasLtMatmulDescSetAttribute(desc_, attribute, &value, sizeof value));
  }
  // `plane_offset`: 0, or of a planar complex matrix.
  cublasLtMatrixLayout_t layout(const Matrix& matrix, cudaDataType type,
                                std::int64_t plane_offset = 0) {
    cublasLtMatrixLayout_t made = nullptr;
    ok(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(matrix.rows),
                                  static_cast<std::uint64_t>(matrix.columns), matrix.ld));
    ok(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, &plane_offset,
                                        sizeof plane_offset));
    layouts_.push_back(made);
    return made;
  }
  cublasStatus_t run(cublasLtHandle_t handle, const void* alpha, const Matrix& a, const Matrix& b,
                     const void* beta, const Matrix& d) {
    return cublasLtMatmul(handle, desc_, alpha, a.device, layouts_[0], b.device, layouts_[1], beta,
                          d.device, layouts_[2], d.device, layouts_[2], nullptr, nullptr, 0,
                          nullptr);
  }

 private:
  cublasLtMatmulDesc_t desc_ = nullptr;
  std::vector<cublasLtMatrixLayout_t> layouts_;
};

// Floats in device memory, as many as the form of scales has for a matrix.
struct ScaleFactors {
  cublasLtMatmulMatrixScale_t mode;
  long outers, k;
  std::vector<float> host;
  float* device = nullptr;

  ScaleFactors(cublasLtMatmulMatrixScale_t of, long outer, long inner)
      : mode(of), outers(outer), k(inner) {
    const long blocks = (k + 127) / 128;
    long count = outers;
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F) count = outers * blocks;
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F)
      count = (outers + 127) / 128 * ((blocks + 3) / 4 * 4);
    for (long i = 0; i < count; ++i)
      host.push_back(static_cast<float>(std::ldexp(1.5 + uniform(), any(-3, 3))));
    device = upload(host);
  }
  ~ScaleFactors() { cudaFree(device); }
  ScaleFactors(const ScaleFactors&) = delete;
  ScaleFactors& operator=(const ScaleFactors&) = delete;

  double of(long outer, long inner) const {
    const long stride = ((k + 127) / 128 + 3) / 4 * 4;
    long at = outer;
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F) at = inner / 128 * outers + outer;
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F)
      at = outer / 128 * stride + inner / 128;
    return host[static_cast<std::size_t>(at)];
  }
};

void check_scales(cublasLtHandle_t handle, cublasLtMatmulMatrixScale_t mode_a,
                  cublasLtMatmulMatrixScale_t mode_b) {
  const long m = any(1, 20) * 16, n = any(1, 20) * 16, k = any(1, 40) * 16;
  Matrix a(kE4, k, m, 16), b(kE4, k, n, 16), d(k16B, m, n, 16);
  a.fill(), b.fill(), d.fill();
  const ScaleFactors of_a(mode_a, m, k), of_b(mode_b, n, k);
  Product product(CUBLAS_COMPUTE_32F, k32F, CUBLAS_OP_T, CUBLAS_OP_N);
  product.set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode_a);
  product.set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode_b);
  product.set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, static_cast<const void*>(of_a.device));
  for (const Matrix* matrix : {&a, &b, &d}) product.layout(*matrix, matrix->type);
  const float alpha = 1.5F, beta = 0.5F;
  if (on_virtual_gpu()) {
    require(product.run(handle, &alpha, a, b, &beta, d) == CUBLAS_STATUS_INVALID_VALUE,
            "scales of B without a pointer");
  }
  product.set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, static_cast<const void*>(of_b.device));
  const std::string what =
      "scale modes " + std::to_string(mode_a) + " and " + std::to_string(mode_b);
  Exact x(m, n);
  for (long j = 0; j < n; ++j) {
    for (long i = 0; i < m; ++i) {
      double sum = 0, magnitude = 0;
      for (long l = 0; l < k; ++l) {
        const double term = a.value(0, l, i) * of_a.of(i, l) * b.value(0, l, j) * of_b.of(j, l);
        sum += term;
        magnitude += std::abs(term);
      }
      const double added = beta * d.value(0, i, j);
      x.v(i, j) = alpha * sum + added;
      const double unit = on_virtual_gpu() ? kSingle : 0x1p-14;
      x.e(i, j) = static_cast<double>(k + 8) * unit * (alpha * magnitude + std::abs(added));
    }
  }
  ok(product.run(handle, &alpha, a, b, &beta, d), what);
  require(cudaDeviceSynchronize(), what.c_str());
  take(d, what);
  require(is_near(d, 0, x), what.c_str());
}

std::complex<double> planar(const Matrix& matrix, cublasOperation_t o, long i, long j) {
  const std::complex<double> value(op(matrix, o, 0, i, j), op(matrix, o, 1, i, j));
  return o == CUBLAS_OP_C ? std::conj(value) : value;
}

// The planes are two entries of a batch, as far as the test's matrices are concerned.
void check_planar(cublasLtHandle_t handle, cudaDataType in, cudaDataType out, cudaDataType c_in,
                  cudaDataType c_out) {
  const long m = any(1, 8) * 8, n = any(1, 8) * 8, k = any(1, 8) * 8;
  constexpr cublasOperation_t kOps[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
  const auto op_a = kOps[any(0, 2)], op_b = kOps[any(0, 2)];
  Matrix a = operand(in, op_a, m, k, 8, 2, false), b = operand(in, op_b, k, n, 8, 2, false),
         d(out, m, n, 8, 2);
  a.fill(), b.fill(), d.fill();
  Product product(CUBLAS_COMPUTE_32F, CUDA_C_32F, op_a, op_b);
  for (const Matrix* matrix : {&a, &b, &d}) {
    product.layout(*matrix, matrix == &d ? c_out : c_in,
                   matrix->stride * format_of(matrix->type).bytes);
  }
  const std::complex<float> alpha(0.5F, -1), beta(1, 0.25F);
  Exact x[] = {{m, n}, {m, n}};
  for (long j = 0; j < n; ++j) {
    for (long i = 0; i < m; ++i) {
      std::complex<double> sum = 0;
      double magnitude = 0;
      for (long l = 0; l < k; ++l) {
        const std::complex<double> u = planar(a, op_a, i, l), v = planar(b, op_b, l, j);
        sum += u * v;
        magnitude += std::abs(u) * std::abs(v);
      }
      const std::complex<double> old = planar(d, CUBLAS_OP_N, i, j),
                                 want = std::complex<double>(alpha) * sum +
                                        std::complex<double>(beta) * old;
      const double bound = static_cast<double>(4 * k + 16) * kSingle *
                           (std::abs(alpha) * magnitude + std::abs(beta) * std::abs(old));
      x[0].v(i, j) = want.real();
      x[1].v(i, j) = want.imag();
      x[0].e(i, j) = x[1].e(i, j) = bound;
    }
  }
  const std::string what =
      "planar complex, types " + std::to_string(in) + " to " + std::to_string(out);
  ok(product.run(handle, &alpha, a, b, &beta, d), what);
  require(cudaDeviceSynchronize(), what.c_str());
  take(d, what);
  for (long plane = 0; plane < 2; ++plane) require(is_near(d, plane, x[plane]), what.c_str());
}

void check_emulation(cublasLtHandle_t handle) {
  cublasLtEmulationDesc_t emulation = nullptr;
  ok(cublasLtEmulationDescCreate(&emulation), "an emulation's descriptor");
  std::int32_t value = 0;
  std::size_t written = 0;
  ok(cublasLtEmulationDescGetAttribute(emulation, CUBLASLT_EMULATION_DESC_SPECIAL_VALUES_SUPPORT,
                                       &value, sizeof value, &written),
     "an emulation's attribute");
  require(value == 0xffff && written == sizeof value, "the default of special values");
  std::int32_t* kept = nullptr;
  require(cudaMalloc(&kept, sizeof *kept));
  const std::int32_t bits = 55;
  ok(cublasLtEmulationDescSetAttribute(
         emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MAX_MANTISSA_BIT_COUNT, &bits, sizeof bits),
     "mantissa bits");
  ok(cublasLtEmulationDescSetAttribute(
         emulation, CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER, &kept,
         sizeof kept),
     "a pointer to mantissa bits");
  const Case t{k64F, k64F, k64F, k64F, CUBLAS_COMPUTE_64F, k64F, 0};
  const long m = any(1, 40), n = any(1, 40), k = any(1, 50);
  Matrix a(k64F, m, k), b(k64F, k, n), d(k64F, m, n);
  a.fill(), b.fill(), d.fill();
  Product product(CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, k64F, CUBLAS_OP_N, CUBLAS_OP_N);
  product.set(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, emulation);
  for (const Matrix* matrix : {&a, &b, &d}) product.layout(*matrix, k64F);
  const double alpha = 0.75, beta = -1;
  Exact x = exact(t, CUBLAS_OP_N, CUBLAS_OP_N, a, b, d, alpha, beta, 0);
  ok(product.run(handle, &alpha, a, b, &beta, d), "emulated double precision");
  require(cudaDeviceSynchronize(), "emulated double precision");
  take(d, "emulated double precision");
  require(is_near(d, 0, x), "emulated double precision");
  require(cudaMemcpy(&value, kept, sizeof value, cudaMemcpyDeviceToHost));
  require(!on_virtual_gpu() || value == -1, "nothing is emulated");
  require(cudaFree(kept));
  ok(cublasLtEmulationDescDestroy(emulation));
}

}  // namespace

int main() {
  cublasLtHandle_t handle = nullptr;
  ok(cublasLtCreate(&handle));
  constexpr auto kOuter = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F,
                 kVector = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
                 kBlock = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
  for (int round = 0; round < 3; ++round) {
    check_scales(handle, kOuter, kOuter);
    check_scales(handle, kVector, kBlock);
    check_scales(handle, kBlock, kVector);
    check_scales(handle, kVector, kVector);
    check_planar(handle, k16F, k16F, CUDA_C_16F, CUDA_C_16F);
    check_planar(handle, k16B, k16B, CUDA_C_16BF, CUDA_C_16BF);
    check_emulation(handle);
  }
  ok(cublasLtDestroy(handle));
}
