// SPDX-License-Identifier: Apache-2.0
// D = epilogue(alpha op(A) op(B) + beta C), in the virtual device's memory. All products of cuBLAS
// and cuBLASLt are this one.
#pragma once
#include <cstdint>

#include "blas/epilogue.hpp"
#include "blas/work.hpp"

namespace vgpu::blas {

// Scales of an fp8 matrix, floats in device memory: one of the whole matrix; of rows of op(A) or
// columns of op(B); of 128 elements of these along k, row after row within 128; of 128 x 128
// elements, with those along k together in columns of a multiple of 4.
enum class Scales { kOne, kOuter, kOf128, kOf128x128 };

struct Operand {
  const void* data = nullptr;  // if `is_array`, an array of pointers in device memory
  cudaDataType type = CUDA_R_32F;
  std::int64_t ld = 0, stride = 0;  // stride: elements between batch entries
  bool is_array = false, row_major = false;
  const void* scale = nullptr;  // of fp8; null: 1
  Scales scales = Scales::kOne;
  // Planar complex matrices: bytes from the plane of real parts to that of imaginary parts. `type`
  // is the type of the planes. 0: not planar.
  std::int64_t plane_offset = 0;
  bool is_planar() const { return plane_offset != 0; }
};

struct Product {
  const char* function = "";  // the entry point, for messages
  cublasOperation_t op_a{}, op_b{};
  std::int64_t m = 0, n = 0, k = 0;
  Scalar alpha, beta;
  const void* alphas = nullptr;  // instead of alpha: one for each row, in device memory
  Operand a, b, c, d;
  bool repeats_c = false;  // C's leading dimension may be 0: all columns, or rows, are the first
  std::int64_t batch = 1;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale_type = CUDA_R_32F;
  Epilogue epilogue;
  // In device memory, or null: where the number of mantissa bits that emulation kept is written. It
  // is -1, since nothing is emulated.
  std::int32_t* mantissa_bits = nullptr;
};

// The type of alpha and beta of the functions that do not let the caller choose.
cudaDataType scale_type_of(cublasComputeType_t compute, cudaDataType c);

// Whether there are such products: types and compute type, as documented.
bool is_known(const Product& product);

// Whether A and B are aligned as documented for 32-bit sums of 8-bit integers: 4 bytes.
bool is_aligned(const Product& product);

// Checks the arguments as cuBLAS does and enqueues the product.
cublasStatus_t run(cudaStream_t stream, const Product& product);

}  // namespace vgpu::blas
