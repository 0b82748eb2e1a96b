// SPDX-License-Identifier: Apache-2.0
// A problem in the terms of NVIDIA's libraries, and how a baseline of theirs is registered.
#pragma once

#include "problem/accept.hpp"

#include <cublas_v2.h>

#include <memory>
#include <type_traits>

namespace ladder::cublas {

template <auto kDestroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    kDestroy(object);
  }
};
template <class Pointer, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy<kDestroy>>;

constexpr cublasOperation_t operation(Op op) { return op == Op::kNone ? CUBLAS_OP_N : CUBLAS_OP_T; }

constexpr cudaDataType_t type_of(Type type) {
  switch (type) {
    case Type::kF32: return CUDA_R_32F;
    case Type::kBf16: return CUDA_R_16BF;
    case Type::kF16: return CUDA_R_16F;
    case Type::kE4m3: return CUDA_R_8F_E4M3;
    case Type::kE5m2: return CUDA_R_8F_E5M2;
  }
  return CUDA_R_32F;
}

// A product with FP32 accumulation; `tf32`: of operands that the hardware truncates to TF32.
struct Launches {
  decltype(KernelInfo::launch) fp32, tf32;
};

constexpr KernelInfo baseline(std::string_view rung, std::string_view id, std::string_view idea,
                              Precision precision, Type in, Type out,
                              decltype(KernelInfo::accepts) accepts, Launches launches) {
  return {.id = id,
          .rung = rung,
          .idea = idea,
          .role = Role::kBaseline,
          .precision = precision,
          .min_cc = precision == Precision::kIeee ? 0 : 80,
          .in = in,
          .out = out,
          .accepts = accepts,
          .launch = precision == Precision::kTf32 ? launches.tf32 : launches.fp32};
}

}  // namespace ladder::cublas
