// SPDX-License-Identifier: Apache-2.0
// D = epilogue(alpha op(A) op(B) + beta C), in the virtual device's memory. All products of cuBLAS
// and cuBLASLt are this one.
#pragma once
#include <cublasLt.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "blas/value.hpp"
#include "blas/work.hpp"

namespace vgpu::blas {

// What cublasLtMatmul does to a product before it is stored.
struct Epilogue {
  int kind = CUBLASLT_EPILOGUE_DEFAULT;  // cublasLtEpilogue_t
  void* bias = nullptr;                  // read, or where a gradient goes
  cudaDataType bias_type = CUDA_R_32F;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;  // a mask of bits, or the values in front of GELU
  cudaDataType aux_type = CUDA_R_32F;
  std::int64_t aux_ld = 0, aux_stride = 0;  // in elements; of a mask, in bits
  void* largest = nullptr;                  // a float: the largest magnitude of D before its scale

  bool has(int part) const { return (kind & part) == part && kind != CUBLASLT_EPILOGUE_DEFAULT; }
  bool is_default() const { return kind == CUBLASLT_EPILOGUE_DEFAULT; }
  bool has_mask() const { return kind & (CUBLASLT_EPILOGUE_RELU | 8); }
  bool has_activation() const { return has_mask() || (kind & (CUBLASLT_EPILOGUE_GELU | 64)) != 0; }
  bool has_aux() const { return (kind & 128) != 0; }
  bool reads_aux() const { return (kind & (8 | 64)) != 0; }
  bool reads_bias() const { return (kind & CUBLASLT_EPILOGUE_BIAS) != 0; }
  bool writes_bias() const {
    return (kind & (16 | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB)) != 0;
  }
  // Elements of the bias of an m x n matrix D.
  std::int64_t bias_length(std::int64_t m, std::int64_t n) const {
    return kind == CUBLASLT_EPILOGUE_BGRADB ? n : m;
  }
};

// One of those that cublasLt.h names.
bool is_known(const Epilogue& epilogue);

// Applies the epilogue to an m x n matrix, column-major, of batch entry `entry`. `a` is op(A), of
// m x k, and `b` is op(B).
template <class W>
void apply(const Epilogue& epilogue, std::int64_t entry, std::int64_t m, std::int64_t n,
           std::int64_t k, const std::vector<W>& a, const std::vector<W>& b,
           std::vector<W>& matrix);

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

// What all products of a function have in common.
struct Shape {
  const char* function = "";  // the entry point, for messages
  cublasOperation_t op_a{}, op_b{};
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

struct Product : Shape {
  Scalar alpha, beta;
  const void* alphas = nullptr;  // instead of alpha: one for each row, in device memory
  Operand a, b, c, d;
  bool repeats_c = false;  // C's leading dimension may be 0: all columns, or rows, are the first
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

// Whether device memory already holds the product's result: an equal call has computed it, and
// neither its operands nor the result have changed since. Benchmarks repeat products in this way.
bool is_computed(const Product& product);

// Notes that device memory now holds the product's result, which has been marked as written.
void note_computed(const Product& product);

// op(A) op(B) of a product that adds to C. It is kept once the product is computed from the same
// operands a second time.
struct KnownSums {
  bool repeats = false;              // the operands are those of an equal call before
  std::shared_ptr<const void> sums;  // null if they were not kept
};
KnownSums known_sums(const Product& product);
void keep_sums(const Product& product, std::shared_ptr<const void> sums, std::size_t bytes);

// Where the scales of parts of an fp8 matrix are (cuBLAS, "Scaling Factors Layouts"). `outer`: a
// row of op(A) or a column of op(B), of which there are `outers`; `inner`: a place along k.

inline constexpr std::int64_t kScaled = 128;  // elements with one scale
inline std::int64_t scaled_blocks(std::int64_t elements) {
  return (elements + kScaled - 1) / kScaled;
}
// From the scales of 128 rows to those of the next.
inline std::int64_t scale_stride(std::int64_t k) { return (scaled_blocks(k) + 3) / 4 * 4; }

inline std::int64_t scale_at(const Operand& operand, std::int64_t outers, std::int64_t k,
                             std::int64_t outer, std::int64_t inner) {
  switch (operand.scales) {
    case Scales::kOuter: return outer;
    case Scales::kOf128: return inner / kScaled * outers + outer;
    case Scales::kOf128x128: return outer / kScaled * scale_stride(k) + inner / kScaled;
    case Scales::kOne: break;
  }
  return 0;
}

inline std::int64_t scale_count(const Operand& operand, std::int64_t outer, std::int64_t k) {
  return scale_at(operand, outer, k, std::max<std::int64_t>(outer, 1) - 1,
                  std::max<std::int64_t>(k, 1) - 1) +
         1;
}

}  // namespace vgpu::blas
