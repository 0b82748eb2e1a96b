// SPDX-License-Identifier: Apache-2.0
// A call of gemm.h whose arguments were checked, in row-major form: of a column-major C = A B,
// C' = B' A'.
#pragma once
#include "gemm/simt/strided.cuh"
#include "library/handle.hpp"

#include <ladder/gemm.h>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <cstdint>

namespace ladder::api {

struct Checked {
  Problem p;                       // row-major; alpha = 1 and beta = 0 where they are on the device
  Scalars by;                      // alpha and beta, wherever they are
  StridedBatch<const float> a, b;  // without their steps
  StridedBatch<float> c;
  bool arrays_on_device = false;  // arrays of pointers; else on the host
  std::int64_t count = 1;
  Precision precision = Precision::kIeee;
  bool batch_invariant = false;
  bool has_epilogue = false;
  FinishJob epilogue;  // bias, residual, scale and activation of the first product

  bool is_empty() const { return p.m == 0 || p.n == 0 || count == 0; }
  // Whether the kernels may read A and B.
  bool reads() const { return by.g_alpha != nullptr ? p.k > 0 : reads_ab(p); }
  Operands operands(std::int64_t i) const { return {a.number(i), b.number(i), c.number(i)}; }
};

// Errors: an argument breaks a rule of gemm.h; the text names both.
Outcome check(const ladder_context& handle, const ladder_gemm_call* call, Checked& checked);

ladder_precision to_api(Precision precision);

}  // namespace ladder::api
