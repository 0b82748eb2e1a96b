// SPDX-License-Identifier: Apache-2.0
// The handle and its settings, versions, status texts, and copies of vectors and matrices.
#include <cstdint>
#include <cstdio>

#include "blas/api.hpp"

namespace vgpu::blas {

void say(const char* text) {
  std::fflush(stdout);
  std::fprintf(stderr, "vgpu: %s\n", text);
}

// For stubs.cpp, which cannot include the cuBLAS headers.
int refuse_unimplemented(const char* name, bool& said);
int refuse_unimplemented(const char* name, bool& said) {
  if (!said) std::fprintf(stderr, "vgpu: %s is not implemented\n", name);
  said = true;
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace vgpu::blas

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

// Copies `columns` pieces of `bytes` bytes. The steps are in elements of `element` bytes.
cublasStatus_t copy(int64_t bytes, int64_t columns, int64_t element, const void* from,
                    int64_t from_step, void* to, int64_t to_step, cudaMemcpyKind kind) {
  if (bytes < 0 || columns < 0 || element <= 0 || from_step <= 0 || to_step <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto size = [](int64_t value) { return static_cast<size_t>(value); };
  const auto error = cudaMemcpy2D(to, size(to_step * element), from, size(from_step * element),
                                  size(bytes), size(columns), kind);
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

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return set(handle, &cublasContext::stream, stream);
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return store(handle, stream, &cublasContext::stream);
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
    return CUBLAS_STATUS_INVALID_VALUE;
  return set(handle, &cublasContext::pointer_mode, mode);
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return store(handle, mode, &cublasContext::pointer_mode);
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return set(handle, &cublasContext::atomics_mode, mode);
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return store(handle, mode, &cublasContext::atomics_mode);
}

// Stores the mode. A GEMM in a mode that the host does not have is refused when it is called.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set(handle, &cublasContext::math_mode, mode);
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return store(handle, mode, &cublasContext::math_mode);
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int target) {
  return set(handle, &cublasContext::multiprocessor_target, target);
}

cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* target) {
  return store(handle, target, &cublasContext::multiprocessor_target);
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
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  switch (type) {
    case MAJOR_VERSION:
      *value = CUBLAS_VER_MAJOR;
      return CUBLAS_STATUS_SUCCESS;
    case MINOR_VERSION:
      *value = CUBLAS_VER_MINOR;
      return CUBLAS_STATUS_SUCCESS;
    case PATCH_LEVEL:
      *value = CUBLAS_VER_PATCH;
      return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

size_t cublasGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasSetLoggerCallback(cublasLogCallback) { return CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  if (callback == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *callback = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "unrecognized status";
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "the function requires an architectural feature absent from the device";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "an access to GPU memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the requested functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "the license check failed";
  }
  return "unrecognized status";
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int element, const void* from, int from_ld,
                               void* to, int to_ld) {
  return copy(int64_t{rows} * element, columns, element, from, from_ld, to, to_ld,
              cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int element, const void* from, int from_ld,
                               void* to, int to_ld) {
  return copy(int64_t{rows} * element, columns, element, from, from_ld, to, to_ld,
              cudaMemcpyDeviceToHost);
}

cublasStatus_t cublasSetVector(int n, int element, const void* from, int from_step, void* to,
                               int to_step) {
  return copy(element, n, element, from, from_step, to, to_step, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetVector(int n, int element, const void* from, int from_step, void* to,
                               int to_step) {
  return copy(element, n, element, from, from_step, to, to_step, cudaMemcpyDeviceToHost);
}
