// SPDX-License-Identifier: Apache-2.0
// What the programs that time rungs as a whole share: operands of a type, and kernels by name.
#pragma once
#include <ladder/problem.hpp>
#include <ladder/registry.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "operands.cuh"

namespace ladder::bench {

// Square operands of one product, drawn on the device.
struct Matrices {
  Matrices(int n, Type in, Type out) : p(make_problem(n, n, n)) {
    p.in = in, p.out = out;
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    for (float** x : {&o_a, &o_b}) require(cudaMalloc(x, elements * bytes_of(in)), "matrix");
    require(cudaMalloc(&o_c, elements * bytes_of(out)), "matrix");
    const auto draw = [&]<class T>(T*) {
      fill<<<1024, 256>>>(reinterpret_cast<T*>(o_a), std::int64_t{n} * n, 1);
      fill<<<1024, 256>>>(reinterpret_cast<T*>(o_b), std::int64_t{n} * n, 77);
    };
    if (in == Type::kBf16) draw(static_cast<__nv_bfloat16*>(nullptr));
    if (in == Type::kF16) draw(static_cast<__half*>(nullptr));
    if (in == Type::kF32) draw(static_cast<float*>(nullptr));
    require(cudaDeviceSynchronize(), "matrices");
  }
  ~Matrices() {
    for (float* x : {o_a, o_b, o_c}) static_cast<void>(cudaFree(x));
  }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
  Operands operands() const { return {o_a, o_b, o_c}; }
  Problem p;

 private:
  float *o_a = nullptr, *o_b = nullptr, *o_c = nullptr;
};

// The kernel of this name; ends the program where there is none.
inline const KernelInfo& kernel_named(std::string_view id) {
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.id == id) return kernel;
  }
  std::fprintf(stderr, "this build has no %s\n", std::string(id).c_str());
  std::exit(1);
}

}  // namespace ladder::bench
