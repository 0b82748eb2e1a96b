// SPDX-License-Identifier: Apache-2.0
// What cuBLAS and cuBLASLt say of themselves: status codes, versions.
#pragma once
#include <cublas_api.h>

namespace vgpu::blas {

cublasStatus_t property(libraryPropertyType type, int* value);
const char* name_of(cublasStatus_t status);  // "CUBLAS_STATUS_SUCCESS"
const char* text_of(cublasStatus_t status);

}  // namespace vgpu::blas
