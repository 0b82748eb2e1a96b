// SPDX-License-Identifier: Apache-2.0
#include "device/tensor_map.cuh"

#include <cuda_runtime.h>

#include <string>

namespace ladder {
namespace {

// The CUDA runtime returns the driver's encoder, so that nothing links libcuda and a program starts
// where there is no driver.
decltype(&cuTensorMapEncodeTiled) find_encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  constexpr unsigned kVersion = 12'000;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, kVersion, cudaEnableDefault,
                                   &result);
  if (result != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
}

}  // namespace

Status make_tensor_map(CUtensorMap& map, Type type, const void* g, std::int64_t rows,
                       std::int64_t cols, std::int64_t ld, int box_rows, int box_cols) {
  static const auto encode = find_encoder();
  if (encode == nullptr) return {Code::kLaunchFailed, "the driver has no cuTensorMapEncodeTiled"};
  const auto element = type == Type::kF32    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                       : type == Type::kBf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                       : type == Type::kF16  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                             : CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const auto swizzle =
      box_cols * bytes_of(type) == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(ld * bytes_of(type))};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  // A row of a box that does not start on a cache line touches two. Promotion to 256 bytes would
  // fetch more and costs 7% at 1000 x 1000 x 1000 in bf16.
  const bool aligned = (reinterpret_cast<std::uintptr_t>(g) | strides[0]) % 128 == 0;
  const auto promotion =
      aligned ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  const CUresult result =
      encode(&map, element, 2, const_cast<void*>(g), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return Status::ok();
  return {Code::kLaunchFailed,
          "cuTensorMapEncodeTiled: error " + std::to_string(static_cast<int>(result))};
}

}  // namespace ladder
