// SPDX-License-Identifier: Apache-2.0
// cuBLASLt's algorithms, for programs that look for the fastest one: their ids, what they can do
// and how they are configured. One computes every product here; a configuration is kept, and has
// no effect.
#include <cstring>

#include "blas/lt/descriptors.hpp"

namespace vgpu::blas::lt {
namespace {

constexpr int kAlgorithm = 0;
// The ids that NVIDIA's library knows are not documented: programs have them from its answers.
constexpr int kMostAlgorithms = 128;

struct Capability {
  int id;
  std::uint64_t value;
  std::size_t bytes;
};
constexpr Capability kCapabilities[] = {
    {CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, 0, 4},
    {CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK, CUBLASLT_REDUCTION_SCHEME_NONE, 4},
    {CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT, 0, 4},
    {CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, 1, 4},
    {CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT, 1, 4},
    {CUBLASLT_ALGO_CAP_UPLO_SUPPORT, 0, 4},
    {CUBLASLT_ALGO_CAP_TILE_IDS, CUBLASLT_MATMUL_TILE_UNDEFINED, 4},
    {CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX, 0, 4},
    {CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER, 0, 4},
    {CUBLASLT_ALGO_CAP_POINTER_MODE_MASK,
     CUBLASLT_POINTER_MODE_MASK_HOST | CUBLASLT_POINTER_MODE_MASK_DEVICE |
         CUBLASLT_POINTER_MODE_MASK_ALPHA_DEVICE_VECTOR_BETA_ZERO |
         CUBLASLT_POINTER_MODE_MASK_ALPHA_DEVICE_VECTOR_BETA_HOST,
     4},
    {CUBLASLT_ALGO_CAP_EPILOGUE_MASK,
     CUBLASLT_EPILOGUE_RELU_AUX_BIAS | CUBLASLT_EPILOGUE_GELU_AUX_BIAS |
         CUBLASLT_EPILOGUE_DRELU_BGRAD | CUBLASLT_EPILOGUE_DGELU_BGRAD | CUBLASLT_EPILOGUE_BGRADA |
         CUBLASLT_EPILOGUE_BGRADB,
     4},
    {CUBLASLT_ALGO_CAP_STAGES_IDS, CUBLASLT_MATMUL_STAGES_UNDEFINED, 4},
    {CUBLASLT_ALGO_CAP_LD_NEGATIVE, 0, 4},
    {CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
     CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_TYPE_MASK |
         CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK,
     8},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES, 1, 4},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES, 1, 4},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES, 1, 4},
    {CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES, 1, 4},
    {CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT, 1, 4},
    {CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT, 0, 4},
};

}  // namespace
}  // namespace vgpu::blas::lt

using namespace vgpu::blas::lt;  // NOLINT: the entry points are cuBLASLt's own names

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t,
                                        cudaDataType_t, cudaDataType_t, cudaDataType_t,
                                        cudaDataType_t, cudaDataType_t, int requested, int ids[],
                                        int* returned) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested < 1 || ids == nullptr || returned == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  ids[0] = kAlgorithm;
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType_t,
                                      cudaDataType_t, cudaDataType_t, cudaDataType_t,
                                      cudaDataType_t, int id, cublasLtMatmulAlgo_t* algorithm) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (id < 0 || id >= kMostAlgorithms || algorithm == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  put(Algorithm{id}, *algorithm);
  return CUBLAS_STATUS_SUCCESS;
}

// `bytes` = 0 asks for the size alone. Lists have one member here.
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t id, void* value,
                                                 size_t bytes, size_t* written) {
  if (algorithm == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Capability& capability : kCapabilities) {
    if (capability.id != id) continue;
    if (bytes == 0 ? written == nullptr : value == nullptr || bytes < capability.bytes)
      return CUBLAS_STATUS_INVALID_VALUE;
    if (bytes != 0) std::memcpy(value, &capability.value, capability.bytes);
    if (written != nullptr) *written = capability.bytes;
    return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
