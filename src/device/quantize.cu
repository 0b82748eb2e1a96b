// SPDX-License-Identifier: Apache-2.0
#include <ladder/quantize.hpp>

#include <cuda_fp8.h>

#include <algorithm>
#include <string>

#include "device/runtime.cuh"

namespace ladder {
namespace {

constexpr int kThreads = 256, kWarp = 32, kBlock = static_cast<int>(kScaleBlock);
constexpr std::int64_t kMostBlocks = 1 << 16;

template <__nv_fp8_interpretation_t kType>
constexpr float kLargest = kType == __NV_E4M3 ? 448.0F : 57344.0F;

__host__ __device__ constexpr std::int64_t parts(std::int64_t size, int of) {
  return (size + of - 1) / of;
}

// The largest of the magnitudes of a thread's group; NaN does not count.
template <int kGroup>
__device__ float largest_of_group(float most) {
  __shared__ float sMost[kThreads / kWarp];
  for (int step = kWarp / 2; step > 0; step /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFU, most, step));
  if (kGroup == kWarp) return most;
  __syncthreads();  // the previous group's has been read
  if (threadIdx.x % kWarp == 0) sMost[threadIdx.x / kWarp] = most;
  __syncthreads();
  for (const float other : sMost) most = fmaxf(most, other);
  return most;
}

template <__nv_fp8_interpretation_t kType>
__device__ float scale_for(float most) {
  return most == 0.0F ? 1.0F : most / kLargest<kType>;
}

template <__nv_fp8_interpretation_t kType>
__device__ __nv_fp8_storage_t quantized(float x, float scale) {
  return __nv_cvt_float_to_fp8(x / scale, __NV_SATFINITE, kType);
}

// A group of kGroup threads takes kRows rows of one block of columns after another.
template <__nv_fp8_interpretation_t kType, int kRows, int kGroup>
__global__ void __launch_bounds__(kThreads) quantize_blocks(Plain from, Quantized to) {
  constexpr int kGroups = kThreads / kGroup, kEach = kRows * kBlock / kGroup;
  const std::int64_t row_blocks = parts(from.rows, kRows);
  const std::int64_t col_blocks = parts(from.cols, kBlock), all = row_blocks * col_blocks;
  const int lane = threadIdx.x % kGroup;
  for (std::int64_t b = std::int64_t{blockIdx.x} * kGroups + threadIdx.x / kGroup; b < all;
       b += std::int64_t{gridDim.x} * kGroups) {
    const std::int64_t row0 = b % row_blocks * kRows, col0 = b / row_blocks * kBlock;
    float r[kEach];  // every kGroup-th element
    float most = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = i * kGroup + lane;
      const std::int64_t row = row0 + at / kBlock, col = col0 + at % kBlock;
      r[i] = row < from.rows && col < from.cols ? from.x[row * from.ld + col] : 0.0F;
      most = fmaxf(most, fabsf(r[i]));
    }
    const float scale = scale_for<kType>(largest_of_group<kGroup>(most));
    const std::int64_t at_scale =
        kRows == 1 ? b : row0 / kRows * parts(col_blocks, 4) * 4 + col0 / kBlock;
    if (lane == 0) to.scales[at_scale] = scale;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int at = i * kGroup + lane;
      const std::int64_t row = row0 + at / kBlock, col = col0 + at % kBlock;
      if (row < from.rows && col < from.cols)
        static_cast<__nv_fp8_storage_t*>(to.x)[row * to.ld + col] = quantized<kType>(r[i], scale);
    }
  }
}

// Finds the largest magnitude of a whole tensor. Magnitudes are compared by their bits as integers,
// which have the same order.
__global__ void __launch_bounds__(kThreads) largest(Plain from, unsigned* gMost) {
  float most = 0;
  const std::int64_t all = from.rows * from.cols;
  for (std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; at < all;
       at += std::int64_t{gridDim.x} * kThreads)
    most = fmaxf(most, fabsf(from.x[at / from.cols * from.ld + at % from.cols]));
  most = largest_of_group<kThreads>(most);
  if (threadIdx.x == 0) atomicMax(gMost, __float_as_uint(most));
}

template <__nv_fp8_interpretation_t kType>
__global__ void scale_of_tensor(float* gScale) {
  *gScale = scale_for<kType>(*gScale);
}

template <__nv_fp8_interpretation_t kType>
__global__ void __launch_bounds__(kThreads) quantize_tensor(Plain from, Quantized to) {
  const std::int64_t all = from.rows * from.cols;
  const float scale = *to.scales;
  for (std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; at < all;
       at += std::int64_t{gridDim.x} * kThreads) {
    const std::int64_t row = at / from.cols, col = at % from.cols;
    static_cast<__nv_fp8_storage_t*>(to.x)[row * to.ld + col] =
        quantized<kType>(from.x[row * from.ld + col], scale);
  }
}

unsigned blocks_for(std::int64_t items, int per_block) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(parts(items, per_block), 1, kMostBlocks));
}

template <__nv_fp8_interpretation_t kType>
Status run(const Plain& from, Grain grain, const Quantized& to, cudaStream_t stream) {
  const std::int64_t col_blocks = parts(from.cols, kBlock);
  if (grain == Grain::kRowBlock) {
    quantize_blocks<kType, 1, kWarp>
        <<<blocks_for(from.rows * col_blocks, kThreads / kWarp), kThreads, 0, stream>>>(from, to);
  } else if (grain == Grain::kSquare) {
    quantize_blocks<kType, kBlock, kThreads>
        <<<blocks_for(parts(from.rows, kBlock) * col_blocks, 1), kThreads, 0, stream>>>(from, to);
  } else {
    if (cudaError_t e = cudaMemsetAsync(to.scales, 0, sizeof(float), stream))
      return cuda_failure("cudaMemsetAsync", e);
    const unsigned blocks = blocks_for(from.rows * from.cols, kThreads);
    largest<<<blocks, kThreads, 0, stream>>>(from, reinterpret_cast<unsigned*>(to.scales));
    scale_of_tensor<kType><<<1, 1, 0, stream>>>(to.scales);
    quantize_tensor<kType><<<blocks, kThreads, 0, stream>>>(from, to);
  }
  return launched("quantize");
}

}  // namespace

Status quantize(const Plain& from, Type type, Grain grain, const Quantized& to, Stream stream) {
  if (type != Type::kE4m3 && type != Type::kE5m2)
    return {Code::kInvalidArgument, std::string("type: ") + to_string(type) + " is no 8-bit type"};
  const auto least = [](const char* name, std::int64_t value, std::int64_t bound, const char* why) {
    if (value >= bound) return Status::ok();
    return Status(Code::kInvalidArgument, std::string(name) + " = " + std::to_string(value) +
                                              ": must be at least " + std::to_string(bound) + why);
  };
  if (Status s = least("rows", from.rows, 0, ""); !s) return s;
  if (Status s = least("cols", from.cols, 0, ""); !s) return s;
  if (Status s = least("ldx", from.ld, from.cols, ", the columns"); !s) return s;
  if (Status s = least("ldq", to.ld, from.cols, ", the columns"); !s) return s;
  if (from.rows == 0 || from.cols == 0) return Status::ok();
  return type == Type::kE4m3 ? run<__NV_E4M3>(from, grain, to, stream)
                             : run<__NV_E5M2>(from, grain, to, stream);
}

}  // namespace ladder
