// SPDX-License-Identifier: Apache-2.0
// Matrices of cuBLAS's types on host and device, and their products in double precision with bounds
// of the errors that follow from the roundings.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "blas.hpp"

namespace {

// A type's bytes, its unit roundoff and half of its least subnormal number.
struct Format {
  int bytes;
  double unit, least;
};
Format format_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F: return {8, std::ldexp(1, -53), 0};
    case CUDA_R_16F: return {2, std::ldexp(1, -11), std::ldexp(1, -25)};
    case CUDA_R_16BF: return {2, std::ldexp(1, -8), 0};
    case CUDA_R_8F_E4M3: return {1, std::ldexp(1, -4), std::ldexp(1, -10)};
    case CUDA_R_8F_E5M2: return {1, std::ldexp(1, -3), std::ldexp(1, -17)};
    case CUDA_R_8I: return {1, 0, 0.5};
    case CUDA_R_32I: return {4, 0, 0};
    default: return {4, std::ldexp(1, -24), 0};
  }
}

bool is_integer(cudaDataType type) { return type == CUDA_R_8I || type == CUDA_R_32I; }

void put(cudaDataType type, void* data, long i, double value) {
  switch (type) {
    case CUDA_R_64F: static_cast<double*>(data)[i] = value; break;
    case CUDA_R_16F: static_cast<__half*>(data)[i] = __double2half(value); break;
    case CUDA_R_16BF: static_cast<__nv_bfloat16*>(data)[i] = __double2bfloat16(value); break;
    case CUDA_R_8F_E4M3: static_cast<__nv_fp8_e4m3*>(data)[i] = __nv_fp8_e4m3(value); break;
    case CUDA_R_8F_E5M2: static_cast<__nv_fp8_e5m2*>(data)[i] = __nv_fp8_e5m2(value); break;
    case CUDA_R_8I: static_cast<signed char*>(data)[i] = static_cast<signed char>(value); break;
    case CUDA_R_32I: static_cast<int*>(data)[i] = static_cast<int>(value); break;
    default: static_cast<float*>(data)[i] = static_cast<float>(value);
  }
}

double get(cudaDataType type, const void* data, long i) {
  switch (type) {
    case CUDA_R_64F: return static_cast<const double*>(data)[i];
    case CUDA_R_16F: return __half2float(static_cast<const __half*>(data)[i]);
    case CUDA_R_16BF: return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
    case CUDA_R_8F_E4M3: return static_cast<float>(static_cast<const __nv_fp8_e4m3*>(data)[i]);
    case CUDA_R_8F_E5M2: return static_cast<float>(static_cast<const __nv_fp8_e5m2*>(data)[i]);
    case CUDA_R_8I: return static_cast<const signed char*>(data)[i];
    case CUDA_R_32I: return static_cast<const int*>(data)[i];
    default: return static_cast<const float*>(data)[i];
  }
}

// A stored matrix, `batch` times, on host and device. Padding holds bytes of 0xff, which are NaN.
struct Matrix {
  cudaDataType type = CUDA_R_32F;
  long rows = 0, columns = 0, ld = 0, stride = 0, batch = 1;
  bool row_major = false;
  std::vector<unsigned char> host;
  void* device = nullptr;

  Matrix(cudaDataType of, long m, long n, long ld_unit = 1, long count = 1, bool by_rows = false)
      : type(of), rows(m), columns(n), batch(count), row_major(by_rows) {
    ld = ((row_major ? n : m) + ld_unit - 1) / ld_unit * ld_unit + any(0, 3) * ld_unit;
    stride = ld * (row_major ? m : n) + any(0, 2) * ld_unit * 16;
    host.assign(static_cast<std::size_t>(bytes()), 0xff);
    require(cudaMalloc(&device, host.size()));
  }
  ~Matrix() { cudaFree(device); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  long bytes() const { return batch * stride * format_of(type).bytes; }
  long at(long entry, long i, long j) const {
    return entry * stride + (row_major ? i * ld + j : j * ld + i);
  }
  void fill() {
    for (long entry = 0; entry < batch; ++entry) {
      for (long j = 0; j < columns; ++j) {
        for (long i = 0; i < rows; ++i)
          put(type, host.data(), at(entry, i, j), is_integer(type) ? any(-9, 9) : uniform());
      }
    }
    upload();
  }
  void upload() { require(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice)); }
  double value(long entry, long i, long j) const { return get(type, host.data(), at(entry, i, j)); }
};

bool is_fp8(cudaDataType type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

struct Case {
  cudaDataType a, b, c, d;
  cublasComputeType_t compute;
  cudaDataType scale;
  double input_rounding;  // of operands, before they are multiplied

  double unit() const {  // of the sums
    if (compute == CUBLAS_COMPUTE_64F) return std::ldexp(1, -53);
    if (compute == CUBLAS_COMPUTE_16F) return std::ldexp(1, -11);
    // Tensor cores of compute capability 9.0 sum products of FP8 with fewer bits than FP32 has.
    if (is_fp8(a) && !on_virtual_gpu()) return std::ldexp(1, -14);
    return compute == CUBLAS_COMPUTE_32I ? 0 : std::ldexp(1, -24);
  }
  // What the leading dimensions and strides of A and B must be multiples of, as documented.
  long ld_unit() const { return a == CUDA_R_8I ? 4 : is_fp8(a) ? 16 : 1; }
};

constexpr double kTf32 = 0x1p-11, kHalf = 0x1p-11, kBfloat = 0x1p-8;
constexpr auto k16F = CUDA_R_16F, k16B = CUDA_R_16BF, k32F = CUDA_R_32F, k64F = CUDA_R_64F,
               k8I = CUDA_R_8I, k32I = CUDA_R_32I, kE4 = CUDA_R_8F_E4M3, kE5 = CUDA_R_8F_E5M2;
constexpr Case kCases[] = {
    {k32F, k32F, k32F, k32F, CUBLAS_COMPUTE_32F, k32F, 0},
    {k32F, k32F, k32F, k32F, CUBLAS_COMPUTE_32F_PEDANTIC, k32F, 0},
    {k32F, k32F, k32F, k32F, CUBLAS_COMPUTE_32F_FAST_TF32, k32F, kTf32},
    {k32F, k32F, k32F, k32F, CUBLAS_COMPUTE_32F_FAST_16F, k32F, kHalf},
    {k32F, k32F, k32F, k32F, CUBLAS_COMPUTE_32F_FAST_16BF, k32F, kBfloat},
    {k16F, k16F, k16F, k16F, CUBLAS_COMPUTE_32F, k32F, 0},
    {k16F, k16F, k32F, k32F, CUBLAS_COMPUTE_32F, k32F, 0},
    {k16B, k16B, k16B, k16B, CUBLAS_COMPUTE_32F, k32F, 0},
    {k16B, k16B, k32F, k32F, CUBLAS_COMPUTE_32F, k32F, 0},
    {k8I, k8I, k32F, k32F, CUBLAS_COMPUTE_32F, k32F, 0},
    {k16F, k16F, k16F, k16F, CUBLAS_COMPUTE_16F, k16F, 0},
    {k8I, k8I, k32I, k32I, CUBLAS_COMPUTE_32I, k32I, 0},
    {k64F, k64F, k64F, k64F, CUBLAS_COMPUTE_64F, k64F, 0},
    // Of cuBLASLt only:
    {k8I, k8I, k8I, k8I, CUBLAS_COMPUTE_32I, k32F, 0},
    {kE4, kE4, k16B, k16B, CUBLAS_COMPUTE_32F, k32F, 0},
    {kE4, kE5, k16F, k16F, CUBLAS_COMPUTE_32F, k32F, 0},
    {kE5, kE4, k32F, k32F, CUBLAS_COMPUTE_32F, k32F, 0},
    {kE4, kE4, k16B, kE4, CUBLAS_COMPUTE_32F, k32F, 0},
};
constexpr int kGemmCases = 13;

// The elements in front of the epilogue, in double precision, with the bounds of their errors.
struct Exact {
  Exact(long rows, long columns)
      : m(rows), n(columns), value(static_cast<std::size_t>(m * n)), bound(value.size()) {}
  long m, n;
  std::vector<double> value, bound;
  double& v(long i, long j) { return value[static_cast<std::size_t>(j * m + i)]; }
  double& e(long i, long j) { return bound[static_cast<std::size_t>(j * m + i)]; }
};

double op(const Matrix& matrix, cublasOperation_t o, long entry, long i, long j) {
  return o == CUBLAS_OP_N ? matrix.value(entry, i, j) : matrix.value(entry, j, i);
}

Exact exact(const Case& t, cublasOperation_t op_a, cublasOperation_t op_b, const Matrix& a,
            const Matrix& b, const Matrix& c, double alpha, double beta, long entry) {
  const long m = c.rows, n = c.columns, k = op_a == CUBLAS_OP_N ? a.columns : a.rows;
  Exact x(m, n);
  for (long j = 0; j < n; ++j) {
    for (long i = 0; i < m; ++i) {
      double sum = 0, magnitude = 0;
      for (long l = 0; l < k && alpha != 0; ++l) {
        const double product = op(a, op_a, entry, i, l) * op(b, op_b, entry, l, j);
        sum += product;
        magnitude += std::abs(product);
      }
      const double added = beta == 0 ? 0 : beta * c.value(entry, i, j);
      x.v(i, j) = alpha * sum + added;
      const double r = t.input_rounding;
      x.e(i, j) = std::abs(alpha) * magnitude * (2 * r + r * r) +
                  static_cast<double>(k + 4) * t.unit() *
                      (std::abs(alpha) * magnitude * (1 + 2 * r) + std::abs(added));
    }
  }
  return x;
}

// Whether D has these values within their bounds and its own rounding.
bool is_near(const Matrix& d, long entry, Exact& x, bool tell = true) {
  const Format format = format_of(d.type);
  for (long j = 0; j < d.columns; ++j) {
    for (long i = 0; i < d.rows; ++i) {
      const bool saturates = d.type == CUDA_R_8I;
      const double got = d.value(entry, i, j), error = x.e(i, j),
                   want = saturates ? std::clamp(x.v(i, j), -128.0, 127.0) : x.v(i, j);
      const double allowed = error + format.unit * (std::abs(want) + error) + format.least;
      if (std::abs(got - want) <= allowed) continue;
      if (!tell) return false;
      std::fprintf(stderr, "(%ld, %ld): %.9g, expected %.9g within %.3g\n", i, j, got, want,
                   allowed);
      return false;
    }
  }
  return true;
}

// Takes the result from the device. What lies outside the matrix keeps its bits.
void take(Matrix& d, const std::string& what) {
  const std::vector<unsigned char> former = d.host;
  require(cudaMemcpy(d.host.data(), d.device, d.host.size(), cudaMemcpyDeviceToHost));
  std::vector<char> inside(d.host.size(), 0);
  const long bytes = format_of(d.type).bytes;
  for (long entry = 0; entry < d.batch; ++entry) {
    for (long j = 0; j < d.columns; ++j) {
      for (long i = 0; i < d.rows; ++i)
        std::memset(&inside[static_cast<std::size_t>(d.at(entry, i, j) * bytes)], 1,
                    static_cast<std::size_t>(bytes));
    }
  }
  for (std::size_t i = 0; i < inside.size(); ++i)
    require(inside[i] != 0 || d.host[i] == former[i], (what + ": padding was written").c_str());
}

// alpha and beta in the scale type.
struct Scalars {
  alignas(8) unsigned char alpha[8], beta[8];
  double alpha_value, beta_value;
  Scalars(cudaDataType type, double a, double b) {
    put(type, alpha, 0, a);
    put(type, beta, 0, b);
    alpha_value = get(type, alpha, 0);
    beta_value = get(type, beta, 0);
  }
};

Scalars any_scalars(const Case& t) {
  const double alphas[] = {1, -2, 0, 0.75}, betas[] = {0, 1, -1, 0.5};
  const bool whole = t.scale == k32I;
  return {t.scale, alphas[any(0, whole ? 2 : 3)], betas[any(0, whole ? 2 : 3)]};
}

cublasOperation_t any_op() { return any(0, 1) != 0 ? CUBLAS_OP_T : CUBLAS_OP_N; }

Matrix operand(cudaDataType type, cublasOperation_t o, long rows, long columns, long unit,
               long batch, bool row_major) {
  return o == CUBLAS_OP_N ? Matrix(type, rows, columns, unit, batch, row_major)
                          : Matrix(type, columns, rows, unit, batch, row_major);
}

}  // namespace
