// SPDX-License-Identifier: Apache-2.0
// The contents of cuBLASLt's opaque descriptors, and the declarations of its functions, which this
// library exports.
#pragma once
#pragma GCC visibility push(default)
#include <cublasLt.h>
#pragma GCC visibility pop

#include <cstdint>
#include <new>

namespace vgpu::blas::lt {

struct Layout {
  std::int32_t type = 0, order = CUBLASLT_ORDER_COL;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0;
  std::int32_t batch = 1, batch_mode = CUBLASLT_BATCH_MODE_STRIDED;
  std::int64_t stride = 0, plane_offset = 0;
};

struct Matmul {
  std::int32_t compute = 0, scale_type = 0, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N, op_c = CUBLAS_OP_N;
  std::int32_t fill = CUBLAS_FILL_MODE_FULL;
  std::int32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;
  std::int64_t aux_ld = 0, aux_stride = 0, alpha_stride = 0;
  std::int32_t multiprocessor_target = 0, aux_type = -1, bias_type = -1;
  std::int8_t fast_accumulation = 0;
  const void *a_scale = nullptr, *b_scale = nullptr, *c_scale = nullptr, *d_scale = nullptr;
  void *largest_d = nullptr, *aux_largest = nullptr, *d_out_scale = nullptr;
  const void *aux_scale = nullptr, *emulation = nullptr;
  std::int32_t a_scale_mode = 0, b_scale_mode = 0, c_scale_mode = 0, d_scale_mode = 0;
  std::int32_t aux_scale_mode = 0, d_out_scale_mode = 0;
};

struct Preference {
  std::uint32_t search_mode = 0, reduction_mask = ~0u;
  std::uint64_t workspace = 0, implementations = ~std::uint64_t{0};
  std::uint32_t alignment[4] = {256, 256, 256, 256};
  float waves = 0;
};

struct Transform {
  std::int32_t scale_type = 0, pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::int32_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
};

// How products in double precision are emulated. This library computes them in double precision.
struct Emulation {
  std::int32_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT, special_values = 0xffff;
  std::int32_t mantissa_control = 0, most_bits = 0, bit_offset = 0;
  std::int32_t* kept_bits = nullptr;
};

struct Algorithm {
  std::int32_t id = 0;
  std::uint32_t tile = CUBLASLT_MATMUL_TILE_UNDEFINED;
  std::int32_t splits = 1;
  std::uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_NONE, swizzling = 0, option = 0;
  std::uint32_t stages = CUBLASLT_MATMUL_STAGES_UNDEFINED;
  std::uint16_t inner_shape = 0, cluster_shape = 0;
};

static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(Matmul) <= sizeof(cublasLtMatmulDescOpaque_t));
static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
static_assert(sizeof(Emulation) <= sizeof(cublasLtEmulationDescOpaque_t));
static_assert(sizeof(Transform) <= sizeof(cublasLtMatrixTransformDescOpaque_t));

inline void put(const Algorithm& algorithm, cublasLtMatmulAlgo_t& into) {
  into = {};
  new (&into) Algorithm(algorithm);
}
inline const Layout& layout_of(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<const Layout*>(layout);
}
inline const Matmul& matmul_of(cublasLtMatmulDesc_t matmul) {
  return *reinterpret_cast<const Matmul*>(matmul);
}
inline const Emulation& emulation_of(const void* emulation) {
  return *static_cast<const Emulation*>(emulation);
}
inline const Transform& transform_of(cublasLtMatrixTransformDesc_t transform) {
  return *reinterpret_cast<const Transform*>(transform);
}

}  // namespace vgpu::blas::lt
