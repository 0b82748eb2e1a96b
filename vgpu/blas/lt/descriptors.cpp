// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's descriptors: created, destroyed, their attributes set and read.
#include "blas/lt/descriptors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "include/entry_points.hpp"

namespace vgpu::blas::lt {
namespace {

struct Attribute {
  int id;
  std::size_t offset, bytes;
};

#define VGPU_ATTRIBUTE(id, type, member) \
  Attribute { id, offsetof(type, member), sizeof(type::member) }

constexpr Attribute kLayout[] = {
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_TYPE, Layout, type),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ORDER, Layout, order),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_ROWS, Layout, rows),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_COLS, Layout, columns),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_LD, Layout, ld),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, Layout, batch),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, Layout, stride),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, Layout, plane_offset),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, Layout, batch_mode),
};

constexpr Attribute kMatmul[] = {
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, Matmul, compute),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SCALE_TYPE, Matmul, scale_type),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_POINTER_MODE, Matmul, pointer_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSA, Matmul, op_a),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSB, Matmul, op_b),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_TRANSC, Matmul, op_c),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FILL_MODE, Matmul, fill),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE, Matmul, epilogue),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_POINTER, Matmul, bias),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, Matmul, bias_stride),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, Matmul, aux),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, Matmul, aux_ld),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, Matmul, aux_stride),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, Matmul, alpha_stride),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, Matmul, multiprocessor_target),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, Matmul, a_scale),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, Matmul, b_scale),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, Matmul, c_scale),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, Matmul, d_scale),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, Matmul, largest_d),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, Matmul, aux_type),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, Matmul, aux_scale),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, Matmul, aux_largest),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_FAST_ACCUM, Matmul, fast_accumulation),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, Matmul, bias_type),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, Matmul, a_scale_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, Matmul, b_scale_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_C_SCALE_MODE, Matmul, c_scale_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_SCALE_MODE, Matmul, d_scale_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, Matmul, aux_scale_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, Matmul, d_out_scale),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, Matmul, d_out_scale_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, Matmul, emulation),
};

constexpr Attribute kPreference[] = {
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_SEARCH_MODE, Preference, search_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, Preference, workspace),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, Preference, reduction_mask),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Preference, alignment[0]),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Preference, alignment[1]),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Preference, alignment[2]),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Preference, alignment[3]),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, Preference, waves),
    VGPU_ATTRIBUTE(CUBLASLT_MATMUL_PREF_IMPL_MASK, Preference, implementations),
};

constexpr Attribute kTransform[] = {
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, Transform, scale_type),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, Transform, pointer_mode),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, Transform, op_a),
    VGPU_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, Transform, op_b),
};
constexpr Attribute kEmulation[] = {
    VGPU_ATTRIBUTE(CUBLASLT_EMULATION_DESC_STRATEGY, Emulation, strategy),
    VGPU_ATTRIBUTE(CUBLASLT_EMULATION_DESC_SPECIAL_VALUES_SUPPORT, Emulation, special_values),
    VGPU_ATTRIBUTE(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL, Emulation,
                   mantissa_control),
    VGPU_ATTRIBUTE(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MAX_MANTISSA_BIT_COUNT, Emulation, most_bits),
    VGPU_ATTRIBUTE(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET, Emulation, bit_offset),
    VGPU_ATTRIBUTE(CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER, Emulation,
                   kept_bits),
};
constexpr Attribute kAlgorithmConfiguration[] = {
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_TILE_ID, Algorithm, tile),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, Algorithm, splits),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, Algorithm, reduction),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, Algorithm, swizzling),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, Algorithm, option),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_STAGES_ID, Algorithm, stages),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, Algorithm, inner_shape),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, Algorithm, cluster_shape),
    VGPU_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_ID, Algorithm, id),  // read only
};
#undef VGPU_ATTRIBUTE

const Attribute* find(std::span<const Attribute> table, int id) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Attribute& attribute) { return attribute.id == id; });
  return found == table.end() ? nullptr : &*found;
}

cublasStatus_t set(std::span<const Attribute> table, void* descriptor, int id, const void* value,
                   std::size_t bytes) {
  const Attribute* const attribute = find(table, id);
  if (descriptor == nullptr || value == nullptr || attribute == nullptr ||
      bytes != attribute->bytes)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(static_cast<char*>(descriptor) + attribute->offset, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

// `bytes` = 0 asks for the size alone.
cublasStatus_t get(std::span<const Attribute> table, const void* descriptor, int id, void* value,
                   std::size_t bytes, std::size_t* written) {
  const Attribute* const attribute = find(table, id);
  if (descriptor == nullptr || attribute == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes == 0 ? written == nullptr : value == nullptr || bytes < attribute->bytes)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (bytes != 0)
    std::memcpy(value, static_cast<const char*>(descriptor) + attribute->offset, attribute->bytes);
  if (written != nullptr) *written = attribute->bytes;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque, class Content>
cublasStatus_t init(Opaque* opaque, std::size_t bytes, const Content& content) {
  if (opaque == nullptr || bytes < sizeof(Opaque)) return CUBLAS_STATUS_INVALID_VALUE;
  *opaque = {};
  new (opaque) Content(content);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque, class Content>
cublasStatus_t create(Opaque** opaque, const Content& content) {
  if (opaque == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *opaque = new (std::nothrow) Opaque;
  return *opaque == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : init(*opaque, sizeof(Opaque), content);
}

template <class Opaque>
cublasStatus_t destroy(Opaque* opaque) {
  delete opaque;
  return CUBLAS_STATUS_SUCCESS;
}

Layout layout(cudaDataType type, std::uint64_t rows, std::uint64_t columns, std::int64_t ld) {
  Layout made;
  made.type = type;
  made.rows = rows;
  made.columns = columns;
  made.ld = ld;
  return made;
}

Matmul matmul(cublasComputeType_t compute, cudaDataType_t scale_type) {
  Matmul made;
  made.compute = compute;
  made.scale_type = scale_type;
  return made;
}

Transform transform(cudaDataType scale_type) {
  Transform made;
  made.scale_type = scale_type;
  return made;
}

}  // namespace
}  // namespace vgpu::blas::lt

using namespace vgpu::blas::lt;  // NOLINT: the entry points are cuBLASLt's own names

// The functions that all kinds of descriptors have.
#define VGPU_DESCRIPTOR(name, table)                          \
  VGPU_BY(name##Destroy, 1, destroy(a0));                     \
  VGPU_BY(name##SetAttribute, 4, set(table, a0, a1, a2, a3)); \
  VGPU_BY(name##GetAttribute, 5, get(table, a0, a1, a2, a3, a4))
VGPU_DESCRIPTOR(cublasLtMatrixLayout, kLayout);
VGPU_DESCRIPTOR(cublasLtMatmulDesc, kMatmul);
VGPU_DESCRIPTOR(cublasLtMatrixTransformDesc, kTransform);
VGPU_DESCRIPTOR(cublasLtMatmulPreference, kPreference);
VGPU_DESCRIPTOR(cublasLtEmulationDesc, kEmulation);

// Made in the program's memory (Init_internal) or here.
VGPU_BY(cublasLtMatrixLayoutInit_internal, 6, init(a0, a1, layout(a2, a3, a4, a5)));
VGPU_BY(cublasLtMatrixLayoutCreate, 5, create(a0, layout(a1, a2, a3, a4)));
VGPU_BY(cublasLtMatmulDescInit_internal, 4, init(a0, a1, matmul(a2, a3)));
VGPU_BY(cublasLtMatmulDescCreate, 3, create(a0, matmul(a1, a2)));
VGPU_BY(cublasLtMatrixTransformDescInit_internal, 3, init(a0, a1, transform(a2)));
VGPU_BY(cublasLtMatrixTransformDescCreate, 2, create(a0, transform(a1)));
VGPU_BY(cublasLtEmulationDescInit_internal, 2, init(a0, a1, Emulation{}));
VGPU_BY(cublasLtEmulationDescCreate, 1, create(a0, Emulation{}));
VGPU_BY(cublasLtMatmulPreferenceInit_internal, 2, init(a0, a1, Preference{}));
VGPU_BY(cublasLtMatmulPreferenceCreate, 1, create(a0, Preference{}));

VGPU_BY(cublasLtMatmulAlgoConfigSetAttribute, 4,
        a1 == CUBLASLT_ALGO_CONFIG_ID ? CUBLAS_STATUS_INVALID_VALUE
                                      : set(kAlgorithmConfiguration, a0, a1, a2, a3));
VGPU_BY(cublasLtMatmulAlgoConfigGetAttribute, 5, get(kAlgorithmConfiguration, a0, a1, a2, a3, a4));
