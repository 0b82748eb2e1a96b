// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's handle, versions, logging (without effect), and the transformation of matrices.
#include <cstdint>
#include <new>

#include "blas/lt/descriptors.hpp"
#include "blas/work.hpp"

struct cublasLtContext {};  // has no state; a cuBLAS handle serves as well

namespace vgpu::blas::lt {
namespace {

constexpr std::size_t kCacheCapacity = 8192;
std::size_t cache_capacity = kCacheCapacity;

struct Source {
  const void* data = nullptr;  // null: not read
  Layout layout;
  std::int32_t op = CUBLAS_OP_N;
};

std::int64_t offset(const Layout& layout, std::int64_t i, std::int64_t j) {
  return layout.order == CUBLASLT_ORDER_ROW ? i * layout.ld + j : j * layout.ld + i;
}

std::int64_t elements(const Layout& layout) {
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  const std::int64_t one =
      rows == 0 || columns == 0 ? 0 : offset(layout, rows - 1, columns - 1) + 1;
  return one + (layout.batch - 1) * layout.stride;
}

bool is_usable(const Layout& layout) {
  return (layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW) &&
         layout.batch >= 1 && layout.stride >= 0 &&
         bytes_of(static_cast<cudaDataType>(layout.type));
}

template <class W>
W element(const Source& source, const Scalar& factor, std::int64_t entry, std::int64_t i,
          std::int64_t j) {
  if (source.data == nullptr) return W{};
  const auto type = static_cast<cudaDataType>(source.layout.type);
  const std::int64_t at =
      entry * source.layout.stride +
      (source.op == CUBLAS_OP_N ? offset(source.layout, i, j) : offset(source.layout, j, i));
  const W value = load<W>(type, source.data, at);
  return factor.value<W>() * (source.op == CUBLAS_OP_C ? conjugate(value) : value);
}

template <class W>
void transform(const Scalar& alpha, const Source& a, const Scalar& beta, const Source& b, void* c,
               const Layout& layout) {
  const auto type = static_cast<cudaDataType>(layout.type);
  for (std::int64_t entry = 0; entry < layout.batch; ++entry) {
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(layout.columns); ++j) {
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(layout.rows); ++i) {
        const std::int64_t at = entry * layout.stride + offset(layout, i, j);
        store(type, c, at, element<W>(a, alpha, entry, i, j) + element<W>(b, beta, entry, i, j));
        mark_written(static_cast<char*>(c) + static_cast<std::size_t>(at) * bytes_of(type), 1,
                     type);
      }
    }
  }
}

bool has_shape_of(const Source& source, const Layout& c) {
  const bool plain = source.op == CUBLAS_OP_N;
  const Layout& layout = source.layout;
  return (plain ? layout.rows : layout.columns) == c.rows &&
         (plain ? layout.columns : layout.rows) == c.columns && layout.batch == c.batch;
}

}  // namespace
}  // namespace vgpu::blas::lt

using namespace vgpu::blas::lt;  // NOLINT: the entry points are cuBLASLt's own names

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new (std::nothrow) cublasLtContext;
  return *handle == nullptr ? CUBLAS_STATUS_ALLOC_FAILED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusName(cublasStatus_t status) { return vgpu::blas::name_of(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return vgpu::blas::text_of(status); }

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  return vgpu::blas::property(type, value);
}

cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  if (capacity == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *capacity = cache_capacity;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  cache_capacity = capacity;
  return CUBLAS_STATUS_SUCCESS;
}

unsigned cublasLtDisableCpuInstructionsSetMask(unsigned) { return 0; }

cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetFile(FILE*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerOpenFile(const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetLevel(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerForceDisable() { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle,
                                       cublasLtMatrixTransformDesc_t operation, const void* alpha,
                                       const void* a, cublasLtMatrixLayout_t a_layout,
                                       const void* beta, const void* b,
                                       cublasLtMatrixLayout_t b_layout, void* c,
                                       cublasLtMatrixLayout_t c_layout, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (operation == nullptr || alpha == nullptr || a_layout == nullptr || c_layout == nullptr ||
      (b != nullptr && (b_layout == nullptr || beta == nullptr)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const Transform transformation = transform_of(operation);
  const Layout layout = layout_of(c_layout);
  const Source first{a, layout_of(a_layout), transformation.op_a};
  const Source second{b, b == nullptr ? Layout{} : layout_of(b_layout), transformation.op_b};
  const auto scale_type = static_cast<cudaDataType>(transformation.scale_type);
  if (!is_usable(first.layout) || !is_usable(layout) ||
      (b != nullptr && !is_usable(second.layout)) ||
      transformation.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE ||
      vgpu::blas::bytes_of(scale_type) == 0)
    return vgpu::blas::refuse("cublasLtMatrixTransform", "this order, type, batch or pointer mode");
  const auto held = [](const void* data, const Layout& of) {
    return vgpu::blas::on_device(data, elements(of), static_cast<cudaDataType>(of.type));
  };
  if (!has_shape_of(first, layout) || (b != nullptr && !has_shape_of(second, layout)) ||
      !held(a, first.layout) || !held(c, layout) || (b != nullptr && !held(b, second.layout)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool device = transformation.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  const vgpu::blas::Scalar of_a(alpha, scale_type, device), of_b(beta, scale_type, device);
  if (!of_a.valid() || (b != nullptr && !of_b.valid())) return CUBLAS_STATUS_INVALID_VALUE;
  return vgpu::blas::submit(stream, [=] {
    if (vgpu::blas::is_complex(static_cast<cudaDataType>(layout.type)))
      transform<std::complex<double>>(of_a, first, of_b, second, c, layout);
    else
      transform<double>(of_a, first, of_b, second, c, layout);
  });
}
