// SPDX-License-Identifier: Apache-2.0
// Square operands of one product, in any operand type of the rungs.
#pragma once
#include <ladder/problem.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "operands.cuh"

namespace ladder::bench {

// Uniform in [-1, 1), or integers from -1 to 1. Sums of the integers are exact in FP32, and rounded
// to 16 bits they do not depend on the order of summation.
enum class Values : unsigned char { kUniform, kIntegers };

struct Matrices {
  Matrices(int n, Type in, Type out, Values values = Values::kUniform) : p(make_problem(n, n, n)) {
    p.in = in, p.out = out;
    const std::int64_t elements = std::int64_t{n} * n;
    a_ = allocate<std::byte>(elements * bytes_of(in), "matrix");
    b_ = allocate<std::byte>(elements * bytes_of(in), "matrix");
    c_ = allocate<std::byte>(elements * bytes_of(out), "matrix");
    const auto draw = [&]<class T>(T) {
      const auto fill_with = values == Values::kUniform ? fill<T> : fill_integers<T>;
      fill_with<<<1024, 256>>>(reinterpret_cast<T*>(a_.get()), elements, 1);
      fill_with<<<1024, 256>>>(reinterpret_cast<T*>(b_.get()), elements, 77);
    };
    if (in == Type::kBf16) draw(__nv_bfloat16{});
    if (in == Type::kF16) draw(__half{});
    if (in == Type::kF32) draw(float{});
    require(cudaDeviceSynchronize(), "matrices");
  }
  Operands operands() const {
    return {reinterpret_cast<float*>(a_.get()), reinterpret_cast<float*>(b_.get()),
            reinterpret_cast<float*>(c_.get())};
  }
  Problem p;

 private:
  Memory<std::byte> a_, b_, c_;
};

}  // namespace ladder::bench
