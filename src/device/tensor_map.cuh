// SPDX-License-Identifier: Apache-2.0
// Host: tensor maps of row-major matrices. The encoder is the driver's and is asked of the CUDA
// runtime, so that nothing links libcuda and a program starts where there is no driver.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>
#include <ladder/problem.hpp>
#include <ladder/status.hpp>

#include <cstdint>
#include <string>

namespace ladder {

// Address and leading dimension as "CUDA Driver API, Tensor Map Object Management" has them:
// multiples of 16 bytes.
inline bool tensor_map_takes(const void* g, std::int64_t ld_bytes) {
  constexpr std::int64_t kAlign = 16;
  return reinterpret_cast<std::uintptr_t>(g) % kAlign == 0 && ld_bytes % kAlign == 0;
}

// A matrix of `rows` lines of `cols` elements, copied in boxes of box_rows x box_cols, a line of a
// box being the 128 or 64 bytes of the swizzle. Errors: kLaunchFailed, where the driver lacks the
// encoder or refuses.
inline Status make_tensor_map(CUtensorMap& map, Type type, const void* g, std::int64_t rows,
                              std::int64_t cols, std::int64_t ld, int box_rows, int box_cols) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  constexpr unsigned kSince = 12'000;  // of the CUDA version whose encoder is meant
  static const Encode encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                               kSince, cudaEnableDefault, &result);
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess
               ? reinterpret_cast<Encode>(found)
               : nullptr;
  }();
  if (encode == nullptr) return {Code::kLaunchFailed, "the driver has no cuTensorMapEncodeTiled"};
  const CUtensorMapDataType element = type == Type::kF32    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                      : type == Type::kBf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                            : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(ld * bytes_of(type))};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const auto swizzle =
      box_cols * bytes_of(type) == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B;
  // Where lines start on no line of L2, a box's rows touch two of those; to fetch the next one
  // besides costs more than it brings (1000 x 1000 x 1000 in bf16: 7%).
  const bool on_lines = reinterpret_cast<std::uintptr_t>(g) % 128 == 0 && strides[0] % 128 == 0;
  const auto promotion =
      on_lines ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  const CUresult result =
      encode(&map, element, 2, const_cast<void*>(g), sizes, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return Status::ok();
  return {Code::kLaunchFailed,
          "cuTensorMapEncodeTiled: error " + std::to_string(static_cast<int>(result))};
}

}  // namespace ladder
