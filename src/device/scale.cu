// SPDX-License-Identifier: Apache-2.0
#include "device/scale.hpp"

#include "device/launch_dependent.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

namespace ladder {
namespace {

template <class Out>
__global__ void scale(Out* gC, std::int64_t m, std::int64_t n, std::int64_t ldc, float beta) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (auto i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < m * n; i += stride) {
    Out& x = gC[i / n * ldc + i % n];
    x = static_cast<Out>(beta == 0.0F ? 0.0F : beta * static_cast<float>(x));
  }
}

template <class Out>
Status launch(const Problem& p, const Operands& o, Stream stream) {
  constexpr std::int64_t kThreads = 256, kMostBlocks = 4096;
  return launch_kernel("scale", scale<Out>,
                       std::min((p.m * p.n + kThreads - 1) / kThreads, kMostBlocks), kThreads, 0,
                       stream, o.c_as<Out>(), p.m, p.n, p.ldc, p.beta);
}

}  // namespace

Status scale_c(const Problem& p, const Operands& o, Stream stream) {
  if (p.m == 0 || p.n == 0) return Status::ok();
  return p.out == Type::kF32    ? launch<float>(p, o, stream)
         : p.out == Type::kBf16 ? launch<__nv_bfloat16>(p, o, stream)
                                : launch<__half>(p, o, stream);
}

}  // namespace ladder
