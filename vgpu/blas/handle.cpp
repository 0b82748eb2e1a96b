// SPDX-License-Identifier: Apache-2.0
// The handle and its settings, versions, status texts, and copies of vectors and matrices.
#include <cstdint>

#include "blas/api.hpp"
#include "include/entry_points.hpp"

namespace {

template <class T>
cublasStatus_t store(cublasHandle_t handle, T* out, T cublasContext::*field) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (out == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *out = handle->*field;
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set(cublasHandle_t handle, T cublasContext::*field, T value) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->*field = value;
  return CUBLAS_STATUS_SUCCESS;
}

// Copies `columns` pieces of `bytes` bytes, in the order of the stream if there is one. The steps
// are in elements of `element` bytes.
cublasStatus_t copy(int64_t bytes, int64_t columns, int64_t element, const void* from,
                    int64_t from_step, void* to, int64_t to_step, cudaMemcpyKind kind,
                    const cudaStream_t* stream = nullptr) {
  if (bytes < 0 || columns < 0 || element <= 0 || from_step <= 0 || to_step <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto size = [](int64_t value) { return static_cast<size_t>(value); };
  const size_t to_pitch = size(to_step * element), from_pitch = size(from_step * element);
  const auto error =
      stream == nullptr
          ? cudaMemcpy2D(to, to_pitch, from, from_pitch, size(bytes), size(columns), kind)
          : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, size(bytes), size(columns), kind,
                              *stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
    return CUBLAS_STATUS_INVALID_VALUE;
  return set(handle, &cublasContext::pointer_mode, mode);
}

VGPU_BY(cublasGetPointerMode_v2, 2, store(a0, a1, &cublasContext::pointer_mode));

#define VGPU_SETTING(NAME, VERSION, FIELD)                                  \
  VGPU_BY(cublasSet##NAME##VERSION, 2, set(a0, &cublasContext::FIELD, a1)); \
  VGPU_BY(cublasGet##NAME##VERSION, 2, store(a0, a1, &cublasContext::FIELD))
VGPU_SETTING(Stream, _v2, stream);
VGPU_SETTING(AtomicsMode, , atomics_mode);
VGPU_SETTING(MathMode, , math_mode);
VGPU_SETTING(SmCountTarget, , multiprocessor_target);
VGPU_SETTING(EmulationSpecialValuesSupport, , special_values);
VGPU_SETTING(FixedPointEmulationMantissaControl, , mantissa_control);
VGPU_SETTING(FixedPointEmulationMaxMantissaBitCount, , most_mantissa_bits);
VGPU_SETTING(FixedPointEmulationMantissaBitOffset, , mantissa_bit_offset);
VGPU_SETTING(FixedPointEmulationMantissaBitCountPointer, , mantissa_bits);

// The header has other functions of these names, too.
cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle, cublasEmulationStrategy_t value) {
  return set(handle, &cublasContext::emulation, value);
}
cublasStatus_t cublasGetEmulationStrategy(cublasHandle_t handle, cublasEmulationStrategy_t* value) {
  return store(handle, value, &cublasContext::emulation);
}

// Without effect: the host's GEMM has its own workspace.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return vgpu::blas::property(type, value);
}

size_t cublasGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasSetLoggerCallback(cublasLogCallback) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  if (callback == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *callback = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) { return vgpu::blas::name_of(status); }

const char* cublasGetStatusString(cublasStatus_t status) { return vgpu::blas::text_of(status); }

// The parameters are (rows, columns, bytes of an element, from, leading dimension, to, leading
// dimension, stream), for vectors without the columns. The asynchronous functions wait where
// cudaMemcpy2DAsync waits.
#define VGPU_COPIES(SUFFIX, NAME, KIND)                                                           \
  VGPU_BY(cublas##NAME##Matrix##SUFFIX, 7, copy(int64_t{a0} * a2, a1, a2, a3, a4, a5, a6, KIND)); \
  VGPU_BY(cublas##NAME##MatrixAsync##SUFFIX, 8,                                                   \
          copy(int64_t{a0} * a2, a1, a2, a3, a4, a5, a6, KIND, &a7));                             \
  VGPU_BY(cublas##NAME##Vector##SUFFIX, 6, copy(a1, a0, a1, a2, a3, a4, a5, KIND));               \
  VGPU_BY(cublas##NAME##VectorAsync##SUFFIX, 7, copy(a1, a0, a1, a2, a3, a4, a5, KIND, &a6))
VGPU_COPIES(, Set, cudaMemcpyHostToDevice);
VGPU_COPIES(, Get, cudaMemcpyDeviceToHost);
VGPU_COPIES(_64, Set, cudaMemcpyHostToDevice);
VGPU_COPIES(_64, Get, cudaMemcpyDeviceToHost);
