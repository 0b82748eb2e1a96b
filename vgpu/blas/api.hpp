// SPDX-License-Identifier: Apache-2.0
// The cuBLAS declarations that this library exports, and the structure behind the cuBLAS handle.
#pragma once
#pragma GCC visibility push(default)
#include <cublas_v2.h>
#pragma GCC visibility pop

#include "blas/work.hpp"

// Programs use it only as an opaque handle.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  int multiprocessor_target = 0;
  // Settings of the emulation of FP64 and FP32. They have no effect: every product is computed in
  // its own precision.
  cublasEmulationStrategy_t emulation = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  cudaEmulationSpecialValuesSupport special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  cudaEmulationMantissaControl mantissa_control = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  int most_mantissa_bits = 0, mantissa_bit_offset = 0;
  int* mantissa_bits = nullptr;
};
