// SPDX-License-Identifier: Apache-2.0
// What cublasLtMatmul does to a product before it is stored.
#pragma once
#include <cublasLt.h>

#include <cstdint>
#include <vector>

#include "blas/value.hpp"

namespace vgpu::blas {

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

}  // namespace vgpu::blas
