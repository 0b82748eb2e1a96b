// SPDX-License-Identifier: Apache-2.0
#include "blas/work.hpp"

#include <cstdio>

namespace vgpu {

// For stubs.cpp, which cannot include the cuBLAS headers.
int refuse_unimplemented(const char* name, bool& said);
int refuse_unimplemented(const char* name, bool& said) {
  if (!said) std::fprintf(stderr, "vgpu: %s is not implemented\n", name);
  said = true;
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace vgpu

namespace vgpu::blas {

cublasStatus_t property(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  static_assert(MAJOR_VERSION == 0 && MINOR_VERSION == 1 && PATCH_LEVEL == 2);
  constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  if (type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  *value = kVersion[type];
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

struct Text {
  cublasStatus_t status;
  const char *name, *text;
};
#define VGPU_STATUS(name, text) \
  { CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, text }
constexpr Text kTexts[] = {
    VGPU_STATUS(SUCCESS, "success"),
    VGPU_STATUS(NOT_INITIALIZED, "the library was not initialized"),
    VGPU_STATUS(ALLOC_FAILED, "the resource allocation failed"),
    VGPU_STATUS(INVALID_VALUE, "an unsupported value or parameter was passed to the function"),
    VGPU_STATUS(ARCH_MISMATCH,
                "the function requires an architectural feature absent from the device"),
    VGPU_STATUS(MAPPING_ERROR, "an access to GPU memory space failed"),
    VGPU_STATUS(EXECUTION_FAILED, "the function failed to launch on the GPU"),
    VGPU_STATUS(INTERNAL_ERROR, "an internal operation failed"),
    VGPU_STATUS(NOT_SUPPORTED, "the requested functionality is not supported"),
    VGPU_STATUS(LICENSE_ERROR, "the license check failed"),
};

Text texts_of(cublasStatus_t status) {
  for (const Text& each : kTexts) {
    if (each.status == status) return each;
  }
  return {status, "unrecognized status", "unrecognized status"};
}

}  // namespace

const char* name_of(cublasStatus_t status) { return texts_of(status).name; }
const char* text_of(cublasStatus_t status) { return texts_of(status).text; }

}  // namespace vgpu::blas
